//! The arguments of a plug-in: by position, or by name.

use hindsight_kql_syntax::ast::{Call, Expr};
use hindsight_kql_syntax::{Code, Span};

use crate::context::BindContext;
use crate::error::BindResult;

/// Reads the arguments of a plug-in and records which were read, so that no argument is silently ignored.
pub(crate) struct Args<'c> {
    positional: Vec<&'c Expr>,
    named: Vec<(&'c str, &'c Expr)>,
    taken: usize,
}

impl<'c> Args<'c> {
    /// The arguments of `call`.
    pub(crate) fn new(call: &'c Call) -> Args<'c> {
        let mut args = Args {
            positional: Vec::new(),
            named: Vec::new(),
            taken: 0,
        };
        for argument in &call.arguments {
            match &argument.name {
                None => args.positional.push(&argument.value),
                Some(name) => args.named.push((&name.text, &argument.value)),
            }
        }
        args
    }

    /// The next argument by position.
    pub(crate) fn next(&mut self) -> Option<&'c Expr> {
        let next = self.positional.get(self.taken).copied();
        self.taken += usize::from(next.is_some());
        next
    }

    /// The next argument by position, which is required.
    pub(crate) fn required(
        &mut self,
        what: &str,
        binder: &dyn BindContext,
        span: Span,
    ) -> BindResult<&'c Expr> {
        self.next().ok_or_else(|| {
            binder.error(
                Code::ArgumentCount,
                format!("the argument {what} is missing"),
                span,
            )
        })
    }

    /// The argument named `name`, or else the next argument by position.
    pub(crate) fn option(&mut self, name: &str) -> Option<&'c Expr> {
        match self.named(name) {
            Some(expr) => Some(expr),
            None => self.next(),
        }
    }

    /// The argument written as `name=…`.
    pub(crate) fn named(&mut self, name: &str) -> Option<&'c Expr> {
        let index = self
            .named
            .iter()
            .position(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(self.named.remove(index).1)
    }

    /// All remaining arguments by position.
    pub(crate) fn rest(&mut self) -> Vec<&'c Expr> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Refuses arguments that were not read.
    pub(crate) fn end(self, binder: &dyn BindContext, span: Span) -> BindResult<()> {
        if self.taken < self.positional.len() {
            return Err(binder.error(
                Code::ArgumentCount,
                "the plug-in has too many arguments",
                span,
            ));
        }
        match self.named.first() {
            None => Ok(()),
            Some((name, expr)) => Err(binder.error(
                Code::ArgumentCount,
                format!("the plug-in has no argument '{name}'"),
                expr.span,
            )),
        }
    }
}
