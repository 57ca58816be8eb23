//! Classifies an expression as tabular or scalar. The grammar does not decide it; names and calls do.

use std::sync::Arc;

use hindsight_kql_syntax::ast::{
    Call, Expr, ExprKind, FunctionDeclaration, LetValue, Literal, ParameterType, Statement,
};

use super::names::{Entry, Env, UserFunction};

/// `Pattern('x')`, `Pattern('x').path` or `Pattern('x').['path']`.
pub(crate) struct Invocation<'e> {
    pub(crate) call: &'e Call,
    pub(crate) path: Option<&'e str>,
}

/// The pattern invocation that an expression denotes, if it is one.
pub(crate) fn invocation<'e>(expr: &'e Expr, env: &Env) -> Option<Invocation<'e>> {
    let (value, path) = match &expr.kind {
        ExprKind::Member { value, member } => (&**value, Some(member.text.as_str())),
        ExprKind::Index { value, index } => match &index.kind {
            ExprKind::Literal(Literal::String(path)) => (&**value, Some(path.as_str())),
            _ => return None,
        },
        _ => (expr, None),
    };
    match &value.kind {
        ExprKind::Call(call) => match env.find(&call.function.text) {
            Some((Entry::Pattern(_), _)) => Some(Invocation { call, path }),
            _ => None,
        },
        _ => None,
    }
}

/// Whether `expr` is tabular with these names in scope.
pub(crate) fn is_tabular(expr: &Expr, env: &Env) -> bool {
    if invocation(expr, env).is_some() {
        return true;
    }
    match &expr.kind {
        ExprKind::Parenthesised(inner) => is_tabular(inner, env),
        ExprKind::Pipe(_)
        | ExprKind::DataTable(_)
        | ExprKind::ExternalData(_)
        | ExprKind::Source(_) => true,
        ExprKind::Name(name) => match env.find(&name.text) {
            Some((
                Entry::Tabular(_) | Entry::Relation(_) | Entry::Graph(_) | Entry::TabularMarker,
                _,
            )) => true,
            Some((Entry::Function(function), _)) => function.tabular,
            Some(_) => false,
            None => true,
        },
        ExprKind::Call(call) => match env.find(&call.function.text) {
            Some((Entry::Function(function), _)) => function.tabular,
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

/// The entry of a function's name; `seen` are the names in scope at its definition.
pub(crate) fn function_entry(function: &FunctionDeclaration, seen: &Env) -> Entry {
    Entry::Function(Arc::new(UserFunction {
        tabular: gives_rows(function, seen),
        declaration: function.clone(),
    }))
}

/// Whether a function is tabular: whether its last statement is, with its parameters and local lets in scope.
fn gives_rows(function: &FunctionDeclaration, seen: &Env) -> bool {
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
                    LetValue::Expr(expr) if is_tabular(expr, &env) => Entry::TabularMarker,
                    LetValue::Expr(_) => Entry::ScalarMarker,
                    LetValue::Function(inner) => function_entry(inner, &env),
                    LetValue::EntityGroup(_) => continue,
                };
                env = env.with(&item.name.text, entry);
            }
            Statement::Expression(expr) => return is_tabular(expr, &env),
            _ => {}
        }
    }
    false
}
