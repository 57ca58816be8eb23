//! Groups by bins of time.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};

use crate::functions::BIN;

/// The index of the column and the width, at least 1, of `bin(column, width)`; `None` for another expression, and if the width is no constant whole number.
/// A value of the column is rounded down to a multiple of the width.
pub fn bin_of_column(expr: &Arc<dyn PhysicalExpr>) -> Option<(usize, i64)> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let [value, width] = call.args() else {
        return None;
    };
    let column = value.downcast_ref::<Column>()?;
    match width.downcast_ref::<Literal>()?.value() {
        ScalarValue::Int64(Some(width @ 1..)) if call.name() == BIN.name() => {
            Some((column.index(), *width))
        }
        _ => None,
    }
}
