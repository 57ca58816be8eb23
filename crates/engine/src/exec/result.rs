//! From plans to result tables: names, columns, how to show them, what was read.

use arrow::record_batch::RecordBatch;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::physical_plan::ExecutionPlan;
use hindsight_kql::BoundResult;
use hindsight_kql_syntax::ast::{
    Expr, ExprKind, Literal, OperatorKind, Query, RenderOperator, Statement,
};

use crate::result::{RenderInfo, ResultColumn, ResultTable, Statistics};

/// A result that ends in `getschema` has the operator's name (`api-facts.md §3`).
pub(super) fn name_schemas(query: &Query, tables: &mut [ResultTable]) {
    let results: Vec<&Expr> = query
        .statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Expression(expr) => Some(expr),
            _ => None,
        })
        .collect();
    // Forks and facets give several tables for one statement; those keep their own names.
    if results.len() != tables.len() {
        return;
    }
    for (expr, table) in results.into_iter().zip(tables) {
        if let ExprKind::Pipe(pipeline) = &expr.unparenthesised().kind
            && let Some(last) = pipeline.operators.last()
            && matches!(last.kind, OperatorKind::GetSchema(_))
        {
            table.name = "getschema".to_owned();
        }
    }
}

/// The table of a result.
pub(super) fn table(index: usize, result: BoundResult, batches: Vec<RecordBatch>) -> ResultTable {
    let first = if index == 0 {
        "PrimaryResult".to_owned()
    } else {
        format!("Table_{index}")
    };
    ResultTable {
        name: result.name.unwrap_or(first),
        columns: result
            .columns
            .into_iter()
            .map(|c| ResultColumn {
                name: c.name,
                kind: c.kind,
            })
            .collect(),
        batches,
    }
}

/// How a result is shown that does not say.
pub(super) fn table_render() -> RenderInfo {
    RenderInfo {
        visualization: "table".to_owned(),
        ..RenderInfo::default()
    }
}

/// How a result wants to be shown.
pub(super) fn render(result: &BoundResult) -> RenderInfo {
    let Some(node) = &result.render else {
        return RenderInfo {
            is_query_sorted: result.sorted,
            ..table_render()
        };
    };
    RenderInfo {
        visualization: node.kind.text.clone(),
        properties: properties(node),
        is_query_sorted: result.sorted,
    }
}

fn properties(node: &RenderOperator) -> Vec<(String, String)> {
    let property = |p: &hindsight_kql_syntax::ast::RenderProperty| {
        let values: Vec<String> = p.values.iter().map(word).collect();
        (p.name.text.clone(), values.join(", "))
    };
    node.properties.iter().map(property).collect()
}

fn word(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Literal(Literal::String(text)) => text.clone(),
        _ => expr.to_string(),
    }
}

/// Adds what the leaves of an executed plan read.
pub(super) fn scanned(plan: &dyn ExecutionPlan, statistics: &mut Statistics) {
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
