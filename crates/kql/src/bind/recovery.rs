//! Reports errors and continues binding after them ([`super::errors`]).

use hindsight_kql_syntax::ast::{Expr, NamedExpr};
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::binder::Binder;
use super::result_name::result_name;
use crate::error::BindResult;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// Reports an error after which binding continues.
    ///
    /// # Errors
    /// The same error if binding cannot continue: it needs rows, or a limit is exceeded.
    pub(crate) fn report(&mut self, error: Diagnostic) -> BindResult<()> {
        if self.output.needed.is_some() {
            return Err(error);
        }
        if self.output.errors.report(&error) {
            Ok(())
        } else {
            Err(error)
        }
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
        let earlier = self.output.errors.of_name(name);
        earlier.cloned().unwrap_or(error)
    }

    fn undefined(&mut self, name: &str, error: &Diagnostic) {
        // A request that needs rows has no error.
        if self.output.needed.is_none() {
            self.output.errors.leave_undefined(name, error);
        }
    }

    /// Runs `body`, whose failure is no error of the request: it reports nothing.
    pub(crate) fn attempt<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        let before = self.output.errors.clone();
        let result = body(self);
        match (result, self.output.errors.restore(before)) {
            (Ok(_), Some(error)) => Err(error),
            (result, _) => result,
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
