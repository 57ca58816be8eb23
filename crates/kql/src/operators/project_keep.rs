//! `project-keep`: the listed columns in the input's order (`semantics.md §15.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ProjectKeepOperator;

use crate::bind::{BindResult, Binder};
use crate::plan::{self, columns_matching, pass, visible};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &ProjectKeepOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let mut keep = Vec::new();
    for expr in &node.columns {
        keep.extend(columns_matching(expr, &input, binder)?);
    }
    let columns = visible(&input)
        .filter(|c| keep.contains(c))
        .map(pass)
        .collect();
    plan::project(input, columns, span)
}
