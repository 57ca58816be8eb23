//! A metric plan as a KQL syntax tree.
//!
//! The rows of the query have the columns `bin` (with an interval), `d0`, `d1`, … for the dimensions, `a0`, `a1`, … for the
//! aggregations, `o` for the order, and `n` for how many rows of telemetry there were.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{
    BinaryOp, Expr, ExprKind, ExtendOperator, Literal, Operator, OperatorKind, OperatorParameter,
    Query, SummarizeOperator, UnionOperator,
};

use hindsight_kql_types::ScalarType;
use hindsight_store::{Column, Table};

use super::metric::{Aggregation, MetricSource, PEOPLE_TABLES, RowFilter};
use super::request::MetricPlan;
use crate::odata::balanced;
use crate::tree::{
    all, binary, call, filter, key, literal, name, named, operator, pipe, query, string, within,
};

/// The query of `plan`.
pub(crate) fn to_kql(plan: &MetricPlan) -> Query {
    let (source, mut operators) = source(plan);
    if let Some(predicate) = &plan.filter {
        operators.push(filter(predicate.clone()));
    }
    operators.push(summarize(plan));
    query(pipe(source, operators))
}

/// The rows of the metric: its tables, cut to the time, and what makes a row count.
fn source(plan: &MetricPlan) -> (Expr, Vec<Operator>) {
    let within = || filter(within(plan.range));
    let table = |table: &str| (name(table), vec![within()]);
    let also = |(source, mut operators): (Expr, Vec<Operator>), predicate: Expr| {
        operators.push(filter(predicate));
        (source, operators)
    };
    let equals = |column: &str, text: &str| binary(BinaryOp::Equal, name(column), string(text));
    match &plan.metric.source {
        MetricSource::Items {
            table: from,
            filter,
        } => match filter {
            RowFilter::All => table(from),
            RowFilter::Failed => also(table(from), equals("success", "False")),
            RowFilter::Browser => also(table(from), equals("client_Type", "Browser")),
            RowFilter::Server => also(
                table(from),
                binary(BinaryOp::NotEqual, name("client_Type"), string("Browser")),
            ),
        },
        MetricSource::Column {
            table: from,
            column,
        } => also(table(from), call("isnotnull", vec![name(column)])),
        MetricSource::Distinct { column } => also(
            (union(PEOPLE_TABLES), vec![within()]),
            call("isnotempty", vec![name(column)]),
        ),
        MetricSource::AvailabilityPercentage => table("availabilityResults"),
        MetricSource::TelemetryItems | MetricSource::TelemetrySize => {
            (union(&Table::ALL.map(Table::name)), vec![within()])
        }
        MetricSource::Counter {
            windows,
            name: short,
        } => {
            let by_name = equals("name", short);
            let by_pair = match windows {
                Some((category, counter)) => all(vec![
                    equals("category", category),
                    equals("counter", counter),
                ]),
                None => equals("counter", short),
            };
            also(
                table("performanceCounters"),
                binary(BinaryOp::Or, by_pair, by_name),
            )
        }
        MetricSource::CustomMetric { name: metric } => {
            also(table("customMetrics"), equals("name", metric))
        }
        MetricSource::Measurement { key: k } | MetricSource::Bare { name: k } => {
            let (source, mut operators) = table("customEvents");
            let value = call("todouble", vec![key(name("customMeasurements"), k)]);
            operators.push(operator(OperatorKind::Extend(ExtendOperator {
                columns: vec![named("measured", value)],
            })));
            also(
                (source, operators),
                call("isnotnull", vec![name("measured")]),
            )
        }
    }
}

fn union(tables: &[&str]) -> Expr {
    let node = UnionOperator {
        parameters: Vec::<OperatorParameter>::new(),
        tables: tables.iter().map(|t| name(t)).collect(),
    };
    Expr::new(
        ExprKind::Source(Box::new(operator(OperatorKind::Union(node)))),
        Span::default(),
    )
}

fn summarize(plan: &MetricPlan) -> Operator {
    let mut by = Vec::new();
    if let Some(interval) = plan.interval {
        by.push(named(
            "bin",
            call(
                "bin",
                vec![name("timestamp"), literal(Literal::TimeSpan(interval))],
            ),
        ));
    }
    for (i, dimension) in plan.segments.iter().enumerate() {
        by.push(named(&format!("d{i}"), dimension.to_kql()));
    }
    let mut aggregates: Vec<_> = plan
        .aggregations
        .iter()
        .enumerate()
        .map(|(i, aggregation)| {
            named(
                &format!("a{i}"),
                aggregate(&plan.metric.source, *aggregation),
            )
        })
        .collect();
    aggregates.push(named("o", aggregate(&plan.metric.source, plan.order)));
    aggregates.push(named("n", call("count", Vec::new())));
    operator(OperatorKind::Summarize(SummarizeOperator {
        parameters: Vec::new(),
        aggregates,
        has_by: !by.is_empty(),
        by,
    }))
}

/// What `aggregation` means for a source; the catalogue has checked that it is supported.
fn aggregate(source: &MetricSource, aggregation: Aggregation) -> Expr {
    let sum = |value: Expr| call("sum", vec![value]);
    let ratio = |a: Expr, b: Expr| binary(BinaryOp::Divide, a, b);
    let weighted = |column: &str| {
        let product = binary(BinaryOp::Multiply, name(column), name("itemCount"));
        measured(
            aggregation,
            name(column),
            sum(product),
            sum(name("itemCount")),
        )
    };
    match source {
        MetricSource::Items { .. } => sum(name("itemCount")),
        MetricSource::Column { column, .. } => weighted(column),
        MetricSource::Measurement { .. } | MetricSource::Bare { .. } => weighted("measured"),
        MetricSource::Distinct { column } => call("dcount", vec![name(column)]),
        MetricSource::AvailabilityPercentage if aggregation == Aggregation::Count => {
            sum(name("itemCount"))
        }
        MetricSource::AvailabilityPercentage => {
            let passed = binary(BinaryOp::Equal, name("success"), string("1"));
            let percent = |value: f64| literal(Literal::Real(value));
            ratio(
                sum(call("iff", vec![passed, percent(100.0), percent(0.0)])),
                call("count", Vec::new()),
            )
        }
        MetricSource::TelemetryItems => sum(call(
            "coalesce",
            vec![name("itemCount"), literal(Literal::Int(1))],
        )),
        MetricSource::TelemetrySize => sum(size_as_text()),
        MetricSource::Counter { .. } => measured(
            aggregation,
            name("value"),
            sum(name("value")),
            call("count", vec![]),
        ),
        MetricSource::CustomMetric { .. } => match aggregation {
            Aggregation::Min => call("min", vec![name("valueMin")]),
            Aggregation::Max => call("max", vec![name("valueMax")]),
            Aggregation::Unique => call("dcount", vec![name("value")]),
            other => measured(
                other,
                name("value"),
                sum(name("valueSum")),
                sum(name("valueCount")),
            ),
        },
    }
}

/// The columns that the service adds and does not bill.
const NOT_BILLED: &[&str] = &["itemId", "itemType", "_ResourceId"];

/// The bytes of an item: a record's billed size is that of its columns as text. Columns of other tables are empty in it.
fn size_as_text() -> Expr {
    let mut billed: Vec<&Column> = Vec::new();
    for column in Table::ALL.iter().flat_map(|table| table.columns()) {
        let known = billed.iter().any(|known| known.name == column.name);
        if !known && !NOT_BILLED.contains(&column.name) {
            billed.push(column);
        }
    }
    let size = |column: &Column| {
        let text = match column.scalar_type {
            ScalarType::String => name(column.name),
            _ => call("tostring", vec![name(column.name)]),
        };
        call("string_size", vec![text])
    };
    balanced(BinaryOp::Add, billed.into_iter().map(size).collect())
}

fn measured(aggregation: Aggregation, value: Expr, total: Expr, weight: Expr) -> Expr {
    match aggregation {
        Aggregation::Avg => binary(BinaryOp::Divide, total, weight),
        Aggregation::Sum => total,
        Aggregation::Count => weight,
        Aggregation::Min => call("min", vec![value]),
        Aggregation::Max => call("max", vec![value]),
        Aggregation::Unique => call("dcount", vec![value]),
    }
}
