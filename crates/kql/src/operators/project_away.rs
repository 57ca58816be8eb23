//! `project-away`: all columns but the listed (`semantics.md §15.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ProjectAwayOperator;

use crate::bind::{BindResult, Binder};
use crate::plan::{self, columns_matching, pass, visible};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &ProjectAwayOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let mut away = Vec::new();
    for expr in &node.columns {
        away.extend(columns_matching(expr, &input, binder)?);
    }
    let columns = visible(&input)
        .filter(|c| !away.contains(c))
        .map(pass)
        .collect();
    plan::project(input, columns, span)
}
