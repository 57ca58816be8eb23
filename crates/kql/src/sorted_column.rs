//! The column that a sort of a physical plan orders rows by, for sources that read it before other columns.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};

use crate::call::{InnerKernel, KernelId, physical_kernel_view};
use crate::real_key::{REAL_KEY, REAL_RANK};

/// The first column that a sort orders rows by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortedColumn {
    /// Its index in the input of the sort.
    pub index: usize,
    /// Large values come first.
    pub descending: bool,
    /// Nulls come first, and behind them the reals that are no numbers; otherwise both come last, nulls behind the others.
    pub nulls_first: bool,
}

/// The first column of an order over rows of `schema`; `None` if the first key is no column, or a real that is not sorted as the language
/// sorts reals.
pub fn sorted_column(order: &LexOrdering, schema: &Schema) -> Option<SortedColumn> {
    let first = order.first();
    if let Some(column) = first.expr.downcast_ref::<Column>() {
        let is_real = *schema.field(column.index()).data_type() == DataType::Float64;
        return (!is_real).then_some(SortedColumn {
            index: column.index(),
            descending: first.options.descending,
            nulls_first: first.options.nulls_first,
        });
    }
    // Two keys for a real: null, NaN and numbers apart, then the number.
    let value = order.get(1)?;
    let index = column_of(&first.expr, &REAL_RANK)?;
    (column_of(&value.expr, &REAL_KEY)? == index).then_some(SortedColumn {
        index,
        descending: value.options.descending,
        nulls_first: !first.options.descending,
    })
}

/// The column that `kernel` is called on.
fn column_of(expr: &Arc<dyn PhysicalExpr>, kernel: &'static InnerKernel) -> Option<usize> {
    let (id, args) = physical_kernel_view(expr.as_ref())?;
    let [argument] = args else {
        return None;
    };
    let column = argument.downcast_ref::<Column>()?;
    (id == KernelId::Inner(kernel)).then_some(column.index())
}
