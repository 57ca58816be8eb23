//! `parse-kv`.

use crate::ast::{ColumnDeclaration, Expr, OperatorParameter};

/// `parse-kv expr as (k:type, …) with (pair_delimiter=…, …)`
#[derive(Debug, Clone, PartialEq)]
pub struct ParseKvOperator {
    /// The text.
    pub source: Expr,
    /// The keys.
    pub columns: Vec<ColumnDeclaration>,
    /// `with (…)`
    pub properties: Vec<OperatorParameter>,
}
