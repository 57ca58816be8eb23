//! `project-reorder`.

use crate::ast::Expr;

/// `project-reorder a, b* desc`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectReorderOperator {
    /// Names and wildcards with an order for what a wildcard matches.
    pub columns: Vec<ReorderColumn>,
}

/// `name-or-pattern [asc|desc|granny-asc|granny-desc]`
#[derive(Debug, Clone, PartialEq)]
pub struct ReorderColumn {
    /// A name or wildcard.
    pub column: Expr,
    /// How the matches of a wildcard are ordered.
    pub order: Option<ReorderOrder>,
}

/// The order of a wildcard's matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReorderOrder {
    /// `asc`
    Asc,
    /// `desc`
    Desc,
    /// `granny-asc`: digits as numbers.
    GrannyAsc,
    /// `granny-desc`
    GrannyDesc,
}
