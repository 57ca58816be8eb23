//! Produces the results of a query on the query's own threads: one result after the other, batch by batch, truncated at the limits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use hindsight_kql::work::CancellationToken;
use hindsight_kql::{BoundQuery, BoundResult, run};
use hindsight_store::Clock;

use crate::error::EngineError;
use crate::exec::failure::failure;
use crate::exec::plans::PlanKeeper;
use crate::exec::pool::QueryPool;
use crate::exec::small;
use crate::profile::{self, Planning};
use crate::render;
use crate::result::{Notice, PartialError, ResultColumn, Summary, TableSize};
use crate::scanned::scanned;
use crate::stream::{Part, ResultSender};

/// The limits of one result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Rows.
    pub(crate) rows: u64,
    /// Bytes of Arrow data.
    pub(crate) bytes: u64,
}

/// The environment of one query.
pub(crate) struct Run {
    pub(crate) context: SessionContext,
    /// Whether other nodes may run parts of the query.
    pub(crate) distributes: bool,
    pub(crate) pool: Arc<QueryPool>,
    /// The memory of all queries in bytes, for messages.
    pub(crate) memory: usize,
    pub(crate) limits: Limits,
    /// When binding began, on `clock`.
    pub(crate) started: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Run {
    fn failure(&self, error: &DataFusionError) -> EngineError {
        failure(error, self.memory)
    }
}

/// When the plans of a query are optimised.
pub(crate) enum Optimised {
    /// They are.
    Before,
    /// When their results begin. Then the plan of the only result is kept, if it may be.
    Later(Option<PlanKeeper>),
}

/// Produces the results of a bound query.
pub(crate) struct ResultProducer {
    run: Run,
    values: HashMap<String, ScalarValue>,
    /// Results that have not started.
    waiting: VecDeque<(String, BoundResult)>,
    optimised: Optimised,
    current: Option<CurrentResult>,
    summary: Summary,
    /// Time spent on the query, without the time that it waits for the consumer.
    spent: Duration,
    /// The part of it before the results.
    binding: Duration,
}

/// The result whose rows are being produced.
struct CurrentResult {
    plan: Arc<dyn ExecutionPlan>,
    /// `None` once a limit was reached: the rest is not computed.
    stream: Option<SendableRecordBatchStream>,
    size: TableSize,
    planning: Planning,
}

impl ResultProducer {
    /// Runs the steps that the results depend on. The results themselves run as they are consumed.
    pub(crate) async fn start(
        bound: BoundQuery,
        names: Vec<String>,
        optimised: Optimised,
        mut run: Run,
    ) -> Result<ResultProducer, EngineError> {
        let settings = &bound.settings;
        run.limits.rows = settings
            .truncation_max_records()
            .map_or(run.limits.rows, |n| n.min(run.limits.rows));
        run.limits.bytes = settings
            .truncation_max_size()
            .map_or(run.limits.bytes, |n| n.min(run.limits.bytes));
        let values = run::prepare(bound.steps, &run.context)
            .await
            .map_err(|e| run.failure(&e))?;
        let binding = run.clock.elapsed().saturating_sub(run.started);
        Ok(ResultProducer {
            values,
            optimised,
            current: None,
            summary: Summary {
                render: render::table(),
                renders: bound.results.iter().map(render::of).collect(),
                ..Summary::default()
            },
            waiting: names.into_iter().zip(bound.results).collect(),
            spent: binding,
            binding,
            run,
        })
    }

    /// Sends all parts, until the end, a failure, or until the stream is dropped.
    pub(crate) async fn send_to(mut self, sender: ResultSender) {
        let mut has_started = false;
        loop {
            let began = self.run.clock.elapsed();
            let part = self.advance().await;
            self.spent += self.run.clock.elapsed().saturating_sub(began);
            let is_first = !std::mem::replace(&mut has_started, true);
            let is_open = match part {
                Ok(first) if is_first => sender.started(first, self.summary_so_far()).await,
                Ok(Some(part)) => sender.send(part, self.summary_so_far()).await,
                Ok(None) => {
                    sender.finish(self.summary_so_far());
                    false
                }
                Err(error) => {
                    sender.fail(error).await;
                    false
                }
            };
            if !is_open {
                return;
            }
        }
    }

    /// Statistics and rendering of the query so far.
    fn summary_so_far(&self) -> Summary {
        let mut summary = self.summary.clone();
        if let Some(current) = &self.current {
            scanned(current.plan.as_ref(), &mut summary.statistics);
            summary.tables.push(current.size);
        }
        if CancellationToken::current().lacked_addresses() {
            summary.notices.push(Notice::NoAddressDatabase);
        }
        summary.statistics.execution_time = self.spent;
        summary.statistics.memory_peak = self.run.pool.peak() as u64;
        summary
    }

    async fn advance(&mut self) -> Result<Option<Part>, EngineError> {
        if let Some(current) = &mut self.current {
            let rows = current.next(self.run.limits, &mut self.summary.partial);
            if let Some(batch) = rows.await.map_err(|e| self.run.failure(&e))? {
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
        let (context, began) = (&self.run.context, self.run.clock.elapsed());
        let plan =
            run::substitute(result.plan.clone(), &self.values).map_err(|e| self.run.failure(&e))?;
        let mut state = context.state();
        let plan = match &mut self.optimised {
            Optimised::Before => plan,
            Optimised::Later(keeper) => {
                let plan = state.optimize(&plan).map_err(|e| self.run.failure(&e))?;
                if let Some(keeper) = keeper.take() {
                    keeper.keep(&name, &result, &plan);
                }
                plan
            }
        };
        small::adapt(&mut state, &plan, self.run.distributes);
        let optimised = self.run.clock.elapsed();
        let plan = state
            .query_planner()
            .create_physical_plan(&plan, &state)
            .await
            .map_err(|e| self.run.failure(&e))?;
        let planning = Planning {
            binding: self.binding,
            optimising: optimised.saturating_sub(began),
            physical: self.run.clock.elapsed().saturating_sub(optimised),
        };
        let stream = execute_stream(Arc::clone(&plan), context.task_ctx())
            .map_err(|e| self.run.failure(&e))?;
        self.current = Some(CurrentResult {
            plan,
            stream: Some(stream),
            size: TableSize::default(),
            planning,
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
        if let Some(current) = self.current.take() {
            profile::log(current.planning, current.plan.as_ref());
            scanned(current.plan.as_ref(), &mut self.summary.statistics);
            self.summary.tables.push(current.size);
        }
    }
}

impl CurrentResult {
    /// The next rows within the limits.
    async fn next(
        &mut self,
        limits: Limits,
        partial: &mut Option<PartialError>,
    ) -> Result<Option<RecordBatch>, DataFusionError> {
        while let Some(stream) = &mut self.stream {
            let Some(batch) = stream.next().await else {
                self.stream = None;
                break;
            };
            let batch = batch?;
            let (batch, cut) = self.truncate(batch, limits);
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

    /// The rows of `batch` that fit into the limits, and the limit that was reached.
    fn truncate(
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

/// The bytes of the values alone. View arrays share their buffers with other batches, so whole buffers are not counted.
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

/// The number of leading rows that fit into `room` bytes.
fn rows_within(batch: &RecordBatch, room: u64) -> usize {
    let (mut fits, mut over) = (0, batch.num_rows());
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        if data_bytes(&batch.slice(0, middle)) <= room {
            fits = middle
        } else {
            over = middle
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
