//! Keeps large literals out of column names.
//!
//! DataFusion 55.2 writes every byte of a literal into the name of each column that contains it, and dozens of rules compute
//! such names: a plan with a list of a million values takes seconds to plan. So a call stands for a large value. The call
//! cannot be evaluated while a plan is bound and optimised, so no rule folds it into a literal; it can be evaluated in a
//! physical plan. The call is in `hindsight_kql_library::large`.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, LogicalPlan};
use hindsight_kql_library::large::{evaluable, is_large};

use crate::datafusion::rewrite::replace_in_plan;

pub(crate) use hindsight_kql_library::large::{in_place, literal, waits};

/// `plan` with large values that can be evaluated; the column names stay the same.
pub(in crate::datafusion) fn make_evaluable(plan: LogicalPlan) -> Result<LogicalPlan> {
    let contains = |expr: &Expr| expr.exists(|e| Ok(is_large(e)));
    replace_in_plan(plan, contains, evaluable)
}

#[cfg(test)]
mod tests {
    use datafusion::common::ScalarValue;

    use super::*;

    /// If the literal's name is short, the correction is no longer needed.
    #[test]
    fn a_large_value_is_not_part_of_column_names() {
        let value = ScalarValue::BinaryView(Some(vec![7; 1_000_000]));
        let literal_name = Expr::Literal(value.clone(), None).schema_name().to_string();
        assert!(literal_name.len() >= 1_000_000);
        let expr = literal(value.clone());
        assert!(expr.schema_name().to_string().len() < 40);
        let physical = evaluable(expr.clone()).expect("a call of no argument");
        assert!(physical.schema_name().to_string().len() < 40);
        assert_eq!(in_place(expr).ok(), Some(Expr::Literal(value, None)));
    }
}
