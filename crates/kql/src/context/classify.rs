//! Whether an expression is tabular: the grammar does not say, names and calls decide.

use hindsight_kql_syntax::ast::{
    Expr, ExprKind, FunctionDeclaration, LetValue, ParameterType, Statement,
};

use super::names::{Entry, Env};
use crate::bind::{Binder, bare_name, invocation};
use crate::relation::Relation;

/// How deep calls of calls are looked through.
const MAX_DEPTH: usize = 32;

impl Binder<'_> {
    /// Whether `expr`, which may read the columns of `input`, is tabular here.
    pub(crate) fn is_tabular(&self, expr: &Expr, input: Option<&Relation>) -> bool {
        if let (Some(name), Some(input)) = (bare_name(expr), input)
            && input.column(name).is_some()
        {
            return false;
        }
        tabular(expr, &self.env, 0)
    }
}

fn tabular(expr: &Expr, env: &Env, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    if invocation(expr, env).is_some() {
        return true;
    }
    match &expr.kind {
        ExprKind::Parenthesised(inner) => tabular(inner, env, depth),
        ExprKind::Pipe(_)
        | ExprKind::DataTable(_)
        | ExprKind::ExternalData(_)
        | ExprKind::Source(_) => true,
        ExprKind::Name(name) => match env.find(&name.text) {
            Some((Entry::Tabular(_) | Entry::Relation(_) | Entry::TabularMarker, _)) => true,
            Some((Entry::Function(function), seen)) => function_is_tabular(function, seen, depth),
            Some(_) => false,
            None => true,
        },
        ExprKind::Call(call) => match env.find(&call.function.text) {
            Some((Entry::Function(function), seen)) => function_is_tabular(function, seen, depth),
            _ => matches!(call.function.text.as_str(), "materialize" | "table"),
        },
        ExprKind::Member { value, .. } | ExprKind::MemberCall { value, .. } => names_a_scope(value),
        _ => false,
    }
}

/// `app('x')`, `cluster('c').database('d')`, …
pub(crate) fn names_a_scope(expr: &Expr) -> bool {
    match &expr.unparenthesised().kind {
        ExprKind::Call(call) => matches!(
            call.function.text.as_str(),
            "app" | "workspace" | "resource" | "database" | "cluster"
        ),
        ExprKind::MemberCall { value, call } => {
            call.function.text == "database" && names_a_scope(value)
        }
        _ => false,
    }
}

/// Whether a function gives rows: its last statement, seen with its parameters and local lets.
pub(crate) fn function_is_tabular(
    function: &FunctionDeclaration,
    seen: &Env,
    depth: usize,
) -> bool {
    let mut env = seen.block();
    for parameter in &function.parameters {
        let entry = match parameter.kind {
            ParameterType::Scalar(_) => Entry::ScalarMarker,
            ParameterType::AnyTable | ParameterType::Table(_) => Entry::TabularMarker,
        };
        env = env.with(&parameter.name.text, entry);
    }
    for statement in &function.body {
        match statement {
            Statement::Let(item) => {
                let entry = match &item.value {
                    LetValue::Expr(expr) if tabular(expr, &env, depth + 1) => Entry::TabularMarker,
                    LetValue::Expr(_) => Entry::ScalarMarker,
                    LetValue::Function(inner) => {
                        Entry::Function(std::sync::Arc::new(inner.clone()))
                    }
                    LetValue::EntityGroup(_) => continue,
                };
                env = env.with(&item.name.text, entry);
            }
            Statement::Expression(expr) => return tabular(expr, &env, depth + 1),
            _ => {}
        }
    }
    false
}
