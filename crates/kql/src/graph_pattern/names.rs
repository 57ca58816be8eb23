//! The names of the result columns (`docs/semantics.md §25`).

use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Name, NamedExpr};

use super::elements::Elements;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::free_name;

/// The names of the columns of `project`, which are distinct. An explicit name stays as it is.
///
/// # Errors
/// An explicit name that stands twice, or several names for one expression.
pub(crate) fn column_names(
    items: &[NamedExpr],
    elements: &Elements,
    binder: &dyn BindContext,
) -> BindResult<Vec<String>> {
    let mut explicit: Vec<&str> = Vec::new();
    for name in items.iter().flat_map(|item| item.names.first()) {
        if explicit.contains(&name.text.as_str()) {
            let message = format!("duplicate column name '{}'", name.text);
            return Err(binder.error(Code::DuplicateColumn, message, name.span()));
        }
        explicit.push(&name.text);
    }
    let mut names: Vec<String> = Vec::new();
    let mut numbered = 0;
    for item in items {
        let name = match item.names.as_slice() {
            [name] => name.text.clone(),
            [_, second, ..] => {
                let message = "the expression has one column and more names were given";
                return Err(binder.error(Code::Semantics, message, second.span()));
            }
            [] => {
                let name = name_of(&item.expr, elements, binder).unwrap_or_else(|| {
                    numbered += 1;
                    format!("Column{numbered}")
                });
                free_name(&name, |n| {
                    explicit.contains(&n) || names.iter().any(|known| known == n)
                })
            }
        };
        names.push(name);
    }
    Ok(names)
}

/// The name of an expression's column; none if it is numbered.
fn name_of(expr: &Expr, elements: &Elements, binder: &dyn BindContext) -> Option<String> {
    match &expr.kind {
        ExprKind::Call(call) => match call.function.text.as_str() {
            "map" => map_name(call),
            "labels" => {
                let [argument] = call.arguments.as_slice() else {
                    return None;
                };
                Some(format!("labels_{}", argument.value.as_name()?))
            }
            "all" | "any" | "node_id" | "node_degree_in" | "node_degree_out" => None,
            _ => binder.result_name(&without_variables(expr, elements)),
        },
        ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Index { .. } => {
            binder.result_name(expr)
        }
        _ => binder.result_name(&without_variables(expr, elements)),
    }
}

/// `map(p, w)` gives `p_w`, and `map(inner_nodes(p), f(…))` gives `inner_nodes_p_Column`.
fn map_name(call: &Call) -> Option<String> {
    let [path, value] = call.arguments.as_slice() else {
        return None;
    };
    let path = match &path.value.unparenthesised().kind {
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Call(inner) => {
            let edge = inner.arguments.first()?.value.as_name()?;
            format!("{}_{edge}", inner.function.text)
        }
        _ => return None,
    };
    let value = value.value.as_name().unwrap_or("Column");
    Some(format!("{path}_{value}"))
}

/// The expression with `variable.property` replaced by `property`, as the official binder names calls.
fn without_variables(expr: &Expr, elements: &Elements) -> Expr {
    if let ExprKind::Member { value, member } = &expr.kind
        && let Some(name) = value.as_name()
        && elements.find(name).is_some()
    {
        let name = Name::new(&member.text, member.span());
        return Expr::new(ExprKind::Name(name), expr.span);
    }
    let mapped: Result<Expr, std::convert::Infallible> =
        expr.try_map_operands(&mut |operand| Ok(without_variables(operand, elements)));
    mapped.unwrap_or_else(|never| match never {})
}
