//! Calls that return several columns (`docs/semantics.md §13.1`).

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use super::dynamic::element_of;
use super::result_name::{AggregateNames, result_name_with};
use crate::call::kernel_call;
use crate::definition::CallArgs;
use crate::error::BindResult;
use crate::fold::fold;
use crate::functions::columns::{Columns, ColumnsFunction, find};
use crate::functions::registry;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// The columns of `expr` with their names, if it is a call that returns several columns.
    pub(crate) fn bind_columns_call(
        &mut self,
        expr: &Expr,
        input: &Relation,
    ) -> BindResult<Option<Vec<(String, Scalar)>>> {
        let ExprKind::Call(call) = &expr.unparenthesised().kind else {
            return Ok(None);
        };
        let name = call.function.text.as_str();
        let Some(function) = find(name).filter(|_| self.frame.names.find(name).is_none()) else {
            return Ok(None);
        };
        let args = self.bind_arguments(call, input)?;
        let Some((_, signatures)) = registry().find(name) else {
            return Ok(None);
        };
        let args = self
            .resolve_overload(name, signatures, args, expr.span)?
            .args;
        (function.check)(&CallArgs {
            args: &args,
            result: ScalarType::Dynamic,
            span: expr.span,
        })?;
        let aggregates = self.expression.aggregates.as_ref().map(|c| &c.names);
        let names = column_names(function, call, &args, aggregates);
        let constant = args.iter().all(|arg| arg.constant.is_some());
        let all = kernel_call(
            &function.all,
            args.iter().map(|arg| arg.expr.clone()).collect(),
            args.iter().map(|arg| arg.kind).collect(),
            ScalarType::Dynamic,
        );
        let all = Scalar::new(all, ScalarType::Dynamic);
        let column =
            |(index, (name, kind))| (name, fold(element_of(all.clone(), index, kind), constant));
        Ok(Some((0..).zip(names).map(column).collect()))
    }

    /// `f(…)[i]` for an `f` that returns several columns: column `i`.
    pub(crate) fn bind_column_of_call(
        &mut self,
        value: &Expr,
        index: &Expr,
        input: &Relation,
    ) -> BindResult<Option<Scalar>> {
        let ExprKind::Literal(Literal::Long(index)) = &index.unparenthesised().kind else {
            return Ok(None);
        };
        let Some(columns) = self.bind_columns_call(value, input)? else {
            return Ok(None);
        };
        if columns.len() < 2 {
            return Ok(None);
        }
        let index = usize::try_from(*index).ok();
        Ok(index
            .and_then(|index| columns.into_iter().nth(index))
            .map(|(_, column)| column))
    }
}

fn column_names(
    function: &ColumnsFunction,
    call: &Call,
    args: &[Scalar],
    aggregates: Option<&AggregateNames>,
) -> Vec<(String, ScalarType)> {
    let argument = |index: usize| {
        let argument = call.arguments.get(index)?;
        result_name_with(&argument.value, aggregates)
    };
    match &function.columns {
        Columns::Fixed(columns) => {
            let prefix = match argument(0) {
                Some(argument) => format!("{}_{argument}", function.name),
                None => function.name.to_owned(),
            };
            let column = |(name, kind): &(&str, ScalarType)| (format!("{prefix}_{name}"), *kind);
            columns.iter().map(column).collect()
        }
        Columns::OfArrays(suffix) => args
            .iter()
            .enumerate()
            .filter(|(_, arg)| arg.kind == ScalarType::Dynamic)
            .map(|(index, _)| {
                let name = argument(index).unwrap_or_else(|| format!("array{index}"));
                (format!("{name}{suffix}"), ScalarType::Dynamic)
            })
            .collect(),
    }
}
