//! `evaluate`.

use crate::ast::{Call, OperatorParameter, TypeOf};

/// `evaluate [hint.distribution=…] plugin(args) [: (schema)]`
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The plug-in and its arguments.
    pub plugin: Call,
    /// The declared schema of the result.
    pub schema: Option<TypeOf>,
}
