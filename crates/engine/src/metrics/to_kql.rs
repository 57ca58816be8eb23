//! A metric plan as a KQL syntax tree.
//!
//! The rows of the query have the columns `bin` (with an interval), `d0`, `d1`, … for the dimensions, `a0`, `a1`, … for the
//! aggregations, `o` for the order, and `n` for how many rows of telemetry there were.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{
    BinaryOp, Expr, ExprKind, ExtendOperator, Literal, NamedExpr, Operator, OperatorKind,
    OperatorParameter, Query, SummarizeOperator, UnionOperator,
};

use hindsight_kql_types::ScalarType;
use hindsight_store::{Column, Table};

use super::catalogue::{Aggregation, MetricSource, PEOPLE_TABLES, RowFilter};
use super::request::MetricPlan;
use crate::odata::balanced;

/// The query of `plan`.
pub(crate) fn to_kql(plan: &MetricPlan) -> Query {
    let (source, mut operators) = source(plan);
    if let Some(predicate) = &plan.filter {
        operators.push(Operator::filter(predicate.clone()));
    }
    operators.push(summarize(plan));
    Query::of(Expr::pipeline(source, operators))
}

/// The rows of the metric: its tables, cut to the time, and what makes a row count.
fn source(plan: &MetricPlan) -> (Expr, Vec<Operator>) {
    let within = || Operator::filter(plan.range.to_kql());
    let table = |table: &str| (Expr::name(table), vec![within()]);
    let also = |(source, mut operators): (Expr, Vec<Operator>), predicate: Expr| {
        operators.push(Operator::filter(predicate));
        (source, operators)
    };
    let equals = |column: &str, text: &str| {
        Expr::binary(BinaryOp::Equal, Expr::name(column), Expr::string(text))
    };
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
                Expr::binary(
                    BinaryOp::NotEqual,
                    Expr::name("client_Type"),
                    Expr::string("Browser"),
                ),
            ),
        },
        MetricSource::Column {
            table: from,
            column,
        } => also(
            table(from),
            Expr::call("isnotnull", vec![Expr::name(*column)]),
        ),
        MetricSource::Distinct { column } => also(
            (union(PEOPLE_TABLES), vec![within()]),
            Expr::call("isnotempty", vec![Expr::name(*column)]),
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
                Some((category, counter)) => Expr::all(vec![
                    equals("category", category),
                    equals("counter", counter),
                ]),
                None => equals("counter", short),
            };
            also(
                table("performanceCounters"),
                Expr::binary(BinaryOp::Or, by_pair, by_name),
            )
        }
        MetricSource::CustomMetric { name: metric } => {
            also(table("customMetrics"), equals("name", metric))
        }
        MetricSource::Measurement { key: k } | MetricSource::Bare { name: k } => {
            let (source, mut operators) = table("customEvents");
            let value = Expr::call(
                "todouble",
                vec![Expr::key(Expr::name("customMeasurements"), k)],
            );
            operators.push(Operator::synthetic(OperatorKind::Extend(ExtendOperator {
                columns: vec![NamedExpr::named("measured", value)],
            })));
            also(
                (source, operators),
                Expr::call("isnotnull", vec![Expr::name("measured")]),
            )
        }
    }
}

fn union(tables: &[&str]) -> Expr {
    let node = UnionOperator {
        parameters: Vec::<OperatorParameter>::new(),
        tables: tables.iter().map(|t| Expr::name(*t)).collect(),
    };
    Expr::new(
        ExprKind::Source(Box::new(Operator::synthetic(OperatorKind::Union(node)))),
        Span::default(),
    )
}

fn summarize(plan: &MetricPlan) -> Operator {
    let mut by = Vec::new();
    if let Some(interval) = plan.interval {
        by.push(NamedExpr::named(
            "bin",
            Expr::call(
                "bin",
                vec![
                    Expr::name("timestamp"),
                    Expr::literal(Literal::TimeSpan(interval)),
                ],
            ),
        ));
    }
    for (i, dimension) in plan.segments.iter().enumerate() {
        by.push(NamedExpr::named(format!("d{i}"), dimension.to_kql()));
    }
    let mut aggregates: Vec<_> = plan
        .aggregations
        .iter()
        .enumerate()
        .map(|(i, aggregation)| {
            NamedExpr::named(
                format!("a{i}"),
                aggregate(&plan.metric.source, *aggregation),
            )
        })
        .collect();
    aggregates.push(NamedExpr::named(
        "o",
        aggregate(&plan.metric.source, plan.order),
    ));
    aggregates.push(NamedExpr::named("n", Expr::call("count", Vec::new())));
    Operator::synthetic(OperatorKind::Summarize(SummarizeOperator {
        parameters: Vec::new(),
        aggregates,
        has_by: !by.is_empty(),
        by,
    }))
}

/// What `aggregation` means for a source; the catalogue has checked that it is supported.
fn aggregate(source: &MetricSource, aggregation: Aggregation) -> Expr {
    let sum = |value: Expr| Expr::call("sum", vec![value]);
    let ratio = |a: Expr, b: Expr| Expr::binary(BinaryOp::Divide, a, b);
    let weighted = |column: &str| {
        let product = Expr::binary(
            BinaryOp::Multiply,
            Expr::name(column),
            Expr::name("itemCount"),
        );
        measured(
            aggregation,
            Expr::name(column),
            sum(product),
            sum(Expr::name("itemCount")),
        )
    };
    match source {
        MetricSource::Items { .. } => sum(Expr::name("itemCount")),
        MetricSource::Column { column, .. } => weighted(column),
        MetricSource::Measurement { .. } | MetricSource::Bare { .. } => weighted("measured"),
        MetricSource::Distinct { column } => Expr::call("dcount", vec![Expr::name(*column)]),
        MetricSource::AvailabilityPercentage if aggregation == Aggregation::Count => {
            sum(Expr::name("itemCount"))
        }
        MetricSource::AvailabilityPercentage => {
            let passed = Expr::binary(BinaryOp::Equal, Expr::name("success"), Expr::string("1"));
            let percent = |value: f64| Expr::literal(Literal::Real(value));
            ratio(
                sum(Expr::call(
                    "iff",
                    vec![passed, percent(100.0), percent(0.0)],
                )),
                Expr::call("count", Vec::new()),
            )
        }
        MetricSource::TelemetryItems => sum(Expr::call(
            "coalesce",
            vec![Expr::name("itemCount"), Expr::literal(Literal::Int(1))],
        )),
        MetricSource::TelemetrySize => sum(size_as_text()),
        MetricSource::Counter { .. } => measured(
            aggregation,
            Expr::name("value"),
            sum(Expr::name("value")),
            Expr::call("count", vec![]),
        ),
        MetricSource::CustomMetric { .. } => match aggregation {
            Aggregation::Min => Expr::call("min", vec![Expr::name("valueMin")]),
            Aggregation::Max => Expr::call("max", vec![Expr::name("valueMax")]),
            Aggregation::Unique => Expr::call("dcount", vec![Expr::name("value")]),
            other => measured(
                other,
                Expr::name("value"),
                sum(Expr::name("valueSum")),
                sum(Expr::name("valueCount")),
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
            ScalarType::String => Expr::name(column.name),
            _ => Expr::call("tostring", vec![Expr::name(column.name)]),
        };
        Expr::call("string_size", vec![text])
    };
    balanced(BinaryOp::Add, billed.into_iter().map(size).collect())
}

fn measured(aggregation: Aggregation, value: Expr, total: Expr, weight: Expr) -> Expr {
    match aggregation {
        Aggregation::Avg => Expr::binary(BinaryOp::Divide, total, weight),
        Aggregation::Sum => total,
        Aggregation::Count => weight,
        Aggregation::Min => Expr::call("min", vec![value]),
        Aggregation::Max => Expr::call("max", vec![value]),
        Aggregation::Unique => Expr::call("dcount", vec![value]),
    }
}
