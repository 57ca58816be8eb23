//! `count`.

use crate::ast::Name;

/// `count [as Name]`
#[derive(Debug, Clone, PartialEq)]
pub struct CountOperator {
    /// `as Name`
    pub name: Option<Name>,
}
