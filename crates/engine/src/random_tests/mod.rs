//! Random valid queries, each checked without knowing its answer:
//!
//! - every row is in exactly one of `where p`, `where not(p)` and `where isnull(p)` (ternary logic partitioning);
//! - the plan as it was bound and the plan that the optimiser makes of it give the same rows;
//! - a plan whose scans apply no filters gives the same rows;
//! - a plan that is not divided between partitions behind its scans gives the same rows;
//! - sorted by a column, no row stands before one that it belongs behind;
//! - an order is the same whether its keys are still there or not;
//! - a plan whose parts run at several nodes gives the rows of one node;
//! - reading keys of bags from the columns of segments gives the rows that reading the bags gives;
//! - a pipeline over the parts of a table gives what it gives over each of them ([`subtables`]).
//!
//! A few hundred run as a test. `make random-queries COUNT=100000` runs more; `HINDSIGHT_RANDOM_SEED` is the first seed. A
//! failure prints its seed and the query with its tables, to be pasted.

mod expression;
mod query;
mod rng;
mod subtables;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::Array;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{Expr, LogicalPlan, when};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use hindsight_kql::kernel::to_text;
use hindsight_kql::{BindOptions, Catalog, run, session};

use crate::catalog::StoreLeaves;
use crate::distributed::testing::Others;
use crate::exec::small::undivide;
use query::Query;
use rng::Choice;
use world::World;

/// How many queries of each sort run as a test.
const IN_TESTS: u64 = 150;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The rows of a query: each as text, with how often it is there.
type Rows = BTreeMap<String, usize>;

/// Where queries run: as the engine plans them, and as they were bound.
struct Ways {
    optimised: SessionContext,
    unpushed: SessionContext,
    undivided: SessionContext,
    distributed: SessionContext,
    others: Arc<Others>,
    as_bound: SessionContext,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Optimised,
    /// No filter is pushed down by the physical optimiser: joins and sorts derive filters while they run, and scans apply them.
    Unpushed,
    Undivided,
    WithLeaves,
    Distributed,
    AsBound,
}

impl Ways {
    fn new(world: &World) -> Ways {
        let over = |config| {
            session::context_with(config, Arc::default()).expect("DataFusion has the rules")
        };
        let context = |partitions| over(session::config().with_target_partitions(partitions));
        let optimised = context(2);
        let mut config = session::config().with_target_partitions(2);
        undivide(config.options_mut());
        // A plan with DISTINCT or coalesce cannot run before these rules; the others are what is tested.
        let mut rules = optimised.state().optimizer().rules.clone();
        rules.retain(|rule| rule.name() == session::DISTINCT_RULE);
        rules.push(Arc::new(CoalesceAsCase));
        let mut physical = optimised.state().physical_optimizers().to_vec();
        physical.retain(|rule| !rule.name().starts_with("FilterPushdown"));
        let unpushed = SessionStateBuilder::new_from_existing(context(2).state())
            .with_physical_optimizer_rules(physical.clone())
            .build();
        let state = SessionStateBuilder::new_from_existing(context(1).state())
            .with_optimizer_rules(rules)
            .with_physical_optimizer_rules(physical)
            .build();
        let (distributed, others) = world.distributed();
        Ways {
            distributed,
            others,
            optimised,
            unpushed: SessionContext::new_with_state(unpushed),
            undivided: over(config),
            as_bound: SessionContext::new_with_state(state),
        }
    }

    /// The rows of `text`. `Err` where it is refused or fails; both are answers that ways must agree on.
    async fn rows(
        &self,
        text: &str,
        catalog: &dyn Catalog,
        way: Way,
    ) -> std::result::Result<Rows, String> {
        let parsed = hindsight_kql_syntax::parse(text);
        if let Some(error) = parsed.diagnostics.first() {
            return Err(format!("refused {error}"));
        }
        let context = match way {
            Way::AsBound => &self.as_bound,
            Way::Optimised | Way::WithLeaves => &self.optimised,
            Way::Unpushed => &self.unpushed,
            Way::Undivided => &self.undivided,
            Way::Distributed => &self.distributed,
        };
        let mut bound = hindsight_kql::bind(&parsed.query, catalog, &BindOptions::default())
            .map_err(|errors| format!("refused {:?}", errors.first()))?;
        if way == Way::WithLeaves {
            bound = bound.with_leaves(&StoreLeaves).map_err(|e| e.to_string())?;
        }
        let tables = run::collect(bound, context)
            .await
            .map_err(|e| e.to_string())?;
        let mut rows = Rows::new();
        for table in &tables {
            for batch in &table.batches {
                let columns = batch.columns().iter().zip(&table.columns);
                let texts: Vec<_> = columns
                    .map(|(array, column)| (array, to_text(array, column.kind).expect("texts")))
                    .collect();
                for row in 0..batch.num_rows() {
                    let cell =
                        |(array, text): &(&Arc<dyn Array>, arrow::array::StringViewArray)| {
                            if array.is_null(row) {
                                "null".to_owned()
                            } else {
                                format!("{:?}", text.value(row))
                            }
                        };
                    let line: Vec<String> = texts.iter().map(cell).collect();
                    *rows.entry(line.join(" | ")).or_default() += 1;
                }
            }
        }
        Ok(rows)
    }
}

/// The engine computes `coalesce` only after its simplifier has made it a `CASE`.
#[derive(Debug)]
struct CoalesceAsCase;

impl OptimizerRule for CoalesceAsCase {
    fn name(&self) -> &str {
        "coalesce as case"
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        plan.transform_up_with_subqueries(|node| {
            let rewritten = node.map_expressions(|expr| {
                let name = expr.schema_name().to_string();
                let rewritten = expr.transform_up(as_case)?;
                Ok(
                    if rewritten.transformed && rewritten.data.schema_name().to_string() != name {
                        Transformed::yes(rewritten.data.alias(name))
                    } else {
                        rewritten
                    },
                )
            })?;
            if rewritten.transformed {
                rewritten.map_data(LogicalPlan::recompute_schema)
            } else {
                Ok(rewritten)
            }
        })
    }
}

fn as_case(expr: Expr) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(call) = &expr else {
        return Ok(Transformed::no(expr));
    };
    let Some((last, others)) = call
        .args
        .split_last()
        .filter(|_| call.func.name() == "coalesce")
    else {
        return Ok(Transformed::no(expr));
    };
    let nested = others.iter().rev().try_fold(last.clone(), |rest, value| {
        when(value.clone().is_not_null(), value.clone()).otherwise(rest)
    });
    nested.map(Transformed::yes)
}

/// What differs between two bags of rows.
fn difference(one: &Rows, other: &Rows) -> Option<String> {
    let keys = one.keys().chain(other.keys());
    let count = |rows: &Rows, key: &String| rows.get(key).copied().unwrap_or(0);
    let lines: Vec<String> = keys
        .filter(|key| count(one, key) != count(other, key))
        .take(6)
        .map(|key| {
            format!(
                "  {} times and {} times: {key}",
                count(one, key),
                count(other, key)
            )
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What two ways agree on.
enum Agreed {
    Rows(Rows),
    /// Both fail.
    Failure,
    /// It is no valid query.
    Refusal,
}

/// What the optimised plan and a second way agree on, or how they differ.
async fn agreed(
    ways: &Ways,
    whole: &str,
    catalog: &dyn Catalog,
    second: Way,
) -> std::result::Result<Agreed, String> {
    let all = ways.rows(whole, catalog, Way::Optimised).await;
    let again = ways.rows(whole, catalog, second).await;
    if let Err(error) = &all
        && fails_to_plan(error)
    {
        return Err(format!("{error}\n{whole}"));
    }
    match (all, again) {
        (Err(error), _) | (_, Err(error)) if error.starts_with("refused") => {
            match std::env::var_os("HINDSIGHT_RANDOM_SHOW_REFUSED") {
                Some(_) => Err(format!("{error}\n{whole}")),
                None => Ok(Agreed::Refusal),
            }
        }
        // A plan that nobody optimised may be one that the engine cannot finish; it is never run elsewhere.
        (Ok(all), Err(error)) if fails_to_plan(&error) && second == Way::AsBound => {
            Ok(Agreed::Rows(all))
        }
        // A run-time failure must not depend on the plan; which of two failures comes first may.
        (Err(_), Err(_)) => Ok(Agreed::Failure),
        (Ok(all), Ok(again)) => match difference(&all, &again) {
            Some(lines) => Err(format!("optimised and {second:?} differ\n{lines}\n{whole}")),
            None => Ok(Agreed::Rows(all)),
        },
        (all, again) => {
            let (all, again) = (all.err(), again.err());
            Err(format!(
                "only one of two fails\noptimised {all:?}\n{second:?} {again:?}\n{whole}"
            ))
        }
    }
}

/// What is wrong with a query, if anything; `Ok(false)` where it is no valid query.
async fn judge(
    ways: &Ways,
    query: &Query,
    catalog: &dyn Catalog,
    leaves: bool,
) -> std::result::Result<bool, String> {
    let whole = format!("{}{}", query.tables, query.rows);
    let seconds: &[Way] = if leaves {
        &[
            Way::Distributed,
            Way::Unpushed,
            Way::Undivided,
            Way::WithLeaves,
        ]
    } else {
        &[Way::Undivided, Way::AsBound]
    };
    let mut all = Rows::new();
    for second in seconds {
        match agreed(ways, &whole, catalog, *second).await? {
            Agreed::Rows(rows) => all = rows,
            Agreed::Failure => return Ok(true),
            Agreed::Refusal => return Ok(false),
        }
    }
    let way = if leaves {
        Way::WithLeaves
    } else {
        Way::Optimised
    };
    out_of_order(ways, query, catalog, way).await?;
    order_with_its_keys(ways, query, catalog, way).await?;
    let p = &query.predicate;
    let mut parts = Rows::new();
    for condition in [p.clone(), format!("not({p})"), format!("isnull({p})")] {
        let text = format!("{whole}\n| where {condition}");
        match ways.rows(&text, catalog, way).await {
            Ok(rows) => rows
                .into_iter()
                .for_each(|(row, n)| *parts.entry(row).or_default() += n),
            Err(error) if error.starts_with("refused") => return Ok(false),
            Err(error) => return Err(format!("{error}\n{text}")),
        }
    }
    match difference(&all, &parts) {
        Some(lines) => Err(format!(
            "the rows are not those of p, not(p) and isnull(p)\n{lines}\n{whole}\np: {p}"
        )),
        None => Ok(true),
    }
}

/// Fails where a row stands before the row that it belongs behind, in the order of any column.
async fn out_of_order(
    ways: &Ways,
    query: &Query,
    catalog: &dyn Catalog,
    way: Way,
) -> std::result::Result<(), String> {
    for c in &query.ordered {
        for (order, wrong) in [
            (
                "asc",
                format!("{c} < before or isnull({c}) and isnotnull(before)"),
            ),
            (
                "desc",
                format!("{c} > before or isnotnull({c}) and isnull(before)"),
            ),
        ] {
            let text = format!(
                "{}{}\n| sort by {c} {order} | extend before = prev({c}), number = row_number() | where number > 1 and ({wrong})",
                query.tables, query.rows
            );
            match ways.rows(&text, catalog, way).await {
                Ok(rows) if rows.is_empty() => {}
                Err(error) if error.starts_with("refused") => {}
                Ok(rows) => return Err(format!("out of order {:?}\n{text}", rows.keys().next())),
                Err(error) => return Err(format!("{error}\n{text}")),
            }
        }
    }
    Ok(())
}

/// Steps that keep the order of rows with a column `c`.
const KEEP_ORDER: [&str; 5] = [
    "extend z = 1",
    "where isnull(c) or tostring(c) != 'x'",
    "take 5",
    "mv-expand z = pack_array(1, 2) to typeof(long)",
    "extend t = tostring(c) | parse t with t '-' * | project c",
];

/// Fails where rows are in another order once its keys are dropped.
async fn order_with_its_keys(
    ways: &Ways,
    query: &Query,
    catalog: &dyn Catalog,
    way: Way,
) -> std::result::Result<(), String> {
    let Some(c) = query.ordered.last() else {
        return Ok(());
    };
    // Rows that are the same in all of these are the same rows.
    let columns = query.ordered.join(", ");
    let keys = query.ordered.join(" asc, ");
    let sorted = format!(
        "{}{}\n| project {columns} | sort by {keys} desc",
        query.tables, query.rows
    );
    let step = KEEP_ORDER[query.rows.len() % KEEP_ORDER.len()];
    let dropped =
        format!("{sorted} | project c = {c} | {step} | extend m = row_number() | project c, m");
    let kept = format!(
        "{sorted} | extend number = row_number() | extend c = {c} | {} | sort by number asc | extend m = row_number() | project c, m",
        step.replace("project c", "project c, number")
    );
    let one = ways.rows(&dropped, catalog, way).await;
    let other = ways.rows(&kept, catalog, way).await;
    match (one, other) {
        (Ok(one), Ok(other)) => match difference(&one, &other) {
            Some(lines) => Err(format!(
                "the order is lost with its keys\n{lines}\n{dropped}"
            )),
            None => Ok(()),
        },
        (Err(error), _) | (_, Err(error)) if error.starts_with("refused") => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (one, other) => Err(format!(
            "only one of two fails\n{one:?}\n{other:?}\n{dropped}"
        )),
    }
}

fn fails_to_plan(error: &str) -> bool {
    error.starts_with("SanityCheckPlan")
}

/// Runs the queries of so many seeds, and fails with all that is wrong.
async fn run_all(make: impl Fn(&mut Choice) -> Query, world: &World, leaves: bool) {
    let first = from_environment("HINDSIGHT_RANDOM_SEED", 0);
    let count = from_environment("HINDSIGHT_RANDOM_QUERIES", IN_TESTS);
    let (ways, catalog) = (Ways::new(world), world.catalog());
    let (mut valid, mut wrong) = (0, Vec::new());
    for seed in first..first + count {
        let query = make(&mut Choice::new(seed));
        match judge(&ways, &query, &catalog, leaves).await {
            Ok(true) => valid += 1,
            Ok(false) => {}
            Err(what) => wrong.push(format!("seed {seed}: {what}")),
        }
        if wrong.len() >= 20 {
            break;
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} are wrong",
        wrong.join("\n\n"),
        wrong.len()
    );
    assert!(
        valid * 10 >= count * 9,
        "only {valid} of {count} queries are valid"
    );
    let requested = ways.others.requested.load(Ordering::SeqCst) as u64;
    assert!(
        !leaves || requested * 2 >= count,
        "{requested} parts of {count} queries ran at other nodes"
    );
}

#[tokio::test]
async fn random_queries_over_written_tables() {
    let world = World::new().await;
    run_all(query::over_tables, &world, false).await;
}

#[tokio::test]
async fn random_queries_over_segments() {
    let world = World::new().await;
    let over = |choice: &mut Choice| query::over(world::source(), world::aggregated(), choice);
    run_all(over, &world, true).await;
}

/// Queries over segments whose ways differed.
const FOUND: [&str; 1] = [
    // The filter that DataFusion derived from the minimum of a column left out rows that the maximum of an expression needs.
    "requests | summarize low = min(resultCode), high = max(coalesce(tostring(customDimensions.size), tostring(customDimensions.region)))",
];

#[tokio::test]
async fn what_random_queries_found_stays_mended() {
    let world = World::new().await;
    let (ways, catalog) = (Ways::new(&world), world.catalog());
    for query in FOUND {
        let unpushed = ways.rows(query, &catalog, Way::Unpushed).await;
        assert!(unpushed.is_ok(), "{query}");
        for way in [Way::Optimised, Way::Distributed, Way::WithLeaves] {
            assert_eq!(ways.rows(query, &catalog, way).await, unpushed, "{query}");
        }
    }
}
