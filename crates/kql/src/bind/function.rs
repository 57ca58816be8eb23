//! Calls of user-defined functions (`docs/semantics.md §14.4`).

use hindsight_kql_syntax::ast::{
    Argument, Call, ColumnDeclaration, Expr, FunctionDeclaration, Parameter, ParameterType,
    Statement,
};
use hindsight_kql_syntax::{Code, Span};

use super::binder::Binder;
use crate::context::{Bound, Entry, Env, Frame, UserFunction};
use crate::convert::convert;
use crate::error::BindResult;
use crate::relation::{Relation, Scalar};

/// The maximum nesting depth of calls.
const MAX_CALLS: usize = 64;

/// The source of a parameter's value.
enum ParameterValue<'c> {
    Expr(&'c Expr),
    Piped(Relation),
    Default,
}

impl Binder<'_> {
    /// Binds a call of a user-defined function as a scalar.
    pub(crate) fn call_scalar_function(
        &mut self,
        call: &Call,
        function: &UserFunction,
        seen: Env,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        if function.tabular {
            let message = format!(
                "'{}' is a tabular function where a scalar is expected",
                call.function.text
            );
            return Err(self.error(Code::NotScalar, message, span));
        }
        let env = self.bind_local_lets(call, &function.declaration, seen, None, input, span)?;
        self.in_function(env, span, |binder| {
            let body = binder.bind_body(&function.declaration, span)?;
            binder.bind_scalar(body, &Relation::unit())
        })
    }

    /// Binds a call of a user-defined function as a tabular expression; `piped` is the input of `invoke`.
    pub(crate) fn call_tabular_function(
        &mut self,
        call: &Call,
        function: &UserFunction,
        seen: Env,
        piped: Option<Relation>,
        span: Span,
    ) -> BindResult<Bound> {
        let env = self.bind_local_lets(
            call,
            &function.declaration,
            seen,
            piped,
            &Relation::unit(),
            span,
        )?;
        self.in_function(env, span, |binder| {
            let body = binder.bind_body(&function.declaration, span)?;
            binder.bind_tabular(body)
        })
    }

    /// Runs `body` with the function's names in scope. Aggregates of the enclosing operator are not visible in the function.
    fn in_function<T>(
        &mut self,
        names: Env,
        span: Span,
        body: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<T> {
        if self.frame.call_depth >= MAX_CALLS {
            return Err(self.error(
                Code::RecursiveFunction,
                "functions call one another too deeply",
                span,
            ));
        }
        let frame = Frame {
            call_depth: self.frame.call_depth + 1,
            ..self.frame.with_names(names)
        };
        self.within(frame, |binder| binder.with_aggregates(None, body).0)
    }

    /// Adds the local lets to the scope and returns the expression of the body.
    fn bind_body<'f>(
        &mut self,
        function: &'f FunctionDeclaration,
        span: Span,
    ) -> BindResult<&'f Expr> {
        for statement in &function.body {
            match statement {
                Statement::Expression(expr) => return Ok(expr),
                Statement::Let(item) => self.bind_let(item)?,
                Statement::QueryParameters(parameters) => self.bind_query_parameters(parameters)?,
                _ => return Err(self.unsupported("this statement in a function's body", span)),
            }
        }
        Err(self.error(Code::Syntax, "the function has no expression", span))
    }

    /// The names visible in the body: those in scope at its definition, and the parameters.
    fn bind_local_lets(
        &mut self,
        call: &Call,
        function: &FunctionDeclaration,
        seen: Env,
        piped: Option<Relation>,
        input: &Relation,
        span: Span,
    ) -> BindResult<Env> {
        let given = self.match_arguments(call, &function.parameters, piped, span)?;
        let mut env = seen.block();
        for (parameter, given) in function.parameters.iter().zip(given) {
            let entry = self.bind_argument(call, parameter, given, input, span)?;
            env = env.with(&parameter.name.text, entry);
        }
        Ok(env)
    }

    fn match_arguments<'c>(
        &self,
        call: &'c Call,
        parameters: &[Parameter],
        piped: Option<Relation>,
        span: Span,
    ) -> BindResult<Vec<ParameterValue<'c>>> {
        let wrong = || {
            let least = parameters.iter().filter(|p| p.default.is_none()).count();
            let message = if least == parameters.len() {
                format!(
                    "{}(): function expects {least} argument(s).",
                    call.function.text
                )
            } else {
                format!(
                    "{}(): function expects [{least}..{}] argument(s).",
                    call.function.text,
                    parameters.len()
                )
            };
            self.error(Code::ArgumentCount, message, span)
        };
        let mut given: Vec<Option<ParameterValue<'c>>> = parameters.iter().map(|_| None).collect();
        if let Some(relation) = piped {
            *given.first_mut().ok_or_else(wrong)? = Some(ParameterValue::Piped(relation));
        }
        let named = |a: &Argument| {
            let name = a.name.as_ref()?;
            parameters.iter().position(|p| p.name.text == name.text)
        };
        for argument in call.arguments.iter().filter(|a| a.name.is_some()) {
            let slot = named(argument)
                .and_then(|i| given.get_mut(i))
                .ok_or_else(wrong)?;
            if slot
                .replace(ParameterValue::Expr(&argument.value))
                .is_some()
            {
                return Err(wrong());
            }
        }
        for argument in call.arguments.iter().filter(|a| a.name.is_none()) {
            let slot = given
                .iter_mut()
                .find(|slot| slot.is_none())
                .ok_or_else(wrong)?;
            *slot = Some(ParameterValue::Expr(&argument.value));
        }
        given
            .into_iter()
            .zip(parameters)
            .map(|(slot, parameter)| match (slot, &parameter.default) {
                (Some(given), _) => Ok(given),
                (None, Some(_)) => Ok(ParameterValue::Default),
                (None, None) => Err(wrong()),
            })
            .collect()
    }

    fn bind_argument(
        &mut self,
        call: &Call,
        parameter: &Parameter,
        given: ParameterValue<'_>,
        input: &Relation,
        span: Span,
    ) -> BindResult<Entry> {
        let expr = match given {
            ParameterValue::Piped(relation) => {
                return self.tabular_argument(call, parameter, relation, span);
            }
            ParameterValue::Expr(expr) => Some(expr),
            ParameterValue::Default => parameter.default.as_ref(),
        };
        let Some(expr) = expr else {
            return Err(self.error(Code::ArgumentCount, "an argument is missing", span));
        };
        match &parameter.kind {
            // An argument is converted to the declared type as the function `to<type>()` converts it.
            ParameterType::Scalar(kind) => {
                let scalar = convert(self.bind_scalar(expr, input)?, *kind);
                Ok(self.frame.value(scalar))
            }
            _ => {
                let rows = self.bind_inner_tabular(expr)?.relation;
                self.tabular_argument(call, parameter, rows, expr.span)
            }
        }
    }

    fn tabular_argument(
        &self,
        call: &Call,
        parameter: &Parameter,
        relation: Relation,
        span: Span,
    ) -> BindResult<Entry> {
        let ParameterType::Table(declared) = &parameter.kind else {
            return match &parameter.kind {
                ParameterType::AnyTable => Ok(Entry::Relation(relation)),
                _ => Err(self.error(
                    Code::ArgumentType,
                    format!(
                        "{}(): argument '{}' must be a scalar",
                        call.function.text, parameter.name.text
                    ),
                    span,
                )),
            };
        };
        // Rows may have more columns than the parameter declares; the body reads all.
        for ColumnDeclaration { name, kind } in declared {
            if relation.column(&name.text).is_none_or(|c| c.kind != *kind) {
                let message = format!(
                    "{}(): the rows of argument '{}' have no column '{}' of type {kind}",
                    call.function.text, parameter.name.text, name.text
                );
                return Err(self.error(Code::ArgumentType, message, span));
            }
        }
        Ok(Entry::Relation(relation))
    }
}
