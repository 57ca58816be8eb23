//! `narrow`: a row for each cell.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::rewrite::{name, rewrite, text};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::visible;
use crate::relation::Relation;

pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    Args::new(call).end(binder, span)?;
    let cells: Vec<String> = visible(&input)
        .map(|c| format!("pack_array({}, tostring({}))", text(&c.name), name(&c.name)))
        .collect();
    let operators = format!(
        "serialize ['$row'] = row_number(0) | mv-expand ['$cell'] = pack_array({}) \
         | project Row = ['$row'], Column = tostring(['$cell'][0]), Value = tostring(['$cell'][1])",
        cells.join(", ")
    );
    rewrite(&operators, input, binder, span)
}
