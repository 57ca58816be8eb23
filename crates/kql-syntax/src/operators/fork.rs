//! `fork`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Name, Subpipe};
use crate::operators::Operator;
use crate::parser::Parser;
use crate::token::TokenKind;

/// `fork [name=] (pipe) (pipe)`
#[derive(Debug, Clone, PartialEq)]
pub struct ForkOperator {
    /// The branches.
    pub branches: Vec<ForkBranch>,
}

/// `[name =] ( pipe )`
#[derive(Debug, Clone, PartialEq)]
pub struct ForkBranch {
    /// The result's name.
    pub name: Option<Name>,
    /// The pipeline over the input.
    pub operators: Vec<Operator>,
}

impl ForkOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ForkOperator> {
        let mut branches = Vec::new();
        while p.at(TokenKind::LeftParen) || p.name_length(0).is_some() || branches.is_empty() {
            let name = if p.at(TokenKind::LeftParen) {
                None
            } else {
                let name = p.defining_name()?;
                p.expect(TokenKind::Assign)?;
                Some(name)
            };
            let operators = p.subpipe()?;
            branches.push(ForkBranch { name, operators });
        }
        Some(ForkOperator { branches })
    }
}

impl Display for ForkOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("fork")?;
        for branch in &self.branches {
            if let Some(name) = &branch.name {
                write!(f, " {name} =")?;
            }
            write!(f, " {}", Subpipe(&branch.operators))?;
        }
        Ok(())
    }
}
