//! `assert-schema`: the rows as they are, where the columns are those written (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::AssertSchemaOperator;

use crate::bind::{BindResult, Binder};
use crate::plan::visible;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &AssertSchemaOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let written = node.columns.iter().map(|c| (c.name.text.as_str(), c.kind));
    let actual = visible(&input).map(|c| (c.name.as_str(), c.kind));
    if written.eq(actual) {
        return Ok(input);
    }
    let columns: Vec<String> = visible(&input)
        .map(|c| format!("{}:{}", c.name, c.kind))
        .collect();
    Err(binder.error(
        "SEM0001",
        format!(
            "the schema is not the asserted one; it is ({})",
            columns.join(", ")
        ),
        span,
    ))
}
