//! `covariance` and its population and conditional forms, rounded in the same way as the variance.

use arrow::datatypes::DataType;
use datafusion::functions_aggregate::expr_fn::{covar_pop, covar_samp};
use datafusion::logical_expr::cast;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::filtered;
use super::variance::rounded;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;

pub(crate) static LIST: &[&AggregateFunction] =
    &[&COVARIANCE, &COVARIANCEIF, &COVARIANCEP, &COVARIANCEPIF];

static COVARIANCE: AggregateFunction = AggregateFunction {
    signatures: &["covariance(x: number|time, y: number|time) -> real"],
    aliases: &[],
    summary: "The sample covariance; pairs with a null are ignored.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(x:long, y:long)[1, 2, 2, 4, 3, 6] | summarize c = covariance(x, y)",
        "c:real\n2.0",
    )],
    bind: |call| bind(call, "covariance", false, false),
};

static COVARIANCEIF: AggregateFunction = AggregateFunction {
    signatures: &["covarianceif(x: number|time, y: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The sample covariance over the rows where the predicate is true; pairs with a null are ignored.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(x:long, y:long)[1, 2, 2, 4, 3, 6, 9, 0] | summarize c = covarianceif(x, y, x < 9)",
        "c:real\n2.0",
    )],
    bind: |call| bind(call, "covarianceif", false, true),
};

static COVARIANCEP: AggregateFunction = AggregateFunction {
    signatures: &["covariancep(x: number|time, y: number|time) -> real"],
    aliases: &[],
    summary: "The population covariance; pairs with a null are ignored.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(x:long, y:long)[1, 2, 2, 4, 3, 6] | summarize c = covariancep(x, y)",
        "c:real\n1.3333333333",
    )],
    bind: |call| bind(call, "covariancep", true, false),
};

static COVARIANCEPIF: AggregateFunction = AggregateFunction {
    signatures: &["covariancepif(x: number|time, y: number|time, predicate: bool) -> real"],
    aliases: &[],
    summary: "The population covariance over the rows where the predicate is true; pairs with a null are ignored.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(x:long, y:long)[1, 2, 2, 4, 3, 6, 9, 0] | summarize c = covariancepif(x, y, x < 9)",
        "c:real\n1.3333333333",
    )],
    bind: |call| bind(call, "covariancepif", true, true),
};

fn bind(
    call: &AggregateCall<'_>,
    name: &str,
    population: bool,
    conditional: bool,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(2)).transpose()?;
    let x = cast(call.expr(0)?, DataType::Float64);
    let y = cast(call.expr(1)?, DataType::Float64);
    let covariance = if population {
        covar_pop(x, y)
    } else {
        covar_samp(x, y)
    };
    // Both arguments are part of the name: `covariance_x_y` (`docs/semantics.md §13.3`).
    let mut column = name.to_owned();
    for index in 0..2 {
        column.push('_');
        column.push_str(call.name(index).unwrap_or(""));
    }
    Ok(vec![AggregateColumn {
        name: Some(column),
        expr: rounded(filtered(covariance, predicate, call.span)?),
        kind: ScalarType::Real,
    }])
}
