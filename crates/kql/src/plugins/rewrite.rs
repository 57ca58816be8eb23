//! Plug-ins that say in the language itself what they do.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, ExprKind, Literal, Name, Statement};

use crate::bind::{BindResult, Binder};
use crate::operators::fork::run;
use crate::relation::Relation;

/// Runs the operators written in `text` (`where … | project …`) over `input`.
pub(crate) fn rewrite(
    text: &str,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let parsed = hindsight_kql_syntax::parse(&format!("input | {text}"));
    if let Some(error) = parsed.diagnostics.first() {
        return Err(binder.error("SEM0001", error.message.clone(), span));
    }
    let expr = parsed.query.statements.into_iter().find_map(|s| match s {
        Statement::Expression(Expr {
            kind: ExprKind::Pipe(pipeline),
            ..
        }) => Some(pipeline),
        _ => None,
    });
    match expr {
        Some(pipeline) => run(&pipeline.operators, input, binder)
            .map(|(relation, _)| relation)
            .map_err(|error| hindsight_kql_syntax::Diagnostic { span, ..error }),
        None => Ok(input),
    }
}

/// A name as the language writes it.
pub(crate) fn name(text: &str) -> String {
    Name::synthetic(text).to_string()
}

/// A text as the language writes it.
pub(crate) fn text(text: &str) -> String {
    Expr::synthetic(ExprKind::Literal(Literal::String(text.to_owned()))).to_string()
}
