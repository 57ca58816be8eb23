//! Plug-ins that say in the language itself what they do.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, ExprKind, Literal, Name, Statement};

use crate::context::{BindContext, Entry};
use crate::error::BindResult;
use crate::relation::Relation;
use crate::subtables::pipeline;

/// Runs the operators written in `text` (`where … | project …`) over `input`.
pub(crate) fn rewrite(
    text: &str,
    input: Relation,
    binder: &mut dyn BindContext,
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
        Some(written) => pipeline::run(&written.operators, input.into(), binder)
            .map(|bound| bound.relation)
            .map_err(|error| hindsight_kql_syntax::Diagnostic { span, ..error }),
        None => Ok(input),
    }
}

/// Runs the operators written in `text` over `input`; they may read `tables` by name.
pub(crate) fn rewrite_with(
    text: &str,
    input: Relation,
    tables: Vec<(&str, Relation)>,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let names = tables
        .into_iter()
        .fold(binder.frame().names.clone(), |names, (name, rows)| {
            names.with(name, Entry::Relation(rows))
        });
    let frame = binder.frame().with_names(names);
    binder.within(frame, |binder| rewrite(text, input, binder, span))
}

/// A name as the language writes it.
pub(crate) fn name(text: &str) -> String {
    Name::synthetic(text).to_string()
}

/// A text as the language writes it.
pub(crate) fn text(text: &str) -> String {
    Expr::synthetic(ExprKind::Literal(Literal::String(text.to_owned()))).to_string()
}
