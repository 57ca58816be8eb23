//! The interface between the binder and the operators.
//!
//! Operators, plug-ins and window functions use the binder through [`BindContext`] and import nothing of `bind`. The binder
//! passes itself to them, so imports have one direction.

mod access;
mod bound;
mod classify;
mod frame;
mod names;
mod pending;
mod unresolved;
mod wildcard;

use std::sync::Arc;

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, NamedExpr, Operator, Statement};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::Value;

use crate::catalog::{Catalog, TableScope};
use crate::error::BindResult;
use crate::held::HeldRows;
use crate::query::BoundResult;
use crate::relation::{Relation, Scalar};

pub(crate) use access::Access;
pub(crate) use bound::{Bound, BoundAggregate, BoundColumn, NamingMode};
pub(crate) use classify::{Invocation, function_entry, invocation, is_tabular, names_a_scope};
pub(crate) use frame::Frame;
pub(crate) use names::{ACCESS, Entry, Env, UserFunction, alias_name};
pub(crate) use pending::Pending;
pub(crate) use unresolved::{unknown_column, unknown_function, unknown_table};
pub(crate) use wildcard::wildcard_matches;

/// The services of the binder that operators use.
pub(crate) trait BindContext {
    /// The current frame.
    fn frame(&self) -> &Frame;

    /// Replaces the frame and returns the previous one. Only `within` calls this, and it restores the frame.
    fn replace_frame(&mut self, frame: Frame) -> Frame;

    /// The calls that must be computed for the expressions of the current operator.
    fn pending(&mut self) -> &mut Pending;

    /// The catalog of tables.
    fn catalog(&self) -> &dyn Catalog;

    /// Binds a scalar expression that may read the columns of `input`.
    fn bind_scalar(&mut self, expr: &Expr, input: &Relation) -> BindResult<Scalar>;

    /// Binds the predicate of a filter. It is true for exactly the rows for which the KQL expression is true.
    fn bind_predicate(&mut self, expr: &Expr, input: &Relation) -> BindResult<PlanExpr>;

    /// Binds a list of columns (`project`, `extend`, keys of `summarize`, …) and names them.
    fn bind_projection(
        &mut self,
        items: &[NamedExpr],
        input: &Relation,
        mode: NamingMode,
    ) -> BindResult<Vec<BoundColumn>>;

    /// The name of the column of an expression without an explicit name; `None` if the column is numbered.
    fn result_name(&self, expr: &Expr) -> Option<String>;

    /// Binds aggregates over `input`. Their names are distinct from those of `keys` and from each other.
    fn bind_aggregates(
        &mut self,
        items: &[NamedExpr],
        keys: &[BoundColumn],
        input: &Relation,
    ) -> BindResult<Vec<BoundAggregate>>;

    /// The value of an expression that must be a constant: a literal, or an expression that folds to one.
    fn bind_constant(&mut self, expr: &Expr) -> BindResult<Value>;

    /// The value of an expression that reads no row, also if it is known only during execution (`toscalar`).
    fn value_now(&mut self, expr: &Expr) -> BindResult<Value>;

    /// `base.step` for bound operands.
    fn access(&self, base: Scalar, step: Scalar, span: Span) -> BindResult<Scalar>;

    /// Whether `expr`, which may read the columns of `input`, is tabular here.
    fn is_tabular(&self, expr: &Expr, input: Option<&Relation>) -> bool;

    /// Binds a tabular expression inside an operator. Its additional results become results of the request.
    fn bind_tabular(&mut self, expr: &Expr) -> BindResult<Bound>;

    /// Binds one operator over `input`.
    fn bind_operator(&mut self, operator: &Operator, input: Bound) -> BindResult<Bound>;

    /// Binds the statements of a body: lets, then one tabular expression.
    fn bind_statements(&mut self, body: &[Statement], span: Span) -> BindResult<Bound>;

    /// Calls a user-defined tabular function; `piped` is its first argument.
    fn call_tabular_function(
        &mut self,
        call: &Call,
        function: &UserFunction,
        seen: Env,
        piped: Relation,
        span: Span,
    ) -> BindResult<Bound>;

    /// `app('x')`, `cluster('c').database('d')`, …
    fn bind_scope(&mut self, expr: &Expr) -> BindResult<TableScope>;

    /// The rows of a table within the request's timespan.
    fn bind_table(&mut self, scope: &TableScope, name: &str, span: Span) -> BindResult<Relation>;

    /// Whether the preceding statements permit reading a table here.
    fn may_read(&self, scope: &TableScope, table: &str) -> bool;

    /// Evaluates the rows once and reads them from memory.
    fn materialize(&mut self, relation: Relation, span: Span) -> BindResult<Relation>;

    /// The rows of `input` during binding, and a relation that reads the same rows.
    fn discover(&mut self, input: Relation, span: Span) -> BindResult<(Relation, Arc<HeldRows>)>;

    /// Reports an error after which binding continues.
    ///
    /// # Errors
    /// The same error if binding cannot continue.
    fn report(&mut self, error: Diagnostic) -> BindResult<()>;

    /// The first error that was reported.
    fn reported(&self) -> Option<&Diagnostic>;

    /// Runs `body`, whose failure is no error of the request: it reports nothing.
    fn attempt(
        &mut self,
        body: &mut dyn FnMut(&mut dyn BindContext) -> BindResult<()>,
    ) -> BindResult<()>;

    /// Makes a result of rows, with the `set` options applied.
    fn result(
        &self,
        name: Option<String>,
        relation: Relation,
        span: Span,
    ) -> BindResult<BoundResult>;

    /// A constant integer.
    fn constant_long(&mut self, expr: &Expr) -> BindResult<i64> {
        match self.bind_constant(expr)? {
            Value::Int(v) => Ok(i64::from(v)),
            Value::Long(v) => Ok(v),
            other => Err(self.frame().error(
                Code::BadRowCount,
                format!("the value must be an integer and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// A constant string.
    fn constant_string(&mut self, expr: &Expr) -> BindResult<String> {
        match self.bind_constant(expr)? {
            Value::String(v) => Ok(v),
            other => Err(self.frame().error(
                Code::NotStringLiteral,
                format!("the value must be a string literal and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// A constant bool.
    fn constant_bool(&mut self, expr: &Expr) -> BindResult<bool> {
        match self.bind_constant(expr)? {
            Value::Bool(v) => Ok(v),
            Value::Long(v) => Ok(v != 0),
            other => Err(self.frame().error(
                Code::NotConstant,
                format!("the value must be a bool and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// The keyword that is the value of an operator's parameter (`kind=inner`): a bare name or a string.
    fn constant_word(&mut self, expr: &Expr) -> BindResult<String> {
        match &expr.unparenthesised().kind {
            ExprKind::Name(name) => Ok(name.text.clone()),
            _ => self.constant_string(expr),
        }
    }
}

impl<'c> dyn BindContext + 'c {
    /// A diagnostic whose message begins with the operator being bound.
    pub(crate) fn error(&self, code: Code, message: impl AsRef<str>, span: Span) -> Diagnostic {
        self.frame().error(code, message, span)
    }

    /// The diagnostic of a KQL construct that is not implemented.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.frame().unsupported(what, span)
    }

    /// Runs `body` in another frame and restores the frame afterwards, also if `body` fails.
    pub(crate) fn within<T>(
        &mut self,
        frame: Frame,
        body: impl FnOnce(&mut (dyn BindContext + 'c)) -> T,
    ) -> T {
        let outer = self.replace_frame(frame);
        let result = body(self);
        self.replace_frame(outer);
        result
    }
}
