//! Implements [`crate::context::BindContext`] for the binder.

use std::sync::Arc;

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{Call, Expr, NamedExpr, Operator, Statement};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::Value;

use super::binder::Binder;
use super::result_name::result_name;
use crate::catalog::{Catalog, TableScope};
use crate::context::{
    BindContext, Bound, BoundAggregate, BoundColumn, Env, Frame, NamingMode, Pending, UserFunction,
};
use crate::error::BindResult;
use crate::held::HeldRows;
use crate::query::BoundResult;
use crate::random::RandomSource;
use crate::relation::{Relation, Scalar};

impl BindContext for Binder<'_> {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn replace_frame(&mut self, frame: Frame) -> Frame {
        std::mem::replace(&mut self.frame, frame)
    }

    fn pending(&mut self) -> &mut Pending {
        &mut self.expression.pending
    }

    fn catalog(&self) -> &dyn Catalog {
        self.request.catalog
    }

    fn random(&self) -> RandomSource {
        self.request.random()
    }

    fn bind_scalar(&mut self, expr: &Expr, input: &Relation) -> BindResult<Scalar> {
        self.bind_scalar(expr, input)
    }

    fn bind_predicate(&mut self, expr: &Expr, input: &Relation) -> BindResult<PlanExpr> {
        self.bind_predicate(expr, input)
    }

    fn bind_projection(
        &mut self,
        items: &[NamedExpr],
        input: &Relation,
        mode: NamingMode,
    ) -> BindResult<Vec<BoundColumn>> {
        self.bind_projection(items, input, mode)
    }

    fn result_name(&self, expr: &Expr) -> Option<String> {
        result_name(expr)
    }

    fn bind_aggregates(
        &mut self,
        items: &[NamedExpr],
        keys: &[BoundColumn],
        input: &Relation,
    ) -> BindResult<Vec<BoundAggregate>> {
        self.bind_aggregates(items, keys, input)
    }

    fn bind_constant(&mut self, expr: &Expr) -> BindResult<Value> {
        self.bind_scalar(expr, &Relation::unit())?
            .constant
            .ok_or_else(|| {
                self.error(
                    Code::NotConstant,
                    "the value must be a scalar constant",
                    expr.span,
                )
            })
    }

    fn value_now(&mut self, expr: &Expr) -> BindResult<Value> {
        self.value_now(expr)
    }

    fn access(&self, base: Scalar, step: Scalar, span: Span) -> BindResult<Scalar> {
        self.access(base, step, span)
    }

    fn is_tabular(&self, expr: &Expr, input: Option<&Relation>) -> bool {
        self.is_tabular(expr, input)
    }

    fn bind_tabular(&mut self, expr: &Expr) -> BindResult<Bound> {
        self.bind_inner_tabular(expr)
    }

    fn bind_operator(&mut self, operator: &Operator, input: Bound) -> BindResult<Bound> {
        self.bind_operator(operator, input)
    }

    fn bind_statements(&mut self, body: &[Statement], span: Span) -> BindResult<Bound> {
        self.bind_statements(body, span)
    }

    fn call_tabular_function(
        &mut self,
        call: &Call,
        function: &UserFunction,
        seen: Env,
        piped: Relation,
        span: Span,
    ) -> BindResult<Bound> {
        self.call_tabular_function(call, function, seen, Some(piped), span)
    }

    fn bind_scope(&mut self, expr: &Expr) -> BindResult<TableScope> {
        self.bind_scope(expr)
    }

    fn bind_table(&mut self, scope: &TableScope, name: &str, span: Span) -> BindResult<Relation> {
        self.bind_table(scope, name, span)
    }

    fn may_read(&self, scope: &TableScope, table: &str) -> bool {
        self.may_read(scope, table)
    }

    fn materialize(&mut self, relation: Relation, span: Span) -> BindResult<Relation> {
        self.materialize(relation, span)
    }

    fn discover(&mut self, input: Relation, span: Span) -> BindResult<(Relation, Arc<HeldRows>)> {
        self.discover(input, span)
    }

    fn report(&mut self, error: Diagnostic) -> BindResult<()> {
        self.report(error)
    }

    fn reported(&self) -> Option<&Diagnostic> {
        self.output.errors.first()
    }

    fn attempt(
        &mut self,
        body: &mut dyn FnMut(&mut dyn BindContext) -> BindResult<()>,
    ) -> BindResult<()> {
        self.attempt(|binder| body(binder))
    }

    fn result(
        &self,
        name: Option<String>,
        relation: Relation,
        span: Span,
    ) -> BindResult<BoundResult> {
        self.result(name, relation, None, span)
    }
}
