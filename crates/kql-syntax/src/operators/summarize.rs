//! `summarize`.

use crate::ast::{NamedExpr, OperatorParameter};

/// `summarize [hints] aggregates by keys`
#[derive(Debug, Clone, PartialEq)]
pub struct SummarizeOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The aggregates.
    pub aggregates: Vec<NamedExpr>,
    /// `by` was written.
    pub has_by: bool,
    /// The keys.
    pub by: Vec<NamedExpr>,
}
