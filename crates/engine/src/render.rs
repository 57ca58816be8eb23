//! How a result is rendered.

use hindsight_kql::BoundResult;
use hindsight_kql_syntax::ast::{Expr, ExprKind, Literal, RenderOperator, RenderProperty};

use crate::result::RenderInfo;

/// What a query says that says nothing.
pub(crate) fn table() -> RenderInfo {
    RenderInfo {
        visualization: "table".to_owned(),
        ..RenderInfo::default()
    }
}

/// What a result says of itself.
pub(crate) fn of(result: &BoundResult) -> RenderInfo {
    let Some(node) = &result.render else {
        return RenderInfo {
            is_query_sorted: result.sorted,
            ..table()
        };
    };
    RenderInfo {
        visualization: node.kind.text.clone(),
        properties: properties(node),
        is_query_sorted: result.sorted,
    }
}

fn properties(node: &RenderOperator) -> Vec<(String, String)> {
    let property = |p: &RenderProperty| {
        let values: Vec<String> = p.values.iter().map(word).collect();
        (p.name.text.clone(), values.join(", "))
    };
    let mut properties: Vec<(String, String)> = node.properties.iter().map(property).collect();
    if !node.by.is_empty() {
        let names: Vec<&str> = node.by.iter().map(|name| name.text.as_str()).collect();
        properties.push(("by".to_owned(), names.join(", ")));
    }
    properties
}

fn word(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Literal(Literal::String(text)) => text.clone(),
        _ => expr.to_string(),
    }
}
