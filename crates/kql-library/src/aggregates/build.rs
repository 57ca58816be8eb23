//! Helpers that the aggregates build their expressions with.

use datafusion::common::ScalarValue;
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::{Expr, ExprFunctionExt, cast, lit};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::Scalar;
use crate::definition::Example;

/// Builds the result columns of a call.
pub(crate) type Bind = fn(&AggregateCall<'_>) -> Result<Vec<AggregateColumn>, Diagnostic>;

/// Binds an aggregate that has one call, for families whose members differ only in their binding.
pub(crate) const fn aggregate(
    signatures: &'static [&'static str],
    summary: &'static str,
    result_name: AggregateName,
    examples: &'static [Example],
    bind: Bind,
) -> AggregateFunction {
    AggregateFunction {
        signatures,
        aliases: &[],
        summary,
        result_name,
        star: false,
        examples,
        bind,
    }
}

impl<'a> AggregateCall<'a> {
    /// Argument `index`. A missing argument is an error, although the signature already requires it.
    pub(crate) fn arg(&self, index: usize) -> Result<&'a Scalar, Diagnostic> {
        self.args.get(index).ok_or_else(|| {
            Diagnostic::new(
                Code::ArgumentCount,
                "the aggregate expects more arguments",
                self.span,
            )
        })
    }

    /// The expression of argument `index`.
    pub(crate) fn expr(&self, index: usize) -> Result<Expr, Diagnostic> {
        Ok(self.arg(index)?.expr.clone())
    }

    /// The column name that argument `index` provides.
    pub(crate) fn name(&self, index: usize) -> Option<&'a str> {
        self.names.get(index).and_then(|name| name.as_deref())
    }

    /// Argument `index` as a constant, if present.
    pub(crate) fn constant(&self, index: usize) -> Result<Option<&'a Value>, Diagnostic> {
        match self.args.get(index) {
            None => Ok(None),
            Some(scalar) => scalar
                .constant
                .as_ref()
                .map(Some)
                .ok_or_else(|| not_constant(index, self.span)),
        }
    }

    /// Argument `index` as a constant integer, if present.
    pub(crate) fn constant_long(&self, index: usize) -> Result<Option<i64>, Diagnostic> {
        match self.constant(index)? {
            None => Ok(None),
            Some(value) => match value.convert(ScalarType::Long) {
                Value::Long(number) => Ok(Some(number)),
                _ => Err(not_constant(index, self.span)),
            },
        }
    }

    /// The single result column.
    pub(crate) fn column(&self, expr: Expr) -> Result<Vec<AggregateColumn>, Diagnostic> {
        Ok(vec![AggregateColumn {
            name: None,
            expr,
            kind: self.result,
        }])
    }
}

/// The diagnostic `SEM0040` for argument `index`.
pub(crate) fn not_constant(index: usize, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::NotConstant,
        format!("failed to cast argument {} to scalar constant", index + 1),
        span,
    )
}

/// The aggregate call over the rows where `predicate` is true.
pub(crate) fn filtered(
    aggregate: Expr,
    predicate: Option<Expr>,
    span: Span,
) -> Result<Expr, Diagnostic> {
    match predicate {
        None => Ok(aggregate),
        Some(predicate) => aggregate
            .filter(predicate)
            .build()
            .map_err(|error| Diagnostic::new(Code::Semantics, error.to_string(), span)),
    }
}

/// The expression with null replaced by a value.
pub(crate) fn or_else(expr: Expr, value: ScalarValue) -> Expr {
    coalesce(vec![expr, lit(value)])
}

/// Strings are never null, not even for an empty group.
pub(crate) fn never_null_text(expr: Expr, kind: ScalarType) -> Expr {
    match kind {
        ScalarType::String => or_else(expr, ScalarValue::Utf8View(Some(String::new()))),
        _ => expr,
    }
}

/// The expression cast to the Arrow type of `kind`.
pub(crate) fn to_kind(expr: Expr, kind: ScalarType) -> Expr {
    cast(expr, kind.arrow())
}

/// The default value of a sum: zero of the type.
pub(crate) fn zero(kind: ScalarType) -> ScalarValue {
    match kind {
        ScalarType::Real => ScalarValue::Float64(Some(0.0)),
        ScalarType::Decimal => {
            ScalarValue::Decimal128(Some(0), 38, hindsight_kql_types::DECIMAL_SCALE)
        }
        ScalarType::Int => ScalarValue::Int32(Some(0)),
        _ => ScalarValue::Int64(Some(0)),
    }
}
