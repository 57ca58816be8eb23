//! The interface between a running query and the format of its reply.

use arrow::record_batch::RecordBatch;
use hindsight_engine::{ResultColumn, Summary};

use crate::error::ApiError;

/// Writes a result part by part, in the order of the calls: tables with their rows, then the end.
pub(crate) trait ResultWriter: Send {
    /// Begins a table.
    fn table(&mut self, name: &str, columns: Vec<ResultColumn>, out: &mut String);

    /// Writes rows of `batch` from the one at `from` on, until `out` has `enough` bytes. Says where it stopped.
    fn rows(&mut self, batch: &RecordBatch, from: usize, enough: usize, out: &mut String) -> usize;

    /// Writes what follows the rows. `failure` is why there are no more of them, if the query failed.
    fn end(self: Box<Self>, summary: &Summary, failure: Option<Failure<'_>>, out: &mut String);
}

/// The failure of a query of which rows were already sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure<'f> {
    /// The request's id.
    pub(crate) request_id: &'f str,
    /// Why the query failed.
    pub(crate) error: &'f ApiError,
}
