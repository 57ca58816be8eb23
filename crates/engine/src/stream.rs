//! A running query: a stream of its results, and the statistics at the end.
//!
//! The query runs on threads of its own ([`crate::producer`]). A channel of one part connects the two: the query is at most one part
//! ahead of its consumer (backpressure).

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::MemoryPool;
use hindsight_kql::HeldRows;
use hindsight_store::{AppId, Snapshot, Table};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::exec::failure::failure;
use crate::exec::threads::QueryTask;
use crate::render;
use crate::result::{DataSource, QueryResult, ResultColumn, ResultTable, Summary};

/// A part of a result, in the order of the reply.
#[derive(Debug, Clone)]
pub enum Part {
    /// A table begins.
    Table {
        /// As [`ResultTable::name`].
        name: String,
        /// Its columns.
        columns: Vec<ResultColumn>,
    },
    /// Rows of the table that began last: at least one, with the Arrow types of its columns.
    Rows(RecordBatch),
}

/// What the query sends to its [`QueryStream`].
enum Message {
    /// The query is bound, and the steps that its results depend on have run. Its first part is that of its first table, which takes no other
    /// message: each wakes a thread.
    Started(Option<Part>),
    Part(Part),
    Failed(EngineError),
}

/// The sending end of a [`QueryStream`].
pub(crate) struct ResultSender {
    sender: mpsc::Sender<Message>,
    summary: Arc<Mutex<Summary>>,
}

impl ResultSender {
    /// Reports that the query has started, and its first part if there is one; `false` when the stream was dropped.
    pub(crate) async fn started(&self, first: Option<Part>, summary: Summary) -> bool {
        *self.summary.lock() = summary;
        self.sender.send(Message::Started(first)).await.is_ok()
    }

    /// Sends a part once the consumer has taken the one before; `false` when the stream was dropped.
    pub(crate) async fn send(&self, part: Part, summary: Summary) -> bool {
        *self.summary.lock() = summary;
        self.sender.send(Message::Part(part)).await.is_ok()
    }

    /// Reports that the query failed.
    pub(crate) async fn fail(&self, error: EngineError) {
        // A dropped stream needs no report.
        let _ = self.sender.send(Message::Failed(error)).await;
    }

    /// Ends the stream.
    pub(crate) fn finish(&self, summary: Summary) {
        *self.summary.lock() = summary;
    }
}

/// The error of a query over `snapshot`: an internal one after which a segment is known to be damaged came from that segment.
pub(crate) fn unreadable(error: EngineError, snapshot: &Snapshot) -> EngineError {
    match error {
        EngineError::Internal(_) if snapshot.has_new_damage() => EngineError::Unreadable(
            "A segment of the store was found to be damaged while the query read it".to_owned(),
        ),
        other => other,
    }
}

/// A running query. Few rows are held at a time; dropping the stream cancels the query.
#[derive(Debug)]
pub struct QueryStream {
    receiver: mpsc::Receiver<Message>,
    /// The part that came with the start.
    first: Option<Part>,
    summary: Arc<Mutex<Summary>>,
    deadline: Deadline,
    /// The memory pool for its results, and the memory of all queries in bytes.
    pool: Arc<dyn MemoryPool>,
    memory: usize,
    data_sources: Vec<DataSource>,
    reads: Vec<(AppId, Table)>,
    /// What the query reads; `None` only before [`QueryStream::over`].
    snapshot: Option<Snapshot>,
    /// `None` once the query has ended.
    task: Option<QueryTask>,
}

impl QueryStream {
    /// Starts a query with `spawn`, and returns its stream once the query has started.
    pub(crate) async fn start(
        spawn: impl FnOnce(ResultSender) -> Result<QueryTask, EngineError>,
        deadline: Deadline,
        pool: Arc<dyn MemoryPool>,
        memory: usize,
    ) -> Result<QueryStream, EngineError> {
        let (sender, receiver) = mpsc::channel(1);
        let summary = Arc::new(Mutex::new(Summary {
            render: render::table(),
            ..Summary::default()
        }));
        let task = spawn(ResultSender {
            sender,
            summary: Arc::clone(&summary),
        })?;
        let mut stream = QueryStream {
            receiver,
            first: None,
            summary,
            deadline,
            pool,
            memory,
            data_sources: Vec::new(),
            reads: Vec::new(),
            snapshot: None,
            task: Some(task),
        };
        match stream.receive().await? {
            Some(Message::Started(first)) => {
                stream.first = first;
                Ok(stream)
            }
            _ => Err(EngineError::Internal(
                "a query ended before it started".to_owned(),
            )),
        }
    }

    /// Adds the data sources that the query reads, as text and as tables.
    pub(crate) fn with_data_sources(
        mut self,
        data_sources: Vec<DataSource>,
        reads: Vec<(AppId, Table)>,
    ) -> QueryStream {
        self.data_sources = data_sources;
        self.reads = reads;
        self
    }

    /// The tables that the query reads, of each application.
    pub fn reads(&self) -> Vec<(AppId, Table)> {
        self.reads.clone()
    }

    /// Adds the snapshot that the query reads.
    pub(crate) fn over(mut self, snapshot: Snapshot) -> QueryStream {
        self.snapshot = Some(snapshot);
        self
    }

    /// The next part, or none at the end.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say; the query has then ended. After [`EngineError::Unreadable`] the same query can be started
    /// again: it leaves out what could not be read, and says so.
    pub async fn next(&mut self) -> Result<Option<Part>, EngineError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            match self.receive().await? {
                None => return Ok(None),
                Some(Message::Part(part)) => return Ok(Some(part)),
                Some(Message::Started(_) | Message::Failed(_)) => {}
            }
        }
    }

    /// The query's next message, within the deadline; a failure is an error.
    async fn receive(&mut self) -> Result<Option<Message>, EngineError> {
        if self.task.is_none() {
            return Ok(None);
        }
        let receiver = &mut self.receiver;
        let message = self.deadline.bound(async { Ok(receiver.recv().await) });
        match message.await {
            Ok(Some(Message::Failed(error))) | Err(error) => {
                self.task = None;
                Err(match &self.snapshot {
                    Some(snapshot) => unreadable(error, snapshot),
                    None => error,
                })
            }
            Ok(None) => match self.task.take() {
                Some(task) => task.end().await.map(|()| None),
                None => Ok(None),
            },
            Ok(message) => Ok(message),
        }
    }

    /// Statistics and rendering of the query so far; complete once it has ended, also when it failed.
    pub fn summary(&mut self) -> Summary {
        Summary {
            data_sources: self.data_sources.clone(),
            missing: self
                .snapshot
                .as_ref()
                .map(Snapshot::missing)
                .unwrap_or_default(),
            ..self.summary.lock().clone()
        }
    }

    /// Reads all results into memory, reserving it as they arrive.
    ///
    /// # Errors
    /// As [`QueryStream::next`], and [`EngineError::ResourcesExceeded`] when the memory of queries is exhausted.
    pub async fn collect(mut self) -> Result<QueryResult, EngineError> {
        let mut tables: Vec<(String, Vec<ResultColumn>, HeldRows)> = Vec::new();
        while let Some(part) = self.next().await? {
            match part {
                Part::Table { name, columns } => {
                    tables.push((name, columns, HeldRows::new("the result", &self.pool)));
                }
                Part::Rows(batch) => {
                    if let Some((_, _, rows)) = tables.last_mut() {
                        rows.push(batch).map_err(|e| failure(&e, self.memory))?;
                    }
                }
            }
        }
        let summary = self.summary();
        let table = |(name, columns, rows): (String, Vec<ResultColumn>, HeldRows)| ResultTable {
            name,
            columns,
            batches: rows.take(),
        };
        Ok(QueryResult {
            tables: tables.into_iter().map(table).collect(),
            render: summary.render,
            statistics: summary.statistics,
            partial: summary.partial,
            missing: summary.missing,
            notices: summary.notices,
        })
    }
}
