//! Marks in an optimised plan, which planning it comes upon.

use std::fmt;
use std::sync::Arc;

use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use crate::transform::only_input;

/// What is to be done where a mark is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub(super) enum Mark {
    /// Nothing is assumed of the rows ([`super::hidden`]).
    Unassumed,
    /// The rows stay in the order that they have here ([`super::corrections::lost_order`]).
    Ordered,
    /// Planning asks whether the query is still wanted, and nothing stays of the mark.
    StopPoint,
}

/// The rows of its input, with a mark.
#[derive(Debug, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct Marked {
    pub(super) mark: Mark,
    input: Arc<LogicalPlan>,
}

impl Marked {
    /// `input` under a mark.
    pub(super) fn plan(mark: Mark, input: Arc<LogicalPlan>) -> LogicalPlan {
        let node = Arc::new(Marked { mark, input });
        LogicalPlan::Extension(Extension { node })
    }
}

impl UserDefinedLogicalNodeCore for Marked {
    fn name(&self) -> &str {
        match self.mark {
            Mark::Unassumed => "Unassumed",
            Mark::Ordered => "Ordered",
            Mark::StopPoint => "StopPoint",
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

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Marked> {
        let input = only_input(inputs, self.name())?;
        Ok(Marked {
            mark: self.mark,
            input: Arc::new(input),
        })
    }
}
