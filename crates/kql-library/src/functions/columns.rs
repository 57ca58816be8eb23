//! Functions that return several columns when the call stands alone: `array_sort_asc(a, b)`, `series_stats(x)`
//! (`docs/semantics.md §13.1, §26`). Inside an expression such a call evaluates to its first column.

use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::array::sort;
use super::series::{
    decompose, decompose_anomalies, decompose_forecast, fft, fit, fit_2lines, fit_poly,
    periods_detect, periods_validate, stats,
};
use crate::call::InnerKernel;
use crate::definition::CallArgs;

/// A function that returns several columns.
pub struct ColumnsFunction {
    /// Its name.
    pub name: &'static str,
    /// Returns an array of the values of all columns.
    pub all: InnerKernel,
    /// The columns.
    pub columns: Columns,
    /// Checks the constant arguments of a call.
    pub check: fn(&CallArgs<'_>) -> Result<(), Diagnostic>,
}

/// The columns of a call.
pub enum Columns {
    /// Fixed columns, each named by the function, the argument and its own name.
    Fixed(&'static [(&'static str, ScalarType)]),
    /// One column per array argument, named by the argument with this suffix.
    OfArrays(&'static str),
}

static FUNCTIONS: &[ColumnsFunction] = &[
    ColumnsFunction {
        name: "array_sort_asc",
        all: InnerKernel::new("$array_sort_asc", |args| sort::sort_all(args, false)),
        columns: Columns::OfArrays("_sorted"),
        check: unchecked,
    },
    ColumnsFunction {
        name: "array_sort_desc",
        all: InnerKernel::new("$array_sort_desc", |args| sort::sort_all(args, true)),
        columns: Columns::OfArrays("_sorted"),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_stats",
        all: InnerKernel::new("$series_stats", stats::all),
        columns: Columns::Fixed(stats::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_fit_line",
        all: InnerKernel::new("$series_fit_line", fit::all),
        columns: Columns::Fixed(fit::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_fit_2lines",
        all: InnerKernel::new("$series_fit_2lines", fit_2lines::all),
        columns: Columns::Fixed(fit_2lines::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_fit_poly",
        all: InnerKernel::new("$series_fit_poly", fit_poly::all),
        columns: Columns::Fixed(fit_poly::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_fft",
        all: InnerKernel::new("$series_fft", fft::all_forward),
        columns: Columns::Fixed(fft::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_ifft",
        all: InnerKernel::new("$series_ifft", fft::all_inverse),
        columns: Columns::Fixed(fft::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_periods_detect",
        all: InnerKernel::new("$series_periods_detect", periods_detect::all),
        columns: Columns::Fixed(periods_detect::COLUMNS),
        check: unchecked,
    },
    ColumnsFunction {
        name: "series_periods_validate",
        all: InnerKernel::new("$series_periods_validate", periods_validate::all),
        columns: Columns::Fixed(periods_detect::COLUMNS),
        check: periods_validate::check,
    },
    ColumnsFunction {
        name: "series_decompose",
        all: InnerKernel::new("$series_decompose", decompose::all),
        columns: Columns::Fixed(decompose::COLUMNS),
        check: decompose::check,
    },
    ColumnsFunction {
        name: "series_decompose_anomalies",
        all: InnerKernel::new("$series_decompose_anomalies", decompose_anomalies::all),
        columns: Columns::Fixed(decompose_anomalies::COLUMNS),
        check: decompose_anomalies::check,
    },
    ColumnsFunction {
        name: "series_decompose_forecast",
        all: InnerKernel::new("$series_decompose_forecast", decompose_forecast::all),
        columns: Columns::Fixed(decompose::COLUMNS),
        check: decompose_forecast::check,
    },
];

fn unchecked(_: &CallArgs<'_>) -> Result<(), Diagnostic> {
    Ok(())
}

/// The multi-column function named `name`.
pub fn find(name: &str) -> Option<&'static ColumnsFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The kernels of the functions.
pub(super) fn inner_kernels() -> impl Iterator<Item = &'static InnerKernel> {
    FUNCTIONS.iter().map(|function| &function.all)
}
