//! Writes a query's reply while its rows are read. The first megabytes are held back, so that an early failure has its own status and
//! a small reply can be cached; the rest is streamed.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use futures::StreamExt;
use hindsight_engine::{EngineError, Part, QueryStream, Summary};

use super::{Made, Reads};
use crate::error::ApiError;
use crate::shutdown::ShutdownWatch;
use crate::throttle::Permit;
use crate::wire::missing;
use crate::wire::result::{Failure, ResultWriter};

/// Bytes that are written at a time.
const CHUNK: usize = 64 << 10;

/// A reply that is being written.
pub(crate) struct Writing {
    query: QueryStream,
    /// `None` once the end was written.
    writer: Option<Box<dyn ResultWriter>>,
    /// Rows that were read and not yet written, from this row on.
    batch: Option<(RecordBatch, usize)>,
    out: String,
    request_id: String,
    /// What the reply lacks, once its end was written.
    missing: Option<HeaderValue>,
    shutdown: ShutdownWatch,
    _permit: Arc<Permit>,
}

impl Writing {
    /// Writes `query` with the writer that `begin` makes; `permit` is held until the end. A shutdown of the server ends the query.
    pub(crate) fn new(
        mut query: QueryStream,
        begin: impl FnOnce(&Summary, &mut String) -> Box<dyn ResultWriter>,
        request_id: String,
        permit: Arc<Permit>,
        shutdown: ShutdownWatch,
    ) -> Writing {
        let mut out = String::with_capacity(CHUNK + CHUNK / 8);
        let writer = begin(&query.summary(), &mut out);
        Writing {
            query,
            writer: Some(writer),
            batch: None,
            out,
            request_id,
            missing: None,
            shutdown,
            _permit: permit,
        }
    }

    /// The next bytes, at most a little more than a chunk; none after the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, EngineError> {
        while self.out.len() < CHUNK {
            let Some(writer) = &mut self.writer else {
                break;
            };
            if let Some((batch, row)) = self.batch.take() {
                let row = writer.rows(&batch, row, CHUNK, &mut self.out);
                if row < batch.num_rows() {
                    self.batch = Some((batch, row));
                }
                continue;
            }
            match self.query.next().await? {
                Some(Part::Table { name, columns }) => {
                    writer.table(&name, columns, &mut self.out);
                }
                Some(Part::Rows(batch)) => self.batch = Some((batch, 0)),
                None => self.end(None),
            }
        }
        Ok(self.take())
    }

    /// The next bytes. A failure becomes the error object of a partial result: the status was sent long ago.
    async fn sent(&mut self) -> Option<Bytes> {
        let mut shutdown = self.shutdown.clone();
        let failure = tokio::select! {
            biased;
            stopping = shutdown.ended(), if self.writer.is_some() => stopping,
            chunk = self.chunk() => match chunk {
                Ok(bytes) => return bytes,
                Err(error) => ApiError::from(error),
            },
        };
        self.end(Some(failure));
        self.take()
    }

    fn end(&mut self, failure: Option<ApiError>) {
        let Some(writer) = self.writer.take() else {
            return;
        };
        let summary = self.query.summary();
        self.missing = missing::header(&summary.missing);
        let request_id = self.request_id.as_str();
        if let Some(error) = &failure {
            tracing::error!(%request_id, ?error, "a query failed while its reply was sent");
        }
        let failure = failure.as_ref().map(|error| Failure { request_id, error });
        writer.end(&summary, failure, &mut self.out);
    }

    fn take(&mut self) -> Option<Bytes> {
        if self.out.is_empty() {
            return None;
        }
        let next = String::with_capacity(CHUNK + CHUNK / 8);
        Some(Bytes::from(std::mem::replace(&mut self.out, next)))
    }
}

/// The whole reply if it has at most `bound` bytes, else its beginning and a body that makes the rest.
///
/// # Errors
/// Whatever the query fails with before `bound` bytes were written.
pub(crate) async fn make(mut writing: Writing, bound: usize) -> Result<Made, ApiError> {
    let (mut head, mut size) = (Vec::new(), 0);
    while let Some(bytes) = writing.chunk().await? {
        size += bytes.len();
        head.push(bytes);
        if size > bound {
            return Ok(Made::Streamed(streamed(head, writing)));
        }
    }
    // Copied, also a single chunk: its buffer has the capacity of a whole one.
    Ok(Made::Whole {
        body: Bytes::from(head.concat()),
        missing: writing.missing,
        reads: Reads::from(writing.query.reads()),
    })
}

fn streamed(head: Vec<Bytes>, writing: Writing) -> Body {
    let rest = futures::stream::unfold(writing, |mut writing| async move {
        writing.sent().await.map(|bytes| (bytes, writing))
    });
    // The compression of replies polls a body again after its end.
    let all = futures::stream::iter(head).chain(rest.fuse());
    Body::from_stream(all.map(Ok::<_, std::convert::Infallible>))
}
