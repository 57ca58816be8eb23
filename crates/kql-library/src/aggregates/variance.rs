//! `stdev`, `variance` and their population and conditional forms.
//!
//! The variance is rounded to 10 decimal places, and the standard deviation is the square root of the rounded variance. The
//! variance of fewer than two values is 0 (`docs/semantics.md §16.2, §16.3`).

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::expr_fn::{var_pop, var_sample};
use datafusion::logical_expr::{Expr, cast};
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::{filtered, or_else};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::call::{InnerKernel, kernel_call};
use crate::definition::example;
use crate::kernel::{KernelArgs, KernelError};

pub(crate) static LIST: &[&AggregateFunction] = &[
    &STDEV,
    &STDEVIF,
    &STDEVP,
    &STDEVPIF,
    &VARIANCE,
    &VARIANCEIF,
    &VARIANCEP,
    &VARIANCEPIF,
];

static STDEV: AggregateFunction = AggregateFunction {
    signatures: &["stdev(expr: number|time) -> real"],
    aliases: &[],
    summary: "The sample standard deviation; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("stdev"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize stdev(n)",
        "stdev_n:real\n1.0",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: false,
                root: true,
            },
            false,
        )
    },
};

static STDEVIF: AggregateFunction = AggregateFunction {
    signatures: &["stdevif(expr: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The sample standard deviation over the rows where the predicate is true; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("stdevif"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3, 9] | summarize stdevif(n, n < 9)",
        "stdevif_n:real\n1.0",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: false,
                root: true,
            },
            true,
        )
    },
};

static STDEVP: AggregateFunction = AggregateFunction {
    signatures: &["stdevp(expr: number|time) -> real"],
    aliases: &[],
    summary: "The population standard deviation; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("stdevp"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize stdevp(n)",
        "stdevp_n:real\n0.8164965809481384",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: true,
                root: true,
            },
            false,
        )
    },
};

static STDEVPIF: AggregateFunction = AggregateFunction {
    signatures: &["stdevpif(expr: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The population standard deviation over the rows where the predicate is true; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("stdevpif"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3, 9] | summarize stdevpif(n, n < 9)",
        "stdevpif_n:real\n0.8164965809481384",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: true,
                root: true,
            },
            true,
        )
    },
};

static VARIANCE: AggregateFunction = AggregateFunction {
    signatures: &["variance(expr: number|time) -> real"],
    aliases: &[],
    summary: "The sample variance; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("variance"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize variance(n)",
        "variance_n:real\n1.0",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: false,
                root: false,
            },
            false,
        )
    },
};

static VARIANCEIF: AggregateFunction = AggregateFunction {
    signatures: &["varianceif(expr: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The sample variance over the rows where the predicate is true; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("varianceif"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3, 9] | summarize varianceif(n, n < 9)",
        "varianceif_n:real\n1.0",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: false,
                root: false,
            },
            true,
        )
    },
};

static VARIANCEP: AggregateFunction = AggregateFunction {
    signatures: &["variancep(expr: number|time) -> real"],
    aliases: &[],
    summary: "The population variance; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("variancep"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize variancep(n)",
        "variancep_n:real\n0.6666666667",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: true,
                root: false,
            },
            false,
        )
    },
};

static VARIANCEPIF: AggregateFunction = AggregateFunction {
    signatures: &["variancepif(expr: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The population variance over the rows where the predicate is true; 0 for fewer than two values.",
    result_name: AggregateName::Prefixed("variancepif"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3, 9] | summarize variancepif(n, n < 9)",
        "variancepif_n:real\n0.6666666667",
    )],
    bind: |call| {
        bind(
            call,
            Form {
                population: true,
                root: false,
            },
            true,
        )
    },
};

/// Selects one of the four forms.
struct Form {
    population: bool,
    root: bool,
}

fn bind(
    call: &AggregateCall<'_>,
    form: Form,
    conditional: bool,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(1)).transpose()?;
    let value = cast(call.expr(0)?, DataType::Float64);
    let variance = if form.population {
        var_pop(value)
    } else {
        var_sample(value)
    };
    let variance = rounded(filtered(variance, predicate, call.span)?);
    call.column(if form.root {
        datafusion::functions::math::expr_fn::sqrt(variance)
    } else {
        variance
    })
}

/// The value rounded to 10 decimal places; 0 if it is null.
pub(crate) fn rounded(value: Expr) -> Expr {
    let value = or_else(value, ScalarValue::Float64(Some(0.0)));
    kernel_call(
        &ROUNDED,
        vec![value],
        vec![ScalarType::Real],
        ScalarType::Real,
    )
}

pub(super) static ROUNDED: InnerKernel = InnerKernel::new("round_to_10_places", round_to_10_places);

fn round_to_10_places(args: &KernelArgs<'_>) -> Result<arrow::array::ArrayRef, KernelError> {
    let values = args.reals(0)?;
    Ok(args.collect_reals(|row| values.get(row).map(round10)))
}

/// Rounds half to even. Values from 1e16 on are unchanged, because a double has no decimals left there.
fn round10(value: f64) -> f64 {
    const SCALE: f64 = 1e10;
    if value.abs() < 1e16 {
        (value * SCALE).round_ties_even() / SCALE
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::round10;

    #[test]
    fn rounds_to_ten_decimal_places() {
        assert_eq!(round10(55.0 / 6.0), 9.1666666667);
        assert_eq!(round10(1.0), 1.0);
        assert_eq!(round10(1e20), 1e20);
        assert!(round10(f64::NAN).is_nan());
    }
}
