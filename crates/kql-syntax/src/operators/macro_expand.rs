//! `macro-expand`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, Name, OperatorParameter, Parameters, Statement, Statements};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `macro-expand [kind=…] G as s ( body )`
#[derive(Debug, Clone, PartialEq)]
pub struct MacroExpandOperator {
    /// `kind=…`, `isfuzzy=…`
    pub parameters: Vec<OperatorParameter>,
    /// The group: a name, or an inline `entity_group [ … ]`.
    pub group: Vec<Expr>,
    /// `entity_group [ … ]` was written inline.
    pub inline: bool,
    /// The scope's name.
    pub scope: Name,
    /// The body.
    pub body: Vec<Statement>,
}

impl MacroExpandOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MacroExpandOperator> {
        let parameters = p.parameters(&["kind", "isfuzzy"])?;
        let inline = p.at_word("entity_group") && p.kind(1) == TokenKind::LeftBracket;
        let group = if inline {
            p.entity_group()?
        } else {
            vec![p.table_reference()?]
        };
        p.expect_word("as")?;
        let scope = p.defining_name()?;
        let body = p.block(TokenKind::LeftParen, TokenKind::RightParen)?;
        Some(MacroExpandOperator {
            parameters,
            group,
            inline,
            scope,
            body,
        })
    }
}

impl Display for MacroExpandOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "macro-expand{} ", Parameters(&self.parameters))?;
        if self.inline {
            write!(f, "entity_group [{}]", Commas(&self.group))?;
        } else {
            write!(f, "{}", Commas(&self.group))?;
        }
        write!(f, " as {} ({})", self.scope, Statements(&self.body))
    }
}
