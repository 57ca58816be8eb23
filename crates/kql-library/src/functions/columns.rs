//! Functions that return several columns when the call stands alone: `array_sort_asc(a, b)`, `series_stats(x)`
//! (`docs/semantics.md §13.1, §26`). Inside an expression such a call evaluates to its first column.

use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::array::sort;
use super::series::{decompose, decompose_forecast};
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
