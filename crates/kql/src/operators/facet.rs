//! `facet`: the values of each column with their counts, a result each (`semantics.md §23.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, FacetOperator, Name, NamedExpr};

use super::fork::run;
use super::summarize;
use crate::bind::{BindResult, Binder};
use crate::plan;
use crate::plan::repeatable;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &FacetOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    plan::refuse_groups(&input, binder, span)?;
    let input = repeatable::for_many(input, binder, span)?;
    let mut results = Vec::new();
    for column in &node.columns {
        let name = plan::column_named(column, &input, binder)?.name.clone();
        let call = Call {
            function: Name::new("count", span),
            arguments: vec![],
        };
        let count = NamedExpr {
            names: vec![Name::new(format!("count_{name}"), span)],
            tuple: false,
            expr: Expr::new(ExprKind::Call(call), span),
        };
        let key = NamedExpr {
            names: vec![],
            tuple: false,
            expr: column.clone(),
        };
        results.push(summarize::summarize(
            &[count],
            &[key],
            input.clone(),
            binder,
            span,
        )?);
    }
    if let Some(with) = &node.with {
        results.push(run(with, input.clone(), binder)?.0);
    }
    // The last result is the pipeline's own, so that results stand in the order of the text.
    let Some(last) = results.pop() else {
        return Ok(input);
    };
    for relation in results {
        binder.add_result(None, relation, None, span)?;
    }
    Ok(last)
}
