//! Functions that give several columns when they stand alone: `array_sort_asc(a, b)`, `series_stats(x)`
//! (`semantics.md §13.1, §26`). As part of an expression such a call is its first column.

use hindsight_kql_types::ScalarType;

use super::array::sort;
use super::series::{fit, stats};
use crate::call::InnerKernel;

/// A function of several columns.
pub struct ColumnsFunction {
    /// Its name.
    pub name: &'static str,
    /// Gives an array of all columns' values.
    pub all: InnerKernel,
    /// Which columns there are.
    pub columns: Columns,
}

/// The columns of a call.
pub enum Columns {
    /// These, each called by the function, the argument and its own name.
    Fixed(&'static [(&'static str, ScalarType)]),
    /// One for each array among the arguments, called by the argument with this at the end.
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

/// The function of several columns called `name`.
pub fn find(name: &str) -> Option<&'static ColumnsFunction> {
    FUNCTIONS.iter().find(|function| function.name == name)
}
