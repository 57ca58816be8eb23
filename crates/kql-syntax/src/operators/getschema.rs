//! `getschema`.

/// `getschema`
#[derive(Debug, Clone, PartialEq)]
pub struct GetSchemaOperator {}
