//! The limits of one kernel call: it ends early if the query is cancelled, if a value becomes too large, or if its memory
//! reservation fails.
//!
//! Kernels compute each row's value in closures that cannot return an error. The first failure is therefore recorded here,
//! later rows are skipped, and the call returns the failure at its end.
//!
//! A call has two reservations. That of the working memory ends with the row. That of the results stays with their buffers, because
//! they live on in the batches of the query ([`super::reserved`]).

use std::cell::{Cell, RefCell};

use arrow::array::ArrayRef;
use datafusion::execution::memory_pool::MemoryReservation;

use super::error::KernelError;
use super::reserved::with_reservation;
use crate::work::{CancellationToken, refusal_message};

/// The maximum size in bytes of a string that a query computes: 16 MiB. Strings of telemetry are at most 64 KiB.
pub const MAX_TEXT: usize = 16 << 20;

/// Working memory is reserved from this many bytes on.
const WORKING_STEP: usize = 1 << 20;

/// Results of at most this many bytes are not reserved.
pub(crate) const SMALL_RESULT: usize = 64 << 10;

/// Neither are results of at most this many bytes for each row of a batch, so that ordinary rows do not pay for it.
const SMALL_VALUE: usize = 64;

/// The rows of a batch.
const BATCH_ROWS: usize = 8192;

/// The state of one call.
#[derive(Debug)]
pub(crate) struct CallLimits {
    cancellation: CancellationToken,
    failure: RefCell<Option<KernelError>>,
    /// Whether a failure is recorded; read for every row.
    failed: Cell<bool>,
    /// The bytes of the results so far that are not yet reserved.
    unreserved: Cell<usize>,
    /// The results are reserved in steps of this many bytes.
    result_step: usize,
    results: RefCell<Option<MemoryReservation>>,
    /// The working memory of the row that is reserved.
    working: Cell<usize>,
    working_reservation: RefCell<Option<MemoryReservation>>,
}

impl CallLimits {
    /// The initial state of a call over a number of rows.
    pub(crate) fn new(rows: usize) -> CallLimits {
        CallLimits {
            cancellation: CancellationToken::current(),
            failure: RefCell::new(None),
            failed: Cell::new(false),
            unreserved: Cell::new(0),
            result_step: SMALL_RESULT.max(rows.min(BATCH_ROWS) * SMALL_VALUE),
            results: RefCell::new(None),
            working: Cell::new(0),
            working_reservation: RefCell::new(None),
        }
    }

    /// Begins a row: the working memory of the row before is free. Returns whether the call has neither failed nor been cancelled.
    pub(crate) fn begin_row(&self) -> bool {
        if self.working.replace(0) > 0 {
            *self.working_reservation.borrow_mut() = None;
        }
        self.should_continue()
    }

    /// Whether the call has neither failed nor been cancelled.
    pub(crate) fn should_continue(&self) -> bool {
        if !self.failed.get() && self.cancellation.is_cancelled() {
            self.fail(KernelError::Cancelled);
        }
        !self.failed.get()
    }

    /// Checks that a string of `bytes` bytes is within the limit, and reserves the memory in which it is built; the call fails if
    /// one is not possible.
    pub(crate) fn allows_length(&self, bytes: usize) -> bool {
        if bytes > MAX_TEXT {
            self.fail(KernelError::TooLarge(MAX_TEXT));
        } else if bytes > self.working.get().max(WORKING_STEP) {
            self.reserve_working(bytes.next_multiple_of(WORKING_STEP) - self.working.get());
        }
        !self.failed.get()
    }

    /// Accounts for `bytes` more bytes of working memory, such as a list of the elements of an array, until the row ends; `false`
    /// if the call has failed.
    pub(crate) fn allows_working(&self, bytes: usize) -> bool {
        if bytes > WORKING_STEP {
            self.reserve_working(bytes);
        }
        !self.failed.get()
    }

    fn reserve_working(&self, bytes: usize) {
        self.working.set(self.working.get() + bytes);
        self.reserve(&self.working_reservation, bytes);
    }

    /// Fails the call because the encoder of a dynamic value finished it as no bytes.
    pub(crate) fn no_value(&self) {
        self.fail(KernelError::no_value());
    }

    /// Accounts for `bytes` more bytes of results; `false` if the call has failed, for example because the memory pool is
    /// exhausted.
    pub(crate) fn grow(&self, bytes: usize) -> bool {
        let unreserved = self.unreserved.get() + bytes;
        self.unreserved.set(unreserved);
        if unreserved > self.result_step {
            self.unreserved.set(0);
            self.reserve(&self.results, unreserved);
        }
        !self.failed.get()
    }

    fn reserve(&self, reservation: &RefCell<Option<MemoryReservation>>, bytes: usize) {
        let mut reservation = reservation.borrow_mut();
        if reservation.is_none() {
            *reservation = self.cancellation.reservation("function");
        }
        let grown = reservation.as_ref().map(|r| r.try_grow(bytes));
        drop(reservation);
        if let Some(Err(error)) = grown {
            self.fail(KernelError::Memory(refusal_message(&error)));
        }
    }

    /// Records a failure; only the first counts.
    pub(crate) fn fail(&self, error: KernelError) {
        if !self.failed.replace(true) {
            *self.failure.borrow_mut() = Some(error);
        }
    }

    /// `result` with the reservation of its memory, unless the call has failed.
    pub(crate) fn finish(&self, result: ArrayRef) -> Result<ArrayRef, KernelError> {
        // A loop inside one row may have ended early because of a cancellation.
        self.should_continue();
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        match self.results.take() {
            Some(reservation) => Ok(with_reservation(result, reservation)?),
            None => Ok(result),
        }
    }
}
