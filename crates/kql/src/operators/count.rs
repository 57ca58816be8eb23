//! `count`: one row with the number of rows (`docs/semantics.md §15.9`).

use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::CountOperator;
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::summarize;
use crate::context::{BindContext, Bound, BoundAggregate};
use crate::error::BindResult;
use crate::relation::Relation;

impl TabularOperator for CountOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::OneRow,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &CountOperator,
    input: Relation,
    _binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let name = node.name.as_ref().map_or("Count", |n| n.text.as_str());
    let count = BoundAggregate {
        name: name.to_owned(),
        expr: count_udaf().call(vec![lit(1_i64)]),
        kind: ScalarType::Long,
    };
    summarize::aggregated(input, Vec::new(), vec![count], span)
}
