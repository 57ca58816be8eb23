//! A query that runs: its rows as they are produced, with what they cost at the end.
//!
//! The work runs on threads of its own ([`crate::reading`]) and is one part ahead of the reader, no more.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::MemoryPool;
use hindsight_kql::HeldRows;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::exec::failure::failure;
use crate::exec::threads::QueryTask;
use crate::render;
use crate::result::{DataSource, QueryResult, ResultColumn, ResultTable, Statistics, Summary};

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

/// What the work tells its reader.
enum Told {
    /// The query is bound, and what it depends on has run.
    Begun,
    Part(Part),
    Failed(EngineError),
}

/// The other end of a [`QueryStream`]: where the work hands over what it makes.
pub(crate) struct Reader {
    sender: mpsc::Sender<Told>,
    summary: Arc<Mutex<Summary>>,
}

impl Reader {
    /// The query has begun; `false` where nobody reads.
    pub(crate) async fn begun(&self, summary: Summary) -> bool {
        *self.summary.lock() = summary;
        self.sender.send(Told::Begun).await.is_ok()
    }

    /// Hands over a part when the reader has taken the one before; `false` where nobody reads.
    pub(crate) async fn give(&self, part: Part, summary: Summary) -> bool {
        *self.summary.lock() = summary;
        self.sender.send(Told::Part(part)).await.is_ok()
    }

    /// The query failed.
    pub(crate) async fn fail(&self, error: EngineError) {
        // Where nobody reads there is nobody to tell.
        let _ = self.sender.send(Told::Failed(error)).await;
    }

    /// Nothing comes any more.
    pub(crate) fn end(&self, summary: Summary) {
        *self.summary.lock() = summary;
    }
}

/// A running query. Few rows are held at a time; dropping it stops the work.
#[derive(Debug)]
pub struct QueryStream {
    receiver: mpsc::Receiver<Told>,
    summary: Arc<Mutex<Summary>>,
    deadline: Deadline,
    /// The memory for its result, and that of all queries in bytes.
    pool: Arc<dyn MemoryPool>,
    memory: usize,
    data_sources: Vec<DataSource>,
    /// None once it has ended.
    task: Option<QueryTask>,
}

impl QueryStream {
    /// The stream of a query whose work `begin` starts, once it has begun.
    pub(crate) async fn begin(
        begin: impl FnOnce(Reader) -> Result<QueryTask, EngineError>,
        deadline: Deadline,
        pool: Arc<dyn MemoryPool>,
        memory: usize,
    ) -> Result<QueryStream, EngineError> {
        let (sender, receiver) = mpsc::channel(1);
        let summary = Arc::new(Mutex::new(Summary {
            render: render::table(),
            statistics: Statistics::default(),
            tables: Vec::new(),
            data_sources: Vec::new(),
            partial: None,
        }));
        let task = begin(Reader {
            sender,
            summary: Arc::clone(&summary),
        })?;
        let mut stream = QueryStream {
            receiver,
            summary,
            deadline,
            pool,
            memory,
            data_sources: Vec::new(),
            task: Some(task),
        };
        match stream.told().await? {
            Some(Told::Begun) => Ok(stream),
            _ => Err(EngineError::Internal(
                "a query ended before it began".to_owned(),
            )),
        }
    }

    /// Tells the query what it reads from.
    pub(crate) fn reading(mut self, data_sources: Vec<DataSource>) -> QueryStream {
        self.data_sources = data_sources;
        self
    }

    /// The next part, or none at the end.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say; the query has then ended.
    pub async fn next(&mut self) -> Result<Option<Part>, EngineError> {
        loop {
            match self.told().await? {
                None => return Ok(None),
                Some(Told::Part(part)) => return Ok(Some(part)),
                Some(Told::Begun | Told::Failed(_)) => {}
            }
        }
    }

    /// What the work tells next, in time; a failure of it is an error.
    async fn told(&mut self) -> Result<Option<Told>, EngineError> {
        if self.task.is_none() {
            return Ok(None);
        }
        let receiver = &mut self.receiver;
        let told = self.deadline.bound(async { Ok(receiver.recv().await) });
        match told.await {
            Ok(Some(Told::Failed(error))) | Err(error) => {
                self.task = None;
                Err(error)
            }
            Ok(None) => match self.task.take() {
                Some(task) => task.end().await.map(|()| None),
                None => Ok(None),
            },
            Ok(told) => Ok(told),
        }
    }

    /// What there is to say of the query once it has ended, also when it failed.
    pub fn summary(&mut self) -> Summary {
        Summary {
            data_sources: self.data_sources.clone(),
            ..self.summary.lock().clone()
        }
    }

    /// Reads everything into memory, which is reserved while it is read.
    ///
    /// # Errors
    /// As [`QueryStream::next`], and where the memory of queries is used up.
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
        })
    }
}
