//! Functions that return several columns when the call stands alone: `array_sort_asc(a, b)`, `series_stats(x)`
//! (`docs/semantics.md §13.1, §26`). Inside an expression such a call evaluates to its first column.

use hindsight_kql_types::ScalarType;

use super::array::sort;
use super::series::{fit, stats};
use crate::call::InnerKernel;

/// A function that returns several columns.
pub struct ColumnsFunction {
    /// Its name.
    pub name: &'static str,
    /// Returns an array of the values of all columns.
    pub all: InnerKernel,
    /// The columns.
    pub columns: Columns,
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
    },
    ColumnsFunction {
        name: "array_sort_desc",
        all: InnerKernel::new("$array_sort_desc", |args| sort::sort_all(args, true)),
        columns: Columns::OfArrays("_sorted"),
    },
    ColumnsFunction {
        name: "series_stats",
        all: InnerKernel::new("$series_stats", stats::all),
        columns: Columns::Fixed(stats::COLUMNS),
    },
    ColumnsFunction {
        name: "series_fit_line",
        all: InnerKernel::new("$series_fit_line", fit::all),
        columns: Columns::Fixed(fit::COLUMNS),
    },
];

/// The multi-column function named `name`.
pub fn find(name: &str) -> Option<&'static ColumnsFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}
