//! The state of binding one request.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::request::Request;
use super::result_name::AggregateNames;
use crate::context::{Env, Frame, Pending};
use crate::query::BoundResult;
use crate::relation::{Relation, Scalar};
use crate::steps::Step;

/// Binds the statements of one request.
///
/// Each part of the state has its own lifetime: the request never changes; the frame and the state of the expression
/// change with the place that is being bound, by [`Binder::within`] and its kin alone, which restore what was there; the
/// output grows.
pub(crate) struct Binder<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) frame: Frame,
    pub(crate) expression: ExpressionState,
    pub(crate) output: Output,
}

/// The state of the expressions of the operator being bound.
#[derive(Debug, Default)]
pub(crate) struct ExpressionState {
    /// Calls that the operator's input must compute first.
    pub(crate) pending: Pending,
    /// What aggregate calls see; none where they are not allowed.
    pub(crate) aggregates: Option<AggregateContext>,
}

/// What an aggregate call inside an expression may see.
#[derive(Debug)]
pub(crate) struct AggregateContext {
    pub(crate) input: Arc<Relation>,
    /// The input's columns that are keys: `*` leaves them out.
    pub(crate) keys: Arc<[String]>,
    /// How many calls were bound.
    pub(crate) calls: usize,
    /// The names of the calls that were bound so far.
    pub(crate) names: AggregateNames,
}

/// What binding has made so far, and what it took.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) results: Vec<BoundResult>,
    pub(crate) steps: Vec<Step>,
    /// The tables that are read, by name.
    pub(crate) tables: Vec<String>,
    /// How many steps were numbered so far.
    pub(crate) step_ids: usize,
    /// How many times rows were asked for.
    pub(crate) discoveries: usize,
    /// The rows that binding cannot go on without.
    pub(crate) needed: Option<Needed>,
    /// `toscalar` calls outside functions that have a step already, by their place.
    pub(crate) pinned: HashMap<(u32, u32), Scalar>,
    /// How many expressions were bound so far.
    pub(crate) work: usize,
}

/// The rows that a binder stopped at.
#[derive(Debug)]
pub(crate) struct Needed {
    pub(crate) plan: LogicalPlan,
    pub(crate) schema: SchemaRef,
}

impl<'a> Binder<'a> {
    /// A binder that knows no names yet.
    pub(crate) fn new(request: &'a Request<'a>) -> Binder<'a> {
        Binder {
            request,
            frame: Frame::default(),
            expression: ExpressionState::default(),
            output: Output::default(),
        }
    }

    /// Runs `body` with `value` in the place of a part of the state, and puts back what was there, whatever `body`
    /// answers. Also gives what the part was at the end.
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

    /// Runs `body` at another place.
    pub(crate) fn within<T>(&mut self, frame: Frame, body: impl FnOnce(&mut Self) -> T) -> T {
        self.replacing(|binder| &mut binder.frame, frame, body).0
    }

    /// Runs `body` where other names are visible.
    pub(crate) fn with_names<T>(&mut self, names: Env, body: impl FnOnce(&mut Self) -> T) -> T {
        self.within(self.frame.with_names(names), body)
    }

    /// Runs `body` with expressions of its own: what those of the operator around it wait for stays theirs.
    pub(crate) fn with_own_expressions<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let own = ExpressionState::default();
        self.replacing(|binder| &mut binder.expression, own, body).0
    }

    /// Runs `body` with what aggregate calls see there, and gives what became of it.
    pub(crate) fn with_aggregates<T>(
        &mut self,
        context: Option<AggregateContext>,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (T, Option<AggregateContext>) {
        self.replacing(|binder| &mut binder.expression.aggregates, context, body)
    }

    /// Runs `body` for what it says alone: its steps are not run.
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

    /// The diagnostic of a construct that the language has and this service has not.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.frame.unsupported(what, span)
    }
}
