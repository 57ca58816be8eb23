//! What one call of a kernel may cost: it ends early when the query was cancelled, when a value becomes too large, or when
//! its results need more memory than queries have left.
//!
//! Kernels make a value for each row in closures that cannot fail. So the first reason is noted here, rows after it are
//! passed over, and the call fails with it at its end.

use std::cell::{Cell, RefCell};

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::MemoryReservation;

use super::error::KernelError;
use crate::work::CancellationToken;

/// The most bytes of one text that a query makes: 16 MiB. Texts of telemetry are at most 64 KiB.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// Results are reserved in steps of so many bytes.
const STEP: usize = 4 << 20;

/// The state of one call.
#[derive(Debug)]
pub(crate) struct Effort {
    cancellation: CancellationToken,
    failure: RefCell<Option<KernelError>>,
    /// Whether there is a failure; read for every row.
    failed: Cell<bool>,
    /// The bytes of results so far that are not reserved yet.
    unreserved: Cell<usize>,
    reservation: RefCell<Option<MemoryReservation>>,
}

impl Effort {
    /// Nothing done yet.
    pub(crate) fn new() -> Effort {
        Effort {
            cancellation: CancellationToken::current(),
            failure: RefCell::new(None),
            failed: Cell::new(false),
            unreserved: Cell::new(0),
            reservation: RefCell::new(None),
        }
    }

    /// Whether there is any point in computing more.
    pub(crate) fn should_continue(&self) -> bool {
        if !self.failed.get() && self.cancellation.is_cancelled() {
            self.fail(KernelError::Cancelled);
        }
        !self.failed.get()
    }

    /// Whether a text of so many bytes may be made; if not, the call fails.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        if bytes > MAX_TEXT {
            self.too_large(MAX_TEXT);
        }
        !self.failed.get()
    }

    /// A value would have more bytes than `limit`: the call fails.
    pub(crate) fn too_large(&self, limit: usize) {
        self.fail(KernelError::TooLarge(limit));
    }

    /// The results grow by so many bytes; `false` where the memory is used up.
    pub(crate) fn adds(&self, bytes: usize) -> bool {
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
        // A loop inside one row may have ended early without a word.
        self.should_continue();
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }
}
