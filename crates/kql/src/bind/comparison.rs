//! The comparison operators and their kernels.

use std::cmp::Ordering;

use arrow::array::ArrayRef;
use datafusion::logical_expr::Operator;
use hindsight_kql_syntax::ast::BinaryOp;
use hindsight_kql_types::{DynamicRef, ScalarType};

use crate::call::InnerKernel;
use crate::kernel::{KernelArgs, KernelError};

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison of a syntax operator.
    pub(crate) fn of(op: BinaryOp) -> Option<Comparison> {
        Some(match op {
            BinaryOp::Equal => Comparison::Equal,
            BinaryOp::NotEqual => Comparison::NotEqual,
            BinaryOp::Less => Comparison::Less,
            BinaryOp::LessOrEqual => Comparison::LessOrEqual,
            BinaryOp::Greater => Comparison::Greater,
            BinaryOp::GreaterOrEqual => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    /// Whether it is `==` or `!=`.
    pub(crate) fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::NotEqual)
    }

    /// The operator of DataFusion.
    pub(crate) fn operator(self) -> Operator {
        match self {
            Comparison::Equal => Operator::Eq,
            Comparison::NotEqual => Operator::NotEq,
            Comparison::Less => Operator::Lt,
            Comparison::LessOrEqual => Operator::LtEq,
            Comparison::Greater => Operator::Gt,
            Comparison::GreaterOrEqual => Operator::GtEq,
        }
    }

    /// The comparison with its operands swapped.
    pub(crate) fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }

    /// The result for an ordering; `None` is an unordered pair (NaN).
    pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => order.is_some_and(Ordering::is_le),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }

    /// The kernel for two reals.
    pub(crate) fn real_kernel(self) -> &'static InnerKernel {
        match self {
            Comparison::Equal => &REAL_EQ,
            Comparison::NotEqual => &REAL_NE,
            Comparison::Less => &REAL_LT,
            Comparison::LessOrEqual => &REAL_LE,
            Comparison::Greater => &REAL_GT,
            Comparison::GreaterOrEqual => &REAL_GE,
        }
    }

    /// The kernel for a dynamic left operand.
    pub(crate) fn dynamic_kernel(self) -> &'static InnerKernel {
        match self {
            Comparison::Equal => &DYNAMIC_EQ,
            Comparison::NotEqual => &DYNAMIC_NE,
            Comparison::Less => &DYNAMIC_LT,
            Comparison::LessOrEqual => &DYNAMIC_LE,
            Comparison::Greater => &DYNAMIC_GT,
            Comparison::GreaterOrEqual => &DYNAMIC_GE,
        }
    }
}

macro_rules! comparison_kernels {
    ($($kernel:ident, $name:literal, $compare:ident, $comparison:ident;)*) => {$(
        static $kernel: InnerKernel =
            InnerKernel::new($name, |args| $compare(args, Comparison::$comparison));
    )*

        /// The kernels of these operators.
        pub(super) static KERNELS: &[&InnerKernel] = &[$(&$kernel),*];
    };
}

comparison_kernels! {
    REAL_EQ, "$real_eq", reals, Equal;
    REAL_NE, "$real_ne", reals, NotEqual;
    REAL_LT, "$real_lt", reals, Less;
    REAL_LE, "$real_le", reals, LessOrEqual;
    REAL_GT, "$real_gt", reals, Greater;
    REAL_GE, "$real_ge", reals, GreaterOrEqual;
    DYNAMIC_EQ, "$dynamic_eq", dynamics, Equal;
    DYNAMIC_NE, "$dynamic_ne", dynamics, NotEqual;
    DYNAMIC_LT, "$dynamic_lt", dynamics, Less;
    DYNAMIC_LE, "$dynamic_le", dynamics, LessOrEqual;
    DYNAMIC_GT, "$dynamic_gt", dynamics, Greater;
    DYNAMIC_GE, "$dynamic_ge", dynamics, GreaterOrEqual;
}

/// Orders two reals; NaN is unordered.
pub(super) fn reals(
    args: &KernelArgs<'_>,
    comparison: Comparison,
) -> Result<ArrayRef, KernelError> {
    let (a, b) = (args.reals(0)?, args.reals(1)?);
    Ok(args.collect_bools(|row| Some(comparison.holds(a.get(row)?.partial_cmp(&b.get(row)?)))))
}

/// Compares a dynamic with a typed value. If the dynamic holds another type, the two are unequal and unordered.
pub(super) fn dynamics(
    args: &KernelArgs<'_>,
    comparison: Comparison,
) -> Result<ArrayRef, KernelError> {
    let rows = args.dynamics(0)?;
    let get = |row| rows.get(row).map(DynamicRef::new).filter(|d| !d.is_null());
    Ok(match args.kind(1) {
        ScalarType::Real => {
            let b = args.reals(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(number(d).and_then(|n| n.partial_cmp(&b))))
            })
        }
        ScalarType::Int | ScalarType::Long => {
            let b = args.longs(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(match d.as_i64() {
                    Some(n) => Some(n.cmp(&b)),
                    None => d.as_f64().and_then(|n| n.partial_cmp(&(b as f64))),
                }))
            })
        }
        ScalarType::Bool => {
            let b = args.bools(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(d.as_bool().map(|d| d.cmp(&b))))
            })
        }
        ScalarType::DateTime => {
            let b = args.longs(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(d.to_datetime().map(|d| d.cmp(&b))))
            })
        }
        ScalarType::TimeSpan => {
            let b = args.longs(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(d.to_timespan().map(|d| d.cmp(&b))))
            })
        }
        ScalarType::Guid => {
            let b = args.guids(1)?;
            args.collect_bools(|row| {
                let (d, b) = (get(row)?, b.get(row)?);
                Some(comparison.holds(d.to_guid().map(|d| d.as_slice().cmp(b))))
            })
        }
        other => {
            return Err(KernelError::Failed(format!(
                "a dynamic value cannot be compared with {other}"
            )));
        }
    })
}

fn number(d: DynamicRef<'_>) -> Option<f64> {
    d.as_f64().or_else(|| d.as_i64().map(|n| n as f64))
}
