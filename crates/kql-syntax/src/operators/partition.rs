//! `partition`.

use crate::ast::{Expr, OperatorParameter, Statement};
use crate::operators::Operator;

/// `partition [hint.strategy=…] by col ( pipe )` or `{ query }`
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The key.
    pub by: Expr,
    /// What runs on each partition.
    pub body: PartitionBody,
}

/// The body of `partition`.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionBody {
    /// `( pipe )`
    Pipe(Vec<Operator>),
    /// `{ query with its own source }`
    Query(Vec<Statement>),
}
