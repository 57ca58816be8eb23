//! `find`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, OperatorParameter, Parameters};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `find [withsource=C] in (T1, …) where pred [project …]`
#[derive(Debug, Clone, PartialEq)]
pub struct FindOperator {
    /// `withsource=…`, `datascope=…`
    pub parameters: Vec<OperatorParameter>,
    /// `in (…)`
    pub tables: Vec<Expr>,
    /// The predicate.
    pub predicate: Expr,
    /// The returned columns.
    pub projection: FindProjection,
    /// `project-away …`
    pub away: Vec<Expr>,
}

/// The columns that `find` returns.
#[derive(Debug, Clone, PartialEq)]
pub enum FindProjection {
    /// `project-smart`, or nothing written.
    Smart,
    /// `project a, b:long, pack(*)`
    Columns {
        /// The columns, with their types if written.
        columns: Vec<(Expr, Option<hindsight_kql_types::ScalarType>)>,
        /// `pack(*)`
        pack: bool,
    },
}

impl FindOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<FindOperator> {
        let parameters = p.parameters(&["withsource", "with_source", "datascope"])?;
        let tables = if p.at_word("in") {
            p.advance();
            p.bracketed_list(
                TokenKind::LeftParen,
                TokenKind::RightParen,
                Parser::table_reference,
            )?
        } else {
            Vec::new()
        };
        p.eat_word("where");
        let predicate = p.search_predicate()?;
        let projection = if !p.eat_joined("project-smart")
            && !p.at_joined("project-away")
            && p.eat_word("project")
        {
            find_columns(p)?
        } else {
            FindProjection::Smart
        };
        let away = if p.eat_joined("project-away") {
            p.comma_list(Parser::name_or_pattern)?
        } else {
            Vec::new()
        };
        Some(FindOperator {
            parameters,
            tables,
            predicate,
            projection,
            away,
        })
    }
}

impl Display for FindOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "find{}", Parameters(&self.parameters))?;
        if !self.tables.is_empty() {
            write!(f, " in ({})", Commas(&self.tables))?;
        }
        write!(f, " where {}", self.predicate)?;
        if let FindProjection::Columns { columns, pack } = &self.projection {
            f.write_str(" project ")?;
            for (index, (column, kind)) in columns.iter().enumerate() {
                write!(f, "{}{column}", if index > 0 { ", " } else { "" })?;
                if let Some(kind) = kind {
                    write!(f, ":{}", kind.name())?;
                }
            }
            if *pack {
                f.write_str(if columns.is_empty() {
                    "pack(*)"
                } else {
                    ", pack(*)"
                })?;
            }
        }
        if !self.away.is_empty() {
            write!(f, " project-away {}", Commas(&self.away))?;
        }
        Ok(())
    }
}

/// Parses `a, b:long, pack(*)`; `pack_all()` is the same as `pack(*)`.
fn find_columns(p: &mut Parser<'_>) -> Option<FindProjection> {
    let mut columns = Vec::new();
    let mut pack = false;
    p.comma_list(|p| {
        if p.at_word("pack") && p.kind(1) == TokenKind::LeftParen && p.kind(2) == TokenKind::Star {
            p.skip(3);
            pack = true;
            return p.expect(TokenKind::RightParen);
        }
        if p.at_word("pack_all") && p.kind(1) == TokenKind::LeftParen {
            p.skip(2);
            pack = true;
            return p.expect(TokenKind::RightParen);
        }
        let column = p.column()?;
        let kind = if p.eat(TokenKind::Colon) {
            Some(p.scalar_type()?)
        } else {
            None
        };
        columns.push((column, kind));
        Some(())
    })?;
    Some(FindProjection::Columns { columns, pack })
}
