//! The plans that queries get over a real store: what reaches the scan, and that it changes no answer.

mod columns;
mod distributed;
mod group_by_codes;
mod ingestion_time;
mod leaves;
mod plans;
mod samples;
mod small;
mod text_index;
mod top_rows;

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int64Array, StringViewArray};
use arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::context::{SessionContext, SessionState};
use datafusion::execution::memory_pool::UnboundedMemoryPool;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::{ExecutionPlan, collect};
use hindsight_kql::{BindOptions, RandomSource, run};
use hindsight_kql_types::Dynamic;
use hindsight_kql_types::ticks::{TICKS_PER_HOUR, TICKS_PER_SECOND};
use hindsight_store::{AppId, AppendRequest, Store, StoreConfig, SystemClock, Table};

use crate::catalog::{StoreCatalog, StoreLeaves, StoreRandomRows};
use crate::config::EngineConfig;
use crate::distributed::plan_codec;
use crate::exec::Executor;
use crate::exec::small::adapt;
use crate::request::Access;

/// Requests of one hour.
const PER_HOUR: usize = 2000;
/// 2026-11-20T00:00:00Z.
const START: i64 = 639_306_432_000_000_000;

/// A store with three sealed hours of requests and one in memory; some dependencies and traces beside them.
struct World {
    _dir: tempfile::TempDir,
    store: Arc<Store>,
    app: AppId,
    executor: Executor,
    random: RandomSource,
}

/// A plan that has run.
struct Ran {
    /// The plan with the figures of the run.
    plan: String,
    batches: Vec<RecordBatch>,
}

impl Ran {
    /// The rows as text, in no particular order.
    fn rows(&self) -> Vec<String> {
        let text = arrow::util::pretty::pretty_format_batches(&self.batches).unwrap();
        let mut rows: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
        rows.sort();
        rows
    }

    /// The lines of the plan that scan files.
    fn scans(&self) -> Vec<&str> {
        let scan = |line: &&str| line.contains("file_type=parquet");
        self.plan.lines().filter(scan).collect()
    }

    /// The columns that a scan of files reads for what is above it.
    fn columns(&self) -> Vec<Vec<&str>> {
        self.scans()
            .into_iter()
            .map(|scan| {
                let list = scan
                    .split_once("projection=[")
                    .and_then(|(_, rest)| rest.split_once(']'));
                list.map_or(Vec::new(), |(list, _)| list.split(", ").collect())
            })
            .collect()
    }

    #[track_caller]
    fn has(&self, part: &str) {
        assert!(self.plan.contains(part), "no {part:?} in\n{}", self.plan);
    }

    #[track_caller]
    fn has_not(&self, part: &str) {
        assert!(!self.plan.contains(part), "{part} in\n{}", self.plan);
    }
}

impl World {
    /// A store whose queries all read files, so that their plans tell what was pruned.
    async fn new() -> World {
        World::with_column_cache(0).await
    }

    async fn with_column_cache(bytes: usize) -> World {
        World::with(bytes, EngineConfig::default()).await
    }

    /// A store with a column cache of this number of bytes, and an engine with these settings and two partitions.
    async fn with(column_cache_bytes: usize, config: EngineConfig) -> World {
        let dir = tempfile::tempdir().unwrap();
        let store_config = StoreConfig {
            background: false,
            row_group_rows: 500,
            column_cache_bytes,
            ..StoreConfig::new(dir.path())
        };
        let store = Store::open(store_config).await.unwrap();
        let app: AppId = "00000000-0000-4000-8000-000000000001".parse().unwrap();
        for hour in 0..4 {
            if hour == 3 {
                store.seal_all().await.unwrap();
            }
            let batches = [Table::Requests, Table::Dependencies, Table::Traces]
                .map(|table| (table, items(table, hour)));
            let request = AppendRequest {
                app,
                batches: batches.into(),
            };
            store.append(request).await.unwrap();
        }
        let config = EngineConfig {
            partitions: 2,
            ..config
        };
        World {
            _dir: dir,
            executor: executor(&store, &config),
            store,
            app,
            random: RandomSource::seeded(7),
        }
    }

    /// Runs a query as the engine does, or without leaves.
    async fn run_with(&self, query: &str, leaves: bool) -> Ran {
        let pool = Arc::new(UnboundedMemoryPool::default());
        let context = self.executor.context(pool, None).unwrap();
        self.run_in(context, query, leaves).await.unwrap()
    }

    /// Runs a query in this session.
    async fn run_in(&self, context: SessionContext, query: &str, leaves: bool) -> Result<Ran> {
        let plan = self.bound_in(&context, query, leaves).await?;
        let frame = context.execute_logical_plan(plan).await?;
        run_physical(frame.create_physical_plan().await?, &context).await
    }

    /// Runs a query with the settings that what it reads asks for.
    async fn run_adapted(&self, query: &str) -> Ran {
        let (context, mut state, plan) = self.optimised(query).await;
        adapt(&mut state, &plan, false);
        let planner = Arc::clone(state.query_planner());
        let physical = planner.create_physical_plan(&plan, &state).await.unwrap();
        run_physical(physical, &context).await.unwrap()
    }

    /// The optimised plan of a query.
    async fn optimised(&self, query: &str) -> (SessionContext, SessionState, LogicalPlan) {
        let pool = Arc::new(UnboundedMemoryPool::default());
        let context = self.executor.context(pool, None).unwrap();
        let plan = self.bound_in(&context, query, true).await.unwrap();
        let state = context.state();
        let plan = state.optimize(&plan).unwrap();
        (context, state, plan)
    }

    /// The plan of a query whose steps have run.
    async fn bound_in(
        &self,
        context: &SessionContext,
        query: &str,
        leaves: bool,
    ) -> Result<LogicalPlan> {
        let parsed = hindsight_kql_syntax::parse(query);
        assert!(parsed.diagnostics.is_empty(), "{query}");
        let catalog = StoreCatalog::new(
            self.store.snapshot(),
            vec![self.app],
            Arc::default(),
            Access::All,
        );
        let options = BindOptions {
            random: self.random.clone(),
            ..BindOptions::default()
        };
        let bound = hindsight_kql::bind(&parsed.query, &catalog, &options);
        let bound = bound.unwrap_or_else(|e| panic!("{query}: {e:?}"));
        let mut bound = bound.with_random_rows(&StoreRandomRows).unwrap();
        if leaves {
            bound = bound.with_leaves(&StoreLeaves).unwrap();
        }
        let values = run::prepare(bound.steps, context).await?;
        run::substitute(bound.results.remove(0).plan, &values)
    }

    async fn run(&self, query: &str) -> Ran {
        self.run_with(query, true).await
    }
}

async fn run_physical(plan: Arc<dyn ExecutionPlan>, context: &SessionContext) -> Result<Ran> {
    let batches = collect(Arc::clone(&plan), context.task_ctx()).await?;
    let plan = DisplayableExecutionPlan::with_metrics(plan.as_ref())
        .indent(true)
        .to_string();
    Ok(Ran { plan, batches })
}

/// What runs queries over a store.
fn executor(store: &Arc<Store>, config: &EngineConfig) -> Executor {
    let clock = Arc::new(SystemClock::default());
    Executor::new(config, clock, plan_codec(Arc::clone(store))).unwrap()
}

/// The items of an hour: five tenants, three regions, every tenth failed. Some bags lack keys, some hold other types.
fn items(table: Table, hour: i64) -> RecordBatch {
    let step = TICKS_PER_HOUR / PER_HOUR as i64;
    let text = |f: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values((0..PER_HOUR).map(f)))
    };
    let bags = |f: &dyn Fn(usize) -> String| -> ArrayRef {
        let bags = (0..PER_HOUR).map(|row| Dynamic::from_json(&f(row)).map(|v| v.encode()));
        Arc::new(bags.collect::<BinaryViewArray>())
    };
    let times = (0..PER_HOUR as i64).map(|row| START + hour * TICKS_PER_HOUR + row * step);
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("timestamp", Arc::new(times.collect::<Int64Array>())),
        ("itemId", text(&|row| format!("{table}-{hour}-{row}"))),
        ("operation_Id", text(&|row| format!("op-{hour}-{row}"))),
        ("operation_Name", text(&|row| format!("GET /{}", row % 7))),
        ("cloud_RoleName", text(&|row| format!("role-{}", row % 3))),
        ("user_Id", text(&|row| format!("user-{}", row % 90))),
        ("customDimensions", bags(&|row| dimensions(hour, row))),
    ];
    match table {
        Table::Traces => columns.push((
            "message",
            text(&|row| match row % 100 {
                7 => format!("A Deadlock of {row}"),
                9 => format!("call {row} Timed Out After 5 s"),
                _ => format!("handled {row}"),
            }),
        )),
        _ => {
            let durations = (0..PER_HOUR).map(|row| (row % 50) as f64);
            columns.push(("duration", Arc::new(durations.collect::<Float64Array>())));
            columns.push(("id", text(&|row| format!("{table}-id-{hour}-{row}"))));
            columns.push(("name", text(&|row| format!("GET /{}", row % 7))));
            columns.push((
                "success",
                text(&|row| if row % 10 == 0 { "False" } else { "True" }.to_owned()),
            ));
            columns.push(("customMeasurements", bags(&|row| measurements(hour, row))));
        }
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

/// `size` is a number in the second hour alone, so that hour's segments do not promote it; `note` is rare.
fn dimensions(hour: i64, row: usize) -> String {
    let size = match hour {
        1 => format!("{}", row % 4),
        _ => format!("\"{}\"", row % 4),
    };
    let region = match row % 4 {
        3 => String::new(),
        2 => r#","region":"""#.to_owned(),
        n => format!(r#","region":"region-{n}""#),
    };
    let note = match row % 500 {
        0 => r#","note":{"a":[1,"x"]}"#,
        1 => r#","note":null"#,
        2 => r#","note":true"#,
        _ => "",
    };
    format!(
        r#"{{"tenantId":"tenant-{}","size":{size}{region}{note}}}"#,
        row % 5
    )
}

fn measurements(hour: i64, row: usize) -> String {
    match (hour, row % 3) {
        (_, 0) => format!(r#"{{"items":{row}}}"#),
        (2, 1) => r#"{"items":"12"}"#.to_owned(),
        (_, 1) => format!(r#"{{"items":{row}.5,"weight":1e3}}"#),
        _ => "{}".to_owned(),
    }
}

/// A datetime literal, minutes after the first item.
fn minute(minutes: i64) -> String {
    let mut text = String::new();
    let ticks = START + minutes * 60 * TICKS_PER_SECOND;
    hindsight_kql_types::datetime::write_full(ticks, &mut text).unwrap();
    format!("datetime({text})")
}

/// The bytes that scans read from files, as plans tell it: `bytes_scanned=12.3 KB`.
fn bytes_read(plan: &str) -> f64 {
    let Some(figure) = plan.split("bytes_scanned=").nth(1) else {
        return 0.0;
    };
    let figure = figure.split([',', ']']).next().unwrap().trim();
    let (number, unit) = figure.split_once(' ').unwrap_or((figure, "B"));
    let factor = match unit.chars().next() {
        Some('K') => 1e3,
        Some('M') => 1e6,
        _ => 1.0,
    };
    number.parse::<f64>().unwrap() * factor
}
