//! Fragments of other nodes' queries.

use super::QueryEngine;
use crate::distributed::{FragmentReply, FragmentRequest};
use crate::error::EngineError;
use crate::stream::{Part, QueryStream};

/// The rows of a fragment that runs. Dropping them cancels it.
#[derive(Debug)]
pub struct FragmentRows {
    stream: QueryStream,
    has_ended: bool,
}

impl QueryEngine {
    /// Runs a fragment of another node's query. Only nodes that share the secret of nodes may send one: it may read any segment.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn run_fragment(
        &self,
        request: FragmentRequest,
    ) -> Result<FragmentRows, EngineError> {
        let stream = self.executor.run_fragment(request).await?;
        Ok(FragmentRows::of(stream))
    }
}

impl FragmentRows {
    /// The rows of a stream that [`crate::exec::Executor::run_fragment`] has started.
    pub(crate) fn of(stream: QueryStream) -> FragmentRows {
        FragmentRows {
            stream,
            has_ended: false,
        }
    }

    /// The next part; `None` behind [`FragmentReply::End`].
    ///
    /// # Errors
    /// [`EngineError`] as its variants say; the fragment has then ended.
    pub async fn next(&mut self) -> Result<Option<FragmentReply>, EngineError> {
        while !self.has_ended {
            match self.stream.next().await? {
                Some(Part::Rows(batch)) => return Ok(Some(FragmentReply::Rows(batch))),
                Some(Part::Table { .. }) => {}
                None => {
                    self.has_ended = true;
                    let statistics = self.stream.summary().statistics;
                    return Ok(Some(FragmentReply::End {
                        rows_scanned: statistics.rows_scanned,
                        bytes_scanned: statistics.bytes_scanned,
                    }));
                }
            }
        }
        Ok(None)
    }
}
