//! The errors of a request. Binding continues after an error wherever the error leaves the meaning of the rest defined, so that a
//! request reports all independent errors at once.
//!
//! A consequence of an error is not reported again: a name that an error leaves undefined gives the same error wherever it is
//! used, and each error is reported once.

use std::collections::HashMap;

use hindsight_kql_syntax::ast::{Expr, NamedExpr};
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::binder::Binder;
use super::result_name::result_name;
use crate::error::BindResult;
use crate::relation::{Relation, Scalar};

/// The most errors that are reported of one request.
const MAX_ERRORS: usize = 50;

/// The errors of a request so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors {
    /// In the order in which they were found.
    reported: Vec<Diagnostic>,
    /// The names that an error leaves undefined, each with its error.
    undefined: HashMap<String, Diagnostic>,
    /// Whether the request exceeds a limit or was cancelled: binding does not continue.
    fatal: bool,
}

impl Errors {
    /// The first error that was reported.
    pub(crate) fn first(&self) -> Option<&Diagnostic> {
        self.reported.first()
    }

    /// Ends binding at the next error.
    pub(crate) fn end(&mut self) {
        self.fatal = true;
    }

    /// The errors in the order of the text.
    pub(crate) fn in_order(mut self) -> Vec<Diagnostic> {
        self.reported
            .sort_by_key(|error| (error.span.start, error.span.end));
        self.reported
    }

    fn report(&mut self, error: &Diagnostic) {
        let place = |error: &Diagnostic| (error.code, error.span.start, error.span.end);
        let known =
            |other: &Diagnostic| place(other) == place(error) && other.message == error.message;
        if !self.reported.iter().any(known) {
            self.reported.push(error.clone());
        }
    }
}

impl Binder<'_> {
    /// Reports an error after which binding continues.
    ///
    /// # Errors
    /// The same error if binding cannot continue: it needs rows, or a limit is exceeded.
    pub(crate) fn report(&mut self, error: Diagnostic) -> BindResult<()> {
        if self.output.needed.is_some() {
            return Err(error);
        }
        let errors = &mut self.output.errors;
        errors.report(&error);
        if errors.fatal || errors.reported.len() >= MAX_ERRORS {
            return Err(error);
        }
        Ok(())
    }

    /// As [`Binder::report`], for an error that leaves names undefined.
    pub(crate) fn report_undefined<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n str>,
        error: Diagnostic,
    ) -> BindResult<()> {
        for name in names {
            self.undefined(name, &error);
        }
        self.report(error)
    }

    /// As [`Binder::report`], for an error in an item of a list of columns.
    pub(crate) fn report_item(&mut self, item: &NamedExpr, error: Diagnostic) -> BindResult<()> {
        let own = if item.names.is_empty() {
            result_name(&item.expr)
        } else {
            None
        };
        let written = item.names.iter().map(|name| name.text.as_str());
        self.report_undefined(written.chain(own.as_deref()), error)
    }

    /// The error of a name that cannot be resolved: the error that leaves it undefined if there is one, or `error`.
    pub(crate) fn unresolved(&mut self, name: &str, error: Diagnostic) -> Diagnostic {
        self.undefined(name, &error);
        self.consequence(name, error)
    }

    /// The error of a name that cannot be used here: the error that leaves it undefined if there is one, or `error`.
    pub(crate) fn consequence(&self, name: &str, error: Diagnostic) -> Diagnostic {
        let earlier = self.output.errors.undefined.get(name);
        earlier.cloned().unwrap_or(error)
    }

    fn undefined(&mut self, name: &str, error: &Diagnostic) {
        // A request that needs rows has no error.
        if self.output.needed.is_none() {
            let undefined = &mut self.output.errors.undefined;
            undefined
                .entry(name.to_owned())
                .or_insert_with(|| error.clone());
        }
    }

    /// Runs `body`, whose failure is no error of the request: it reports nothing.
    pub(crate) fn attempt<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        let before = self.output.errors.clone();
        let result = body(self);
        let mut after = std::mem::replace(&mut self.output.errors, before);
        let failed = after.reported.len() > self.output.errors.reported.len();
        self.output.errors.fatal |= after.fatal;
        match result {
            Ok(_) if failed => Err(after
                .reported
                .swap_remove(self.output.errors.reported.len())),
            result => result,
        }
    }

    /// Binds scalar expressions. An expression with an error does not hide the errors of those after it.
    ///
    /// # Errors
    /// The error of the first expression that has one.
    pub(crate) fn bind_scalars<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        input: &Relation,
    ) -> BindResult<Vec<Scalar>> {
        self.each(exprs, |binder, expr| binder.bind_scalar(expr, input))
    }

    /// Binds two operands. An error in the left one does not hide those in the right one.
    pub(crate) fn bind_both(
        &mut self,
        left: &Expr,
        right: &Expr,
        input: &Relation,
    ) -> BindResult<(Scalar, Scalar)> {
        self.both(
            |binder| binder.bind_scalar(left, input),
            |binder| binder.bind_scalar(right, input),
        )
    }

    /// Runs `first` and `second`. An error of the first one does not hide those of the second one.
    ///
    /// # Errors
    /// The error of the first one that has one.
    pub(crate) fn both<A, B>(
        &mut self,
        first: impl FnOnce(&mut Self) -> BindResult<A>,
        second: impl FnOnce(&mut Self) -> BindResult<B>,
    ) -> BindResult<(A, B)> {
        let first = first(self);
        if let Err(error) = &first {
            self.report(error.clone())?;
        }
        match (first, second(self)) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(first), Err(second)) => {
                self.report(second)?;
                Err(first)
            }
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        }
    }

    /// Runs `bind` for each item. An item with an error does not hide the errors of those after it.
    ///
    /// # Errors
    /// The error of the first item that has one.
    pub(crate) fn each<I, T>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut bind: impl FnMut(&mut Self, I) -> BindResult<T>,
    ) -> BindResult<Vec<T>> {
        let mut bound = Vec::new();
        let mut failure = None;
        for item in items {
            match bind(self, item) {
                Ok(value) => bound.push(value),
                Err(error) => {
                    self.report(error.clone())?;
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(bound), Err)
    }

    /// The error with which a limit ends binding.
    pub(crate) fn limit_exceeded(&mut self, message: impl AsRef<str>, span: Span) -> Diagnostic {
        self.output.errors.end();
        self.error(Code::Semantics, message, span)
    }
}
