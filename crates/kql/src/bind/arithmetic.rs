//! `+ - * / %` and unary minus (`docs/semantics.md §3, §4`).

use arrow::array::{ArrayRef, Decimal128Array};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as PlanExpr, Operator, binary_expr};
use hindsight_kql_syntax::ast::{BinaryOp, Expr, UnaryOp};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType, Value, decimal, ticks};

use ScalarType::{DateTime, Decimal, Dynamic, Int, Long, Real, TimeSpan};

use super::binder::Binder;
use crate::call::{InnerKernel, kernel_call};
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::fold::fold;
use crate::kernel::{KernelArgs, KernelError, decimals};
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// `left op right`.
    pub(crate) fn arithmetic(
        &self,
        op: BinaryOp,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Scalar> {
        let constant = left.constant.is_some() && right.constant.is_some();
        let (l, r) = (left.kind, right.kind);
        let moves = matches!(op, BinaryOp::Add | BinaryOp::Subtract);
        let scalar = match (l, r) {
            _ if l.is_number() && r.is_number() => Some(numbers(op, left, right)),
            (Dynamic, _) if r.is_number() => Some(numbers(op, convert(left, widen(r)), right)),
            (_, Dynamic) if l.is_number() => {
                let kind = widen(l);
                Some(numbers(op, left, convert(right, kind)))
            }
            (Dynamic, DateTime | TimeSpan) if moves => {
                let kind = beside_time(op, r);
                times(op, convert(left, kind), right)
            }
            (DateTime | TimeSpan, Dynamic) if moves => {
                let kind = beside_time(op, l);
                times(op, left, convert(right, kind))
            }
            _ => times(op, left, right),
        };
        match scalar {
            Some(scalar) => Ok(fold(scalar, constant)),
            None => Err(self.error(
                Code::Semantics,
                format!("Arithmetic expression cannot be carried-out between {l} and {r}"),
                span,
            )),
        }
    }

    /// `-x`, `+x`.
    pub(crate) fn bind_unary(
        &mut self,
        op: UnaryOp,
        value: &Expr,
        input: &Relation,
    ) -> BindResult<Scalar> {
        let scalar = self.bind_scalar(value, input)?;
        let allowed =
            scalar.kind.is_number() || matches!(scalar.kind, TimeSpan | DateTime | Dynamic);
        if !allowed {
            let message = format!(
                "the operand of a sign must be a number and is {}",
                scalar.kind
            );
            return Err(self.error(Code::Semantics, message, value.span));
        }
        if op == UnaryOp::Plus {
            return Ok(scalar);
        }
        Ok(match (&scalar.constant, scalar.kind) {
            (Some(Value::Int(v)), _) => Scalar::constant(Value::Int(v.wrapping_neg())),
            (Some(Value::Long(v)), _) => Scalar::constant(Value::Long(v.wrapping_neg())),
            (Some(Value::TimeSpan(v)), _) => Scalar::constant(Value::TimeSpan(v.wrapping_neg())),
            (Some(Value::Real(v)), _) => Scalar::constant(Value::Real(-v)),
            (Some(Value::Decimal(v)), _) => Scalar::constant(Value::Decimal(-v)),
            // An int column is negated as long, so the negation of the least int does not overflow.
            (_, Int) => negative(convert(scalar, Long)),
            (_, DateTime) => {
                let zero = Scalar::constant(Value::DateTime(0));
                let constant = scalar.constant.is_some();
                fold(call(&SUBTRACT_DATETIME, zero, scalar, DateTime), constant)
            }
            (_, Dynamic) => {
                let constant = scalar.constant.is_some();
                let call = kernel_call(&NEGATE, vec![scalar.expr], vec![Dynamic], Dynamic);
                fold(Scalar::new(call, Dynamic), constant)
            }
            _ => negative(scalar),
        })
    }
}

fn negative(scalar: Scalar) -> Scalar {
    let constant = scalar.constant.is_some();
    let kind = scalar.kind;
    let expr = match kind.arrow() {
        // The least long is its own negation. DataFusion's negation fails for it while it estimates the selectivity of a
        // predicate; its subtraction does not.
        DataType::Int64 => {
            let zero = PlanExpr::Literal(ScalarValue::Int64(Some(0)), None);
            binary_expr(zero, Operator::Minus, scalar.expr)
        }
        _ => PlanExpr::Negative(Box::new(scalar.expr)),
    };
    fold(Scalar::new(expr, kind), constant)
}

/// Arithmetic on ints is computed in longs.
fn widen(kind: ScalarType) -> ScalarType {
    if kind == Int { Long } else { kind }
}

/// The type that a dynamic is converted to beside a datetime or timespan (`docs/semantics.md §4`): a timespan that moves a
/// datetime, otherwise the type of the other operand.
fn beside_time(op: BinaryOp, other: ScalarType) -> ScalarType {
    match op {
        BinaryOp::Add => TimeSpan,
        _ => other,
    }
}

fn numbers(op: BinaryOp, left: Scalar, right: Scalar) -> Scalar {
    let kind = widen(widest(left.kind, right.kind).unwrap_or(Real));
    let (left, right) = (convert(left, kind), convert(right, kind));
    if kind != Decimal {
        let operator = match op {
            BinaryOp::Add => Some(Operator::Plus),
            BinaryOp::Subtract => Some(Operator::Minus),
            BinaryOp::Multiply => Some(Operator::Multiply),
            BinaryOp::Divide if kind == Real => Some(Operator::Divide),
            _ => None,
        };
        if let Some(operator) = operator {
            return Scalar::new(binary_expr(left.expr, operator, right.expr), kind);
        }
    }
    let kernel = match (op, kind) {
        (BinaryOp::Divide, Long) => &DIVIDE,
        (BinaryOp::Modulo, Long) => &MODULO,
        (BinaryOp::Modulo, Real) => &MODULO_REAL,
        (BinaryOp::Add, _) => &ADD_DECIMAL,
        (BinaryOp::Subtract, _) => &SUBTRACT_DECIMAL,
        (BinaryOp::Multiply, _) => &MULTIPLY_DECIMAL,
        (BinaryOp::Modulo, _) => &MODULO_DECIMAL,
        _ => &DIVIDE_DECIMAL,
    };
    call(kernel, left, right, kind)
}

macro_rules! kernels {
    ($($kernel:ident, $name:literal, $function:expr;)*) => {$(
        static $kernel: InnerKernel = InnerKernel::new($name, $function);
    )*

        /// The kernels of these operators.
        pub(super) static KERNELS: &[&InnerKernel] = &[$(&$kernel),*];
    };
}

kernels! {
    DIVIDE, "$divide", |args| longs(args, checked_div);
    MODULO, "$modulo", |args| longs(args, checked_modulo);
    MODULO_REAL, "$modulo_real", modulo_reals;
    ADD_DECIMAL, "$add_decimal", |args| decimal_kernel(args, |x, y| x.checked_add(y));
    SUBTRACT_DECIMAL, "$subtract_decimal", |args| decimal_kernel(args, |x, y| x.checked_sub(y));
    MULTIPLY_DECIMAL, "$multiply_decimal", |args| decimal_kernel(args, decimal_product);
    MODULO_DECIMAL, "$modulo_decimal", |args| decimal_kernel(args, |x, y| x.checked_rem_euclid(y));
    DIVIDE_DECIMAL, "$divide_decimal", |args| decimal_kernel(args, decimal_quotient);
    ADD_DATETIME, "$add_datetime", |args| longs(args, add_datetime);
    SUBTRACT_DATETIME, "$subtract_datetime", |args| longs(args, subtract_datetime);
    DIVIDE_TIMESPAN, "$divide_timespan", divide_timespan;
    MULTIPLY_TIMESPAN, "$multiply_timespan", multiply_timespan;
    RATIO, "$ratio", ratio;
    MULTIPLY_TICKS, "$multiply_ticks", |args| longs(args, |a, b| Some(a.wrapping_mul(b)));
    MULTIPLY_DATETIME, "$multiply_datetime", |args| longs(args, |a, b| ticks::in_range(a.checked_mul(b)?));
    SCALE_DATETIME, "$scale_datetime", |args| scaled_ticks(args, |a, b| a * b, ticks::in_range);
    DIVIDE_DATETIME, "$divide_datetime", |args| scaled_ticks(args, |a, b| a / b, ticks::in_range);
    MODULO_TICKS, "$modulo_ticks", |args| scaled_ticks(args, f64::rem_euclid, Some);
    NEGATE, "$negate_dynamic", negate_dynamic;
}

fn call(kernel: &'static InnerKernel, left: Scalar, right: Scalar, result: ScalarType) -> Scalar {
    let kinds = vec![left.kind, right.kind];
    let expr = kernel_call(kernel, vec![left.expr, right.expr], kinds, result);
    Scalar::new(expr, result)
}

/// Arithmetic on datetimes and timespans; `None` for operands without such an operation.
fn times(op: BinaryOp, left: Scalar, right: Scalar) -> Option<Scalar> {
    let plain = |operator, left: Scalar, right: Scalar, kind| {
        Scalar::new(binary_expr(left.expr, operator, right.expr), kind)
    };
    Some(match (left.kind, op, right.kind) {
        (DateTime, BinaryOp::Subtract, DateTime) => plain(Operator::Minus, left, right, TimeSpan),
        (DateTime | TimeSpan, BinaryOp::Add, DateTime) | (DateTime, BinaryOp::Add, TimeSpan) => {
            call(&ADD_DATETIME, left, right, DateTime)
        }
        (DateTime, BinaryOp::Subtract, TimeSpan) | (TimeSpan, BinaryOp::Subtract, DateTime) => {
            call(&SUBTRACT_DATETIME, left, right, DateTime)
        }
        (TimeSpan, BinaryOp::Add, TimeSpan) => plain(Operator::Plus, left, right, TimeSpan),
        (TimeSpan, BinaryOp::Subtract, TimeSpan) => plain(Operator::Minus, left, right, TimeSpan),
        (TimeSpan, BinaryOp::Multiply, TimeSpan) => call(&MULTIPLY_TICKS, left, right, TimeSpan),
        (TimeSpan, BinaryOp::Multiply, k) if k.is_number() => scaled(left, right),
        (k, BinaryOp::Multiply, TimeSpan) if k.is_number() => scaled(right, left),
        (DateTime, BinaryOp::Multiply, k) if k.is_integer() => {
            call(&MULTIPLY_DATETIME, left, right, DateTime)
        }
        (k, BinaryOp::Multiply, DateTime) if k.is_integer() => {
            call(&MULTIPLY_DATETIME, right, left, DateTime)
        }
        (DateTime, BinaryOp::Multiply, k) if k.is_number() => {
            call(&SCALE_DATETIME, left, convert(right, Real), DateTime)
        }
        (k, BinaryOp::Multiply, DateTime) if k.is_number() => {
            call(&SCALE_DATETIME, right, convert(left, Real), DateTime)
        }
        (DateTime | TimeSpan, BinaryOp::Divide, k) if k.is_integer() => {
            let kind = left.kind;
            call(&DIVIDE, left, right, kind)
        }
        (TimeSpan, BinaryOp::Divide, k) if k.is_number() => {
            call(&DIVIDE_TIMESPAN, left, convert(right, Real), TimeSpan)
        }
        (DateTime, BinaryOp::Divide, k) if k.is_number() => {
            call(&DIVIDE_DATETIME, left, convert(right, Real), DateTime)
        }
        (TimeSpan | DateTime, BinaryOp::Divide, TimeSpan)
        | (DateTime, BinaryOp::Divide, DateTime) => call(&RATIO, left, right, Real),
        (TimeSpan | DateTime, BinaryOp::Modulo, TimeSpan)
        | (DateTime, BinaryOp::Modulo, DateTime) => call(&MODULO, left, right, TimeSpan),
        (DateTime | TimeSpan, BinaryOp::Modulo, k) if k.is_integer() => {
            let kind = left.kind;
            call(&MODULO, left, right, kind)
        }
        (DateTime | TimeSpan, BinaryOp::Modulo, k) if k.is_number() => {
            let kind = left.kind;
            call(&MODULO_TICKS, left, convert(right, Real), kind)
        }
        _ => return None,
    })
}

fn scaled(span: Scalar, factor: Scalar) -> Scalar {
    if factor.kind.is_integer() {
        Scalar::new(
            binary_expr(span.expr, Operator::Multiply, convert(factor, Long).expr),
            TimeSpan,
        )
    } else {
        call(&MULTIPLY_TIMESPAN, span, convert(factor, Real), TimeSpan)
    }
}

fn longs(args: &KernelArgs<'_>, f: fn(i64, i64) -> Option<i64>) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.longs(0)?, args.longs(1)?);
    Ok(args.collect_longs(|row| f(a.get(row)?, b.get(row)?)))
}

/// Truncating division; null if the divisor is zero. The least long divided by -1 wraps.
fn checked_div(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| a.wrapping_div(b))
}

/// Euclidean modulo, never negative; null if the divisor is zero.
fn checked_modulo(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| a.wrapping_rem_euclid(b))
}

fn add_datetime(a: i64, b: i64) -> Option<i64> {
    ticks::in_range(a.checked_add(b)?)
}

fn subtract_datetime(a: i64, b: i64) -> Option<i64> {
    ticks::in_range(a.checked_sub(b)?)
}

fn modulo_reals(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.reals(0)?, args.reals(1)?);
    Ok(args.collect_reals(|row| Some(a.get(row)?.rem_euclid(b.get(row)?))))
}

fn ratio(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.longs(0)?, args.longs(1)?);
    Ok(args.collect_reals(|row| Some(a.get(row)? as f64 / b.get(row)? as f64)))
}

fn multiply_timespan(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.longs(0)?, args.reals(1)?);
    Ok(args.collect_longs(|row| to_ticks(a.get(row)? as f64 * b.get(row)?)))
}

fn divide_timespan(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.longs(0)?, args.reals(1)?);
    Ok(args.collect_longs(|row| to_ticks(a.get(row)? as f64 / b.get(row)?)))
}

/// Ticks by a real, in ticks: `f` computes in reals, and `range` checks the result.
fn scaled_ticks(
    args: &KernelArgs<'_>,
    f: fn(f64, f64) -> f64,
    range: fn(i64) -> Option<i64>,
) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.longs(0)?, args.reals(1)?);
    Ok(args.collect_longs(|row| range(to_ticks(f(a.get(row)? as f64, b.get(row)?))?)))
}

/// `-x` of a dynamic: the number that it holds, negated. Anything else is null.
fn negate_dynamic(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let values = args.dynamics(0)?;
    Ok(args.collect_dynamics(|row, out| {
        let negated = values.get(row).map(DynamicRef::new).and_then(|value| {
            let long = value.as_i64().map(|n| Value::Long(n.wrapping_neg()));
            long.or_else(|| value.as_f64().map(|n| Value::Real(-n)))
        });
        let Some(negated) = negated else {
            return false;
        };
        let mut encoder = Encoder::new();
        negated.pack(&mut encoder);
        out.extend_from_slice(&encoder.finish());
        true
    }))
}

/// Converts to a whole number of ticks, rounding towards zero; null if the result is out of range.
fn to_ticks(value: f64) -> Option<i64> {
    (value.is_finite() && value.abs() < i64::MAX as f64).then_some(value as i64)
}

fn decimal_kernel(
    args: &KernelArgs<'_>,
    f: impl Fn(i128, i128) -> Option<i128>,
) -> Result<ArrayRef, KernelError> {
    let (a, b) = (decimals(args.array(0)?)?, decimals(args.array(1)?)?);
    let get = |array: &Decimal128Array, constant: bool, row: usize| {
        let row = if constant { 0 } else { row };
        let valid =
            row < arrow::array::Array::len(array) && arrow::array::Array::is_valid(array, row);
        valid.then(|| array.value(row))
    };
    let out: Decimal128Array = (0..args.rows())
        .map(|row| {
            let (a, b) = (
                get(&a, args.is_constant(0), row)?,
                get(&b, args.is_constant(1), row)?,
            );
            decimal::checked(f(a, b)?)
        })
        .collect();
    let out = out.with_precision_and_scale(38, hindsight_kql_types::DECIMAL_SCALE)?;
    Ok(std::sync::Arc::new(out))
}

/// The value is split so that the product of two scaled values does not overflow before the scale is divided out.
fn decimal_product(a: i128, b: i128) -> Option<i128> {
    let (whole, rest) = (a / decimal::ONE, a % decimal::ONE);
    let (b_whole, b_rest) = (b / decimal::ONE, b % decimal::ONE);
    let low = rest.checked_mul(b_rest)? / decimal::ONE;
    whole
        .checked_mul(b)?
        .checked_add(rest.checked_mul(b_whole)?)?
        .checked_add(low)
}

/// Long division, one digit at a time, because the scaled dividend may overflow.
fn decimal_quotient(a: i128, b: i128) -> Option<i128> {
    if b == 0 {
        return None;
    }
    let (mut quotient, mut rest) = (a / b, a % b);
    for _ in 0..hindsight_kql_types::DECIMAL_SCALE {
        rest = rest.checked_mul(10)?;
        quotient = quotient.checked_mul(10)?.checked_add(rest / b)?;
        rest %= b;
    }
    Some(quotient)
}
