//! Binds the operators of a pipeline, and results.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Operator, RenderOperator};

use super::binder::Binder;
use crate::context::{Bound, Entry, Frame};
use crate::error::BindResult;
use crate::operators;
use crate::query::BoundResult;
use crate::relation::Relation;

impl Binder<'_> {
    /// Binds one operator over `input`; the first operator of a pipeline gets [`Relation::unit`].
    pub(crate) fn bind_operator(
        &mut self,
        operator: &Operator,
        mut input: Bound,
    ) -> BindResult<Bound> {
        // The operator may bind further results; the earlier ones precede them.
        self.output.results.append(&mut input.extra_results);
        let frame = Frame {
            operator: Some(operator.kind.keyword().into()),
            ..self.frame.clone()
        };
        let mut bound = self.within(frame, |binder| operators::bind(operator, input, binder))?;
        if let Some(name) = bound.defines.take() {
            let rows = Entry::Relation(bound.relation.clone());
            self.frame.names = self.frame.names.with(name, rows);
        }
        Ok(bound)
    }

    /// Makes a result of rows.
    pub(crate) fn result(
        &self,
        name: Option<String>,
        relation: Relation,
        render: Option<RenderOperator>,
        span: Span,
    ) -> BindResult<BoundResult> {
        let relation = self.with_result_options(relation.finish(span)?, span)?;
        Ok(BoundResult {
            name,
            sorted: relation.serialized,
            columns: relation.columns,
            plan: relation.plan,
            render,
        })
    }
}
