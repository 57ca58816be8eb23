//! `search`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, OperatorParameter, Parameters};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `search [kind=…] [in (T1, …)] predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOperator {
    /// `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// `in (…)`
    pub tables: Vec<Expr>,
    /// The predicate; `col:"x"` is a call of [`SEARCH_COLUMN_TERM`].
    pub predicate: Expr,
}

/// The name of the call that stands for `col:"x"`; its arguments are the column and the term.
pub const SEARCH_COLUMN_TERM: &str = "$column_term";

impl SearchOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SearchOperator> {
        let parameters = p.parameters(&["kind"])?;
        let tables = if p.at_word("in") && p.kind(1) == TokenKind::LeftParen {
            p.advance();
            p.bracketed_list(
                TokenKind::LeftParen,
                TokenKind::RightParen,
                Parser::table_reference,
            )?
        } else {
            Vec::new()
        };
        let predicate = p.search_predicate()?;
        Some(SearchOperator {
            parameters,
            tables,
            predicate,
        })
    }
}

impl Display for SearchOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "search{}", Parameters(&self.parameters))?;
        if !self.tables.is_empty() {
            write!(f, " in ({})", Commas(&self.tables))?;
        }
        write!(f, " {}", self.predicate)
    }
}
