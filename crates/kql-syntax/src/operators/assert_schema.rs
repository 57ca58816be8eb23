//! `assert-schema`.

use crate::ast::ColumnDeclaration;

/// `assert-schema (a:long, b:string)`
#[derive(Debug, Clone, PartialEq)]
pub struct AssertSchemaOperator {
    /// The expected columns.
    pub columns: Vec<ColumnDeclaration>,
}
