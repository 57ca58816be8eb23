//! A node of optimised logical plans that selects a physical node for the planner to insert.

use std::fmt;
use std::sync::Arc;

use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::transform::only_input;

/// The action of the planner at a [`MarkerNode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub(super) enum Marker {
    /// Hides the equivalences of the input ([`super::corrections::input_equivalences`]).
    HideEquivalences,
    /// Keeps the rows in the order of the input ([`super::corrections::lost_order`]).
    KeepOrder,
    /// Checks for cancellation; the physical plan has no node for it.
    CheckCancellation,
}

/// Passes its input through, with a marker.
#[derive(Debug, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct MarkerNode {
    pub(super) marker: Marker,
    input: Arc<LogicalPlan>,
}

impl MarkerNode {
    /// `input` under a marker.
    pub(super) fn plan(marker: Marker, input: Arc<LogicalPlan>) -> LogicalPlan {
        let node = Arc::new(MarkerNode { marker, input });
        LogicalPlan::Extension(Extension { node })
    }
}

impl UserDefinedLogicalNodeCore for MarkerNode {
    fn name(&self) -> &str {
        match self.marker {
            Marker::HideEquivalences => "HideEquivalences",
            Marker::KeepOrder => "KeepOrder",
            Marker::CheckCancellation => "CheckCancellation",
        }
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<MarkerNode> {
        let input = only_input(inputs, self.name())?;
        Ok(MarkerNode {
            marker: self.marker,
            input: Arc::new(input),
        })
    }
}
