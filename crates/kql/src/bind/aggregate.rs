//! Expressions with aggregate calls: `summarize`, `make-series`, `top-nested` (`docs/semantics.md §13.3, §16`).

use std::collections::HashMap;
use std::sync::Arc;

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, NamedExpr};
use hindsight_kql_syntax::{Code, Span};

use super::binder::{AggregateContext, Binder};
use super::projection::{Namer, Target};
use super::result_name::{result_name, result_name_with};
use crate::aggregates::{self, AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::context::{BoundAggregate, BoundColumn, NamingMode};
use crate::error::BindResult;
use crate::relation::{Column, Relation, Scalar};
use crate::signature::Signature;

impl Binder<'_> {
    /// Binds the aggregates of an operator over `input`. Their names are distinct from those of `keys` and from each other.
    pub(crate) fn bind_aggregates(
        &mut self,
        items: &[NamedExpr],
        keys: &[BoundColumn],
        input: &Relation,
    ) -> BindResult<Vec<BoundAggregate>> {
        let mut targets = Vec::new();
        let mut failure = None;
        for item in items {
            match self.bind_aggregate_item(item, keys, input) {
                Ok(columns) => targets.extend(
                    columns
                        .into_iter()
                        .map(|(target, scalar)| (target, scalar, item.expr.span)),
                ),
                Err(error) => {
                    self.report_item(item, error.clone())?;
                    failure.get_or_insert(error);
                }
            }
        }
        if let (true, Some(error)) = (targets.is_empty(), failure) {
            return Err(error);
        }
        let key_targets: Vec<Target> = keys.iter().map(key_target).collect();
        let all = key_targets.iter().chain(targets.iter().map(|(t, _, _)| t));
        let mut namer = Namer::new(NamingMode::Summarize, input, all);
        for (target, key) in key_targets.iter().zip(keys) {
            namer.take(target, &key.name);
        }
        targets
            .iter()
            .map(|(target, scalar, span)| {
                Ok(BoundAggregate {
                    name: namer.name(self, target, *span)?,
                    expr: scalar.expr.clone(),
                    kind: scalar.kind,
                })
            })
            .collect()
    }

    fn bind_aggregate_item(
        &mut self,
        item: &NamedExpr,
        keys: &[BoundColumn],
        input: &Relation,
    ) -> BindResult<Vec<(Target, Scalar)>> {
        let context = AggregateContext {
            input: Arc::new(input.clone()),
            keys: key_columns(keys, input).into(),
            calls: 0,
            names: HashMap::new(),
        };
        let (result, context) =
            self.with_aggregates(Some(context), |binder| binder.bind_in_context(item));
        let columns = result?;
        if context.is_none_or(|c| c.calls == 0) {
            return Err(self.error(
                Code::MisplacedAggregate,
                "the expression must contain an aggregate function",
                item.expr.span,
            ));
        }
        Ok(columns)
    }

    fn bind_in_context(&mut self, item: &NamedExpr) -> BindResult<Vec<(Target, Scalar)>> {
        if let ExprKind::Call(call) = &item.expr.unparenthesised().kind
            && let Some(found) = self.aggregate_named(call)
        {
            let columns = self.bind_aggregate_columns(call, found, item.expr.span)?;
            return self.name_aggregate_columns(item, call, found.0, columns);
        }
        if let Some(columns) = self.bind_columns_call(&item.expr, &Relation::unit())? {
            return Ok(self.named_columns(item, columns));
        }
        let scalar = self.bind_scalar(&item.expr, &Relation::unit())?;
        let target = match item.names.first() {
            Some(name) => Target::Written(name.text.clone()),
            None => {
                let names = self.expression.aggregates.as_ref().map(|c| &c.names);
                result_name_with(&item.expr, names).map_or(Target::Unnamed, Target::Generated)
            }
        };
        Ok(vec![(target, scalar)])
    }

    fn name_aggregate_columns(
        &self,
        item: &NamedExpr,
        call: &Call,
        function: &AggregateFunction,
        columns: Vec<AggregateColumn>,
    ) -> BindResult<Vec<(Target, Scalar)>> {
        if let Some(extra) = item.names.get(columns.len()) {
            return Err(self.error(Code::Semantics, "more names than columns", extra.span()));
        }
        let target = |i: usize, column: &AggregateColumn| match item.names.get(i) {
            Some(name) => Target::Written(name.text.clone()),
            None => Target::Generated(default_name(call, function, column)),
        };
        Ok(columns
            .into_iter()
            .enumerate()
            .map(|(i, column)| {
                let target = target(i, &column);
                (target, Scalar::new(column.expr, column.kind))
            })
            .collect())
    }

    /// The aggregate function that a call names, unless a user-defined function has that name.
    pub(crate) fn aggregate_named(
        &self,
        call: &Call,
    ) -> Option<(&'static AggregateFunction, &'static [Signature])> {
        match self.frame.names.find(&call.function.text) {
            Some((crate::context::Entry::Function(_), _)) => None,
            _ => aggregates::find(&call.function.text),
        }
    }

    /// Binds an aggregate call inside a larger expression. The call must return one column.
    pub(crate) fn bind_aggregate_call(
        &mut self,
        call: &Call,
        found: (&'static AggregateFunction, &'static [Signature]),
        span: Span,
    ) -> BindResult<Scalar> {
        let columns = self.bind_aggregate_columns(call, found, span)?;
        let name = columns.first().map(|c| default_name(call, found.0, c));
        if let (Some(context), Some(name)) = (self.expression.aggregates.as_mut(), name) {
            context.names.insert(span_key(span), name);
        }
        let mut columns = columns.into_iter();
        match (columns.next(), columns.next()) {
            (Some(column), None) => Ok(Scalar::new(column.expr, column.kind)),
            _ => Err(self.error(
                Code::MisplacedAggregate,
                format!(
                    "'{}' has several columns and cannot stand inside an expression",
                    call.function.text
                ),
                span,
            )),
        }
    }

    fn bind_aggregate_columns(
        &mut self,
        call: &Call,
        (function, signatures): (&'static AggregateFunction, &'static [Signature]),
        span: Span,
    ) -> BindResult<Vec<AggregateColumn>> {
        let Some(context) = self.expression.aggregates.as_mut() else {
            let message = format!(
                "the aggregate function '{}' is not allowed here",
                call.function.text
            );
            return Err(self.error(Code::MisplacedAggregate, message, span));
        };
        context.calls += 1;
        let seen = (Arc::clone(&context.input), Arc::clone(&context.keys));
        // The arguments are bound without an aggregate context, so a nested aggregate call is refused.
        let arguments = |binder: &mut Self| {
            binder.bind_aggregate_arguments(call, function, signatures, &seen, span)
        };
        self.with_aggregates(None, arguments).0
    }

    fn bind_aggregate_arguments(
        &mut self,
        call: &Call,
        function: &'static AggregateFunction,
        signatures: &'static [Signature],
        (input, keys): &(Arc<Relation>, Arc<[String]>),
        span: Span,
    ) -> BindResult<Vec<AggregateColumn>> {
        let mut args = Vec::new();
        let mut names = Vec::new();
        let mut star = Vec::new();
        for argument in &call.arguments {
            if matches!(&argument.value.kind, ExprKind::Wildcard(p) if p == "*") {
                if !function.star {
                    let message = format!("'*' is not an argument of '{}'", call.function.text);
                    return Err(self.error(Code::Semantics, message, argument.value.span));
                }
                star = star_columns(input, keys, &names);
                continue;
            }
            args.push(self.bind_scalar(&argument.value, input)?);
            names.push(result_name(&argument.value));
        }
        args.extend(star.iter().map(Column::scalar));
        names.extend(star.into_iter().map(|c| Some(c.name)));
        let resolved = self.resolve_overload(&call.function.text, signatures, args, span)?;
        (function.bind)(&AggregateCall {
            args: &resolved.args,
            names: &names,
            result: resolved.result,
            span,
        })
    }
}

/// A key as a target of naming. Names that the query writes take precedence.
fn key_target(key: &BoundColumn) -> Target {
    match key.explicit {
        true => Target::Written(key.name.clone()),
        false
            if key
                .name
                .strip_prefix("Column")
                .is_some_and(|n| n.parse::<usize>().is_ok()) =>
        {
            Target::Unnamed
        }
        false => Target::Generated(key.name.clone()),
    }
}

/// The columns of the input that are keys.
fn key_columns(keys: &[BoundColumn], input: &Relation) -> Vec<String> {
    input
        .columns
        .iter()
        .filter(|c| keys.iter().any(|k| k.scalar.expr == c.expr()))
        .map(|c| c.name.clone())
        .collect()
}

fn star_columns(input: &Relation, keys: &[String], named: &[Option<String>]) -> Vec<Column> {
    let columns = input.columns.iter();
    columns
        .filter(|c| !keys.contains(&c.name) && !named.iter().flatten().any(|n| *n == c.name))
        .cloned()
        .collect()
}

fn default_name(call: &Call, function: &AggregateFunction, column: &AggregateColumn) -> String {
    match (function.result_name, &column.name) {
        (_, Some(name)) => name.clone(),
        (AggregateName::Prefixed(prefix), None) => {
            prefixed(prefix, call.arguments.first().map(|a| &a.value))
        }
        (AggregateName::Columns, None) => call
            .arguments
            .first()
            .and_then(|a| result_name(&a.value))
            .unwrap_or_default(),
    }
}

fn prefixed(prefix: &str, argument: Option<&Expr>) -> String {
    let argument = argument.and_then(result_name).unwrap_or_default();
    format!("{}_{argument}", prefix.trim_end_matches('_'))
}

/// A span as a key of [`AggregateNames`].
pub(crate) fn span_key(span: Span) -> (u32, u32) {
    (span.start, span.end)
}
