//! Names, name patterns, schemas.

use super::Parser;
use crate::ast::{ColumnDeclaration, Expr, ExprKind, Name};
use crate::literal::decode_string;
use crate::token::TokenKind;

/// Words that cannot be the bare name of a new column (`docs/semantics.md §1.2`).
const REFUSED: [&str; 14] = [
    "first", "last", "asc", "desc", "has", "where", "to", "missing", "true", "false", "True",
    "False", "TRUE", "FALSE",
];

/// Whether a bare word can define a name.
pub(crate) fn may_define(word: &str) -> bool {
    !REFUSED.contains(&word)
}

impl Parser<'_> {
    /// The number of tokens of the bare or bracketed name `ahead`, if there is one.
    pub(crate) fn name_length(&self, ahead: usize) -> Option<usize> {
        match self.kind(ahead) {
            TokenKind::Name => Some(1),
            TokenKind::LeftBracket
                if self.kind(ahead + 1) == TokenKind::String
                    && self.kind(ahead + 2) == TokenKind::RightBracket =>
            {
                Some(3)
            }
            _ => None,
        }
    }

    /// Parses any name.
    pub(crate) fn name(&mut self) -> Option<Name> {
        let start = self.start();
        if self.at(TokenKind::Name) {
            let text = self.text(0);
            self.advance();
            return Some(Name::new(text, start));
        }
        if self.name_length(0).is_none() {
            return self.fail();
        }
        let Some(text) = decode_string(self.text(1)) else {
            return self.fail_ahead(1);
        };
        self.skip(3);
        Some(Name::new(text, self.since(start)))
    }

    /// Parses a name that is defined here: the words of `REFUSED` must be bracketed.
    pub(crate) fn defining_name(&mut self) -> Option<Name> {
        if self.at(TokenKind::Name) && !may_define(self.text(0)) {
            return self.fail();
        }
        self.name()
    }

    /// The number of tokens of a pattern such as `a*`, `*_id` or `*` that starts `ahead`; `None` if they contain no `*`.
    fn pattern_length(&self, ahead: usize) -> Option<usize> {
        let mut count = 0;
        let mut star = false;
        loop {
            let kind = self.kind(ahead + count);
            let part = match kind {
                TokenKind::Star => true,
                TokenKind::Name | TokenKind::Long | TokenKind::TimeSpan => {
                    count > 0 || kind == TokenKind::Name
                }
                _ => false,
            };
            if !part || (count > 0 && !self.adjacent(ahead + count)) {
                break;
            }
            star |= kind == TokenKind::Star;
            count += 1;
        }
        (star && count > 0).then_some(count)
    }

    /// Parses a name pattern if one starts here.
    pub(crate) fn pattern(&mut self) -> Option<Expr> {
        let count = self.pattern_length(0)?;
        let start = self.start();
        self.skip(count);
        let span = self.since(start);
        Some(Expr::new(
            ExprKind::Wildcard(self.slice(span).to_owned()),
            span,
        ))
    }

    /// Parses a name pattern that is a whole argument: it ends before `,` or `)`.
    ///
    /// It must begin or end with `*`, because an argument such as `a*b` is a product.
    pub(crate) fn pattern_argument(&mut self) -> Option<Expr> {
        let count = self.pattern_length(0)?;
        let open = self.at(TokenKind::Star) || self.kind(count - 1) == TokenKind::Star;
        let ends = matches!(self.kind(count), TokenKind::Comma | TokenKind::RightParen);
        (open && ends).then(|| self.pattern()).flatten()
    }

    /// Parses a column name or a name pattern.
    pub(crate) fn name_or_pattern(&mut self) -> Option<Expr> {
        if let Some(pattern) = self.pattern() {
            return Some(pattern);
        }
        let name = self.name()?;
        let span = name.span();
        Some(Expr::new(ExprKind::Name(name), span))
    }

    /// Parses `name:type`.
    pub(crate) fn column_declaration(&mut self) -> Option<ColumnDeclaration> {
        let name = self.defining_name()?;
        self.expect(TokenKind::Colon)?;
        let kind = self.scalar_type()?;
        Some(ColumnDeclaration { name, kind })
    }

    /// Parses `(name:type, …)`.
    pub(crate) fn schema(&mut self) -> Option<Vec<ColumnDeclaration>> {
        self.bracketed_list(
            TokenKind::LeftParen,
            TokenKind::RightParen,
            Self::column_declaration,
        )
    }
}
