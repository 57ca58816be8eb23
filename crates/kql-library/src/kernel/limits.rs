//! The limits of one kernel call: it ends early if the query is cancelled, if a value becomes too large, or if the memory
//! reservation for its results fails.
//!
//! Kernels compute each row's value in closures that cannot return an error. The first failure is therefore recorded here,
//! later rows are skipped, and the call returns the failure at its end.

use std::cell::{Cell, RefCell};

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::MemoryReservation;

use super::error::KernelError;
use crate::work::CancellationToken;

/// The maximum size in bytes of a string that a query computes: 16 MiB. Strings of telemetry are at most 64 KiB.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// The memory reservation grows in steps of this many bytes.
const STEP: usize = 4 << 20;

/// The state of one call.
#[derive(Debug)]
pub(crate) struct CallLimits {
    cancellation: CancellationToken,
    failure: RefCell<Option<KernelError>>,
    /// Whether a failure is recorded; read for every row.
    failed: Cell<bool>,
    /// The bytes of the results so far that are not yet reserved.
    unreserved: Cell<usize>,
    reservation: RefCell<Option<MemoryReservation>>,
}

impl CallLimits {
    /// The state of a call that has not started.
    pub(crate) fn new() -> CallLimits {
        CallLimits {
            cancellation: CancellationToken::current(),
            failure: RefCell::new(None),
            failed: Cell::new(false),
            unreserved: Cell::new(0),
            reservation: RefCell::new(None),
        }
    }

    /// Whether the call has neither failed nor been cancelled.
    pub(crate) fn should_continue(&self) -> bool {
        if !self.failed.get() && self.cancellation.is_cancelled() {
            self.fail(KernelError::Cancelled);
        }
        !self.failed.get()
    }

    /// Checks that a string of `bytes` bytes is within the limit; the call fails if it is not.
    pub(crate) fn allows_length(&self, bytes: usize) -> bool {
        if bytes > MAX_TEXT {
            self.too_large(MAX_TEXT);
        }
        !self.failed.get()
    }

    /// Fails the call because a value would have more bytes than `limit`.
    pub(crate) fn too_large(&self, limit: usize) {
        self.fail(KernelError::TooLarge(limit));
    }

    /// Accounts for `bytes` more bytes of results; `false` if the call has failed, for example because the memory pool is
    /// exhausted.
    pub(crate) fn grow(&self, bytes: usize) -> bool {
        let unreserved = self.unreserved.get() + bytes;
        self.unreserved.set(unreserved);
        if unreserved >= STEP {
            self.unreserved.set(0);
            self.reserve(unreserved);
        }
        !self.failed.get()
    }

    fn reserve(&self, bytes: usize) {
        let mut reservation = self.reservation.borrow_mut();
        if reservation.is_none() {
            *reservation = self.cancellation.reservation("function");
        }
        let grown = reservation.as_ref().map(|r| r.try_grow(bytes));
        drop(reservation);
        match grown {
            Some(Err(DataFusionError::ResourcesExhausted(message))) => {
                self.fail(KernelError::Memory(message));
            }
            Some(Err(error)) => self.fail(KernelError::Memory(error.to_string())),
            Some(Ok(())) | None => {}
        }
    }

    fn fail(&self, error: KernelError) {
        if !self.failed.replace(true) {
            *self.failure.borrow_mut() = Some(error);
        }
    }

    /// `result`, unless the call has failed.
    pub(crate) fn outcome<T>(&self, result: T) -> Result<T, KernelError> {
        // A loop inside one row may have ended early because of a cancellation.
        self.should_continue();
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }
}
