//! `narrow`: one row for each cell.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, Operator};

use super::args::Args;
use super::tree::{name, named, run};
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
    let text = |value: Expr| Expr::call("tostring", [value]);
    let cells = visible(&input).map(|c| {
        let value = text(Expr::name(&c.name));
        Expr::call("pack_array", [Expr::string(&c.name), value])
    });
    let cells = Expr::call("pack_array", cells);
    let part = |index| text(name("$cell").index(Expr::long(index)));
    let operators = vec![
        Operator::serialize(vec![named(
            "$row",
            Expr::call("row_number", [Expr::long(0)]),
        )]),
        Operator::mv_expand(named("$cell", cells), None),
        Operator::project(vec![
            named("Row", name("$row")),
            named("Column", part(0)),
            named("Value", part(1)),
        ]),
    ];
    run(operators, input, binder, span)
}
