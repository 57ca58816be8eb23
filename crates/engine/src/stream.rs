//! A query that runs: its rows as they are produced, cut at the limits, with what they cost at the end.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::common::ScalarValue;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use hindsight_kql::{BoundQuery, BoundResult, run};

use crate::error::EngineError;
use crate::exec::{Limits, QueryPool, failure};
use crate::render;
use crate::result::{
    DataSource, PartialError, QueryResult, ResultColumn, ResultTable, Statistics, Summary,
    TableSize,
};

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

/// When a query has to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: tokio::time::Instant,
    seconds: u64,
}

impl Deadline {
    /// So many seconds from now.
    pub(crate) fn after(limit: Duration) -> Deadline {
        Deadline {
            at: tokio::time::Instant::now() + limit,
            seconds: limit.as_secs(),
        }
    }

    /// What `work` gives, unless it comes too late.
    pub(crate) async fn bound<T>(
        self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let late = EngineError::TimedOut {
            seconds: self.seconds,
        };
        // A timer only looks when there is something to wait for; work that never waits would always be in time.
        if tokio::time::Instant::now() >= self.at {
            return Err(late);
        }
        tokio::time::timeout_at(self.at, work)
            .await
            .unwrap_or(Err(late))
    }
}

/// What a query runs with.
pub(crate) struct Run {
    pub(crate) context: SessionContext,
    pub(crate) pool: Arc<QueryPool>,
    pub(crate) limits: Limits,
    pub(crate) deadline: Deadline,
    /// When binding began.
    pub(crate) started: Instant,
}

/// A running query. Few rows are held at a time; dropping it stops the work.
pub struct QueryStream {
    run: Run,
    values: HashMap<String, ScalarValue>,
    /// Results that have not begun.
    waiting: VecDeque<(String, BoundResult)>,
    running: Option<Running>,
    summary: Summary,
    /// Time spent on the query; the time that a reader takes between two parts is not the query's.
    spent: Duration,
}

impl std::fmt::Debug for QueryStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryStream")
            .field("waiting", &self.waiting.len())
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

/// A result whose rows are being read.
struct Running {
    plan: Arc<dyn ExecutionPlan>,
    /// None once a limit was met: the rest is not computed.
    stream: Option<SendableRecordBatchStream>,
    size: TableSize,
}

impl QueryStream {
    /// Runs the steps of a query that its results depend on; the results run as they are read.
    pub(crate) async fn start(
        bound: BoundQuery,
        names: Vec<String>,
        mut run: Run,
    ) -> Result<QueryStream, EngineError> {
        let settings = &bound.settings;
        run.limits.rows = settings
            .truncation_max_records()
            .map_or(run.limits.rows, |n| n.min(run.limits.rows));
        run.limits.bytes = settings
            .truncation_max_size()
            .map_or(run.limits.bytes, |n| n.min(run.limits.bytes));
        let values = run::prepare(bound.steps, &run.context)
            .await
            .map_err(|e| failure(&e))?;
        Ok(QueryStream {
            values,
            waiting: names.into_iter().zip(bound.results).collect(),
            running: None,
            summary: Summary {
                render: render::table(),
                statistics: Statistics::default(),
                tables: Vec::new(),
                data_sources: Vec::new(),
                partial: None,
            },
            spent: run.started.elapsed(),
            run,
        })
    }

    /// Tells the query what it reads from.
    pub(crate) fn reading(mut self, data_sources: Vec<DataSource>) -> QueryStream {
        self.summary.data_sources = data_sources;
        self
    }

    /// The next part, or none at the end.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say; the query has then ended.
    pub async fn next(&mut self) -> Result<Option<Part>, EngineError> {
        let began = Instant::now();
        let deadline = self.run.deadline;
        let part = deadline.bound(self.advance()).await;
        self.spent += began.elapsed();
        if part.is_err() {
            self.close_table();
            self.waiting.clear();
        }
        part
    }

    /// What there is to say of the query once it has ended, also when it failed.
    pub fn summary(&mut self) -> Summary {
        self.close_table();
        self.summary.statistics.execution_time = self.spent;
        self.summary.statistics.memory_peak = self.run.pool.peak() as u64;
        self.summary.clone()
    }

    /// Reads everything into memory.
    ///
    /// # Errors
    /// As [`QueryStream::next`].
    pub async fn collect(mut self) -> Result<QueryResult, EngineError> {
        let mut tables: Vec<ResultTable> = Vec::new();
        while let Some(part) = self.next().await? {
            match part {
                Part::Table { name, columns } => tables.push(ResultTable {
                    name,
                    columns,
                    batches: Vec::new(),
                }),
                Part::Rows(batch) => {
                    if let Some(table) = tables.last_mut() {
                        table.batches.push(batch);
                    }
                }
            }
        }
        let summary = self.summary();
        Ok(QueryResult {
            tables,
            render: summary.render,
            statistics: summary.statistics,
            partial: summary.partial,
        })
    }

    async fn advance(&mut self) -> Result<Option<Part>, EngineError> {
        if let Some(running) = &mut self.running {
            if let Some(batch) = running
                .next(self.run.limits, &mut self.summary.partial)
                .await?
            {
                return Ok(Some(Part::Rows(batch)));
            }
            self.close_table();
        }
        match self.waiting.pop_front() {
            Some((name, result)) => self.begin(name, result).await.map(Some),
            None => Ok(None),
        }
    }

    async fn begin(&mut self, name: String, result: BoundResult) -> Result<Part, EngineError> {
        let context = &self.run.context;
        let plan = run::substitute(result.plan.clone(), &self.values).map_err(|e| failure(&e))?;
        let frame = context
            .execute_logical_plan(plan)
            .await
            .map_err(|e| failure(&e))?;
        let plan = frame
            .create_physical_plan()
            .await
            .map_err(|e| failure(&e))?;
        let stream =
            execute_stream(Arc::clone(&plan), context.task_ctx()).map_err(|e| failure(&e))?;
        self.running = Some(Running {
            plan,
            stream: Some(stream),
            size: TableSize::default(),
        });
        self.summary.render = render::of(&result);
        let column = |c: hindsight_kql::Column| ResultColumn {
            name: c.name,
            kind: c.kind,
        };
        Ok(Part::Table {
            name,
            columns: result.columns.into_iter().map(column).collect(),
        })
    }

    fn close_table(&mut self) {
        if let Some(running) = self.running.take() {
            scanned(running.plan.as_ref(), &mut self.summary.statistics);
            self.summary.tables.push(running.size);
        }
    }
}

impl Running {
    /// The next rows, up to what the limits leave.
    async fn next(
        &mut self,
        limits: Limits,
        partial: &mut Option<PartialError>,
    ) -> Result<Option<RecordBatch>, EngineError> {
        while let Some(stream) = &mut self.stream {
            let Some(batch) = stream.next().await else {
                self.stream = None;
                break;
            };
            let batch = batch.map_err(|e| failure(&e))?;
            let (batch, cut) = self.fitting(batch, limits);
            if let Some(cut) = cut {
                partial.get_or_insert(cut);
                self.stream = None;
            }
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// As many of these rows as the limits leave, and which limit was met.
    fn fitting(
        &mut self,
        batch: RecordBatch,
        limits: Limits,
    ) -> (RecordBatch, Option<PartialError>) {
        let left = usize::try_from(limits.rows - self.size.rows).unwrap_or(usize::MAX);
        let room = limits.bytes - self.size.bytes;
        let (mut rows, mut cut) = (batch.num_rows(), None);
        if rows > left {
            (rows, cut) = (left, Some(too_large("record count", limits.rows)));
        } else if data_bytes(&batch) > room {
            rows = rows_within(&batch, room);
            cut = Some(too_large("data size", limits.bytes));
        }
        let kept = batch.slice(0, rows);
        self.size.rows += rows as u64;
        self.size.bytes = (self.size.bytes + data_bytes(&kept)).min(limits.bytes);
        (kept, cut)
    }
}

/// The bytes of the rows themselves: views share their buffers with other batches, so buffers are not counted whole.
fn data_bytes(batch: &RecordBatch) -> u64 {
    use arrow::array::AsArray;
    use arrow::datatypes::DataType;
    let column = |array: &arrow::array::ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        other => (other.primitive_width().unwrap_or(1) * array.len()) as u64,
    };
    batch.columns().iter().map(column).sum()
}

/// How many rows from the first fit into `room` bytes.
fn rows_within(batch: &RecordBatch, room: u64) -> usize {
    let (mut fits, mut over) = (0, batch.num_rows());
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        match data_bytes(&batch.slice(0, middle)) <= room {
            true => fits = middle,
            false => over = middle,
        }
    }
    fits
}

fn too_large(what: &str, limit: u64) -> PartialError {
    PartialError {
        message: format!(
            "Query result set has exceeded the internal {what} limit {limit} (E_QUERY_RESULT_SET_TOO_LARGE; see https://aka.ms/kustoquerylimits)"
        ),
    }
}

/// Adds what the leaves of an executed plan read, and how long its nodes computed.
fn scanned(plan: &dyn ExecutionPlan, statistics: &mut Statistics) {
    let computed = plan.metrics().and_then(|metrics| metrics.elapsed_compute());
    statistics.cpu_time += Duration::from_nanos(computed.unwrap_or(0) as u64);
    if let Some(rows) = rows_in_memory(plan) {
        statistics.rows_scanned += rows as u64;
    } else if plan.children().is_empty()
        && let Some(metrics) = plan.metrics()
    {
        statistics.rows_scanned += metrics.output_rows().unwrap_or(0) as u64;
        statistics.bytes_scanned += metrics
            .sum_by_name("bytes_scanned")
            .map_or(0, |v| v.as_usize()) as u64;
    }
    for child in plan.children() {
        scanned(child.as_ref(), statistics);
    }
}

/// The rows of a scan of memory, which keeps no metrics.
fn rows_in_memory(plan: &dyn ExecutionPlan) -> Option<usize> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let memory = source.downcast_ref::<MemorySourceConfig>()?;
    let rows = memory.partitions().iter().flatten();
    Some(rows.map(RecordBatch::num_rows).sum())
}
