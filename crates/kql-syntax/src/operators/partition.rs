//! `partition`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, OperatorParameter, Parameters, Statement, Statements, Subpipe};
use crate::operators::Operator;
use crate::parser::Parser;
use crate::token::TokenKind;

/// `partition [hint.strategy=…] by col ( pipe )` or `{ query }`
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The key.
    pub by: Expr,
    /// The pipeline over each partition.
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

impl PartitionOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<PartitionOperator> {
        let parameters = p.parameters(&[])?;
        p.expect_word("by")?;
        let by = p.column()?;
        let body = if p.at(TokenKind::LeftBrace) {
            PartitionBody::Query(p.block(TokenKind::LeftBrace, TokenKind::RightBrace)?)
        } else {
            PartitionBody::Pipe(p.subpipe()?)
        };
        Some(PartitionOperator {
            parameters,
            by,
            body,
        })
    }
}

impl Display for PartitionOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "partition{} by {} ",
            Parameters(&self.parameters),
            self.by
        )?;
        match &self.body {
            PartitionBody::Pipe(operators) => write!(f, "{}", Subpipe(operators)),
            PartitionBody::Query(statements) => write!(f, "{{ {} }}", Statements(statements)),
        }
    }
}
