//! The state of binding one request.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::errors::Errors;
use super::request::Request;
use super::result_name::AggregateNames;
use crate::context::{Env, Frame, Pending};
use crate::query::BoundResult;
use crate::relation::{Relation, Scalar};
use crate::steps::Step;

/// Binds the statements of one request.
///
/// Each part of the state has its own lifetime. The request never changes. The frame and the expression state belong to the
/// place that is being bound; only [`Binder::within`] and related methods replace them, and restore them afterwards. The
/// output accumulates.
pub(crate) struct Binder<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) frame: Frame,
    pub(crate) expression: ExpressionState,
    pub(crate) output: Output,
}

/// The state of the expressions of the operator that is being bound.
#[derive(Debug, Default)]
pub(crate) struct ExpressionState {
    /// Calls that must be computed over the operator's input first.
    pub(crate) pending: Pending,
    /// The context of aggregate calls; none if they are not allowed.
    pub(crate) aggregates: Option<AggregateContext>,
}

/// The context of an aggregate call inside an expression.
#[derive(Debug)]
pub(crate) struct AggregateContext {
    pub(crate) input: Arc<Relation>,
    /// The columns of the input that are keys; `*` excludes them.
    pub(crate) keys: Arc<[String]>,
    /// The number of calls bound so far.
    pub(crate) calls: usize,
    /// The names of the calls bound so far.
    pub(crate) names: AggregateNames,
}

/// The output of binding so far, and the counters that limit it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) results: Vec<BoundResult>,
    pub(crate) steps: Vec<Step>,
    /// The tables that are read, by name.
    pub(crate) tables: Vec<String>,
    /// The number of step ids assigned so far.
    pub(crate) step_ids: usize,
    /// The number of requests for rows so far.
    pub(crate) discoveries: usize,
    /// The rows that binding needs before it can continue.
    pub(crate) needed: Option<Needed>,
    /// The existing steps of `toscalar` calls outside functions, by position in the query.
    pub(crate) pinned: HashMap<(u32, u32), Scalar>,
    /// The number of expressions bound so far.
    pub(crate) work: usize,
    /// The errors found so far.
    pub(crate) errors: Errors,
}

/// The rows that a binder needs before it can continue.
#[derive(Debug)]
pub(crate) struct Needed {
    pub(crate) plan: LogicalPlan,
    pub(crate) schema: SchemaRef,
}

impl<'a> Binder<'a> {
    /// Creates a binder without names in scope.
    pub(crate) fn new(request: &'a Request<'a>) -> Binder<'a> {
        Binder {
            request,
            frame: Frame::default(),
            expression: ExpressionState::default(),
            output: Output::default(),
        }
    }

    /// Runs `body` with one part of the state replaced by `value` and restores that part afterwards, also if `body` fails.
    /// Also returns the value of the part at the end of `body`.
    fn replacing<S, T>(
        &mut self,
        part: impl Fn(&mut Self) -> &mut S,
        value: S,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (T, S) {
        let outer = std::mem::replace(part(self), value);
        let result = body(self);
        let inner = std::mem::replace(part(self), outer);
        (result, inner)
    }

    /// Runs `body` in another frame.
    pub(crate) fn within<T>(&mut self, frame: Frame, body: impl FnOnce(&mut Self) -> T) -> T {
        self.replacing(|binder| &mut binder.frame, frame, body).0
    }

    /// Runs `body` with other names in scope.
    pub(crate) fn with_names<T>(&mut self, names: Env, body: impl FnOnce(&mut Self) -> T) -> T {
        self.within(self.frame.with_names(names), body)
    }

    /// Runs `body` with an expression state of its own. Pending calls of the enclosing operator are unaffected.
    pub(crate) fn with_own_expressions<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let own = ExpressionState::default();
        self.replacing(|binder| &mut binder.expression, own, body).0
    }

    /// Runs `body` with an aggregate context and returns the context afterwards.
    pub(crate) fn with_aggregates<T>(
        &mut self,
        context: Option<AggregateContext>,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<AggregateContext>) {
        self.replacing(|binder| &mut binder.expression.aggregates, context, body)
    }

    /// Runs `body` only for its diagnostics; its steps are discarded.
    pub(crate) fn without_steps<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let steps = self.output.steps.len();
        let result = body(self);
        self.output.steps.truncate(steps);
        result
    }

    /// A diagnostic whose message begins with the operator being bound.
    pub(crate) fn error(&self, code: Code, message: impl AsRef<str>, span: Span) -> Diagnostic {
        self.frame.error(code, message, span)
    }

    /// The diagnostic of a KQL construct that is not implemented.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.frame.unsupported(what, span)
    }
}
