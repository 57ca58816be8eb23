//! `invoke`.

use crate::ast::Call;

/// `invoke f(args)`
#[derive(Debug, Clone, PartialEq)]
pub struct InvokeOperator {
    /// The function; the input is its first argument.
    pub call: Call,
}
