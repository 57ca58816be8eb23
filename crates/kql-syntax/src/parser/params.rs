//! Rules that operators share: parameters such as `kind=…`, named items, sort keys, sub-pipelines.

use hindsight_kql_types::ScalarType;

use super::Parser;
use crate::ast::{
    Direction, Expr, ExprKind, Literal, Name, NamedExpr, Nulls, Operator, OperatorParameter,
    OrderedExpr,
};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses the operator's parameters: `hint.…=…` and the given names.
    pub(crate) fn parameters(&mut self, known: &[&str]) -> Option<Vec<OperatorParameter>> {
        let mut parameters = Vec::new();
        while let Some(length) = self.parameter_length() {
            let dotted = length > 1;
            if !dotted && !known.contains(&self.text(0)) {
                break;
            }
            parameters.push(self.parameter()?);
        }
        Some(parameters)
    }

    /// The number of tokens of the parameter name before `=`, if there is one here.
    fn parameter_length(&self) -> Option<usize> {
        if !self.at(TokenKind::Name) {
            return None;
        }
        let mut count = 1;
        while self.kind(count) == TokenKind::Dot && self.kind(count + 1) == TokenKind::Name {
            count += 2;
        }
        let is_hint = count == 1 || self.text(0) == "hint";
        (is_hint && self.kind(count) == TokenKind::Assign).then_some(count)
    }

    /// Parses one `name = value`.
    pub(crate) fn parameter(&mut self) -> Option<OperatorParameter> {
        let Some(count) = self.parameter_length() else {
            return self.fail();
        };
        let start = self.start();
        let text: String = (0..count).map(|ahead| self.text(ahead)).collect();
        self.skip(count);
        let name = Name::new(text, self.since(start));
        self.expect(TokenKind::Assign)?;
        let value = self.parameter_value()?;
        Some(OperatorParameter { name, value })
    }

    /// Parses a literal with an optional sign, or a word.
    pub(crate) fn parameter_value(&mut self) -> Option<Expr> {
        let typed =
            self.kind(1) == TokenKind::LeftParen && ScalarType::parse(self.text(0)).is_some();
        if self.name_length(0).is_some() && !typed && !self.at_boolean() {
            let name = self.name()?;
            let span = name.span();
            return Some(Expr::new(ExprKind::Name(name), span));
        }
        self.literal_value()
    }

    /// Parses `(name=value, …)`.
    pub(crate) fn properties(&mut self) -> Option<Vec<OperatorParameter>> {
        self.bracketed_list(TokenKind::LeftParen, TokenKind::RightParen, Self::parameter)
    }

    /// Parses `expr`, `Name = expr` or `(A, B) = expr`.
    pub(crate) fn named_expr(&mut self) -> Option<NamedExpr> {
        let (names, tuple) = self.written_names()?;
        let expr = match names.is_empty().then(|| self.lone_star()).flatten() {
            Some(star) => star,
            None => self.expr()?,
        };
        Some(NamedExpr { names, tuple, expr })
    }

    /// Parses `axis` or `Name = axis`; the expression ends before a comparison word.
    pub(crate) fn named_additive(&mut self) -> Option<NamedExpr> {
        let (names, tuple) = self.written_names()?;
        let expr = self.additive_expr()?;
        Some(NamedExpr { names, tuple, expr })
    }

    /// Parses a column: a name with a path. A parenthesis after it belongs to the operator and does not make it a call.
    pub(crate) fn column(&mut self) -> Option<Expr> {
        let name = self.name()?;
        let start = name.span();
        let mut left = Expr::new(ExprKind::Name(name), start);
        loop {
            let value = Box::new(left);
            let kind = match self.kind(0) {
                TokenKind::Dot if self.kind(1) == TokenKind::Name => {
                    self.advance();
                    let member = self.name()?;
                    ExprKind::Member { value, member }
                }
                TokenKind::LeftBracket => {
                    self.advance();
                    let index = Box::new(self.expr()?);
                    self.expect(TokenKind::RightBracket)?;
                    ExprKind::Index { value, index }
                }
                _ => return Some(*value),
            };
            self.grow()?;
            left = Expr::new(kind, self.since(start));
        }
    }

    /// Parses the predicate of `search` and `find`, where `col:"x"` is an expression.
    pub(crate) fn search_predicate(&mut self) -> Option<Expr> {
        let outer = std::mem::replace(&mut self.search, true);
        let predicate = self.expr();
        self.search = outer;
        predicate
    }

    /// `*` as a whole item, as in `distinct *`.
    fn lone_star(&mut self) -> Option<Expr> {
        let ends = matches!(
            self.kind(1),
            TokenKind::Pipe
                | TokenKind::Comma
                | TokenKind::Semicolon
                | TokenKind::End
                | TokenKind::RightParen
                | TokenKind::RightBrace
        );
        (self.at(TokenKind::Star) && ends)
            .then(|| self.pattern())
            .flatten()
    }

    /// Parses `Name =` or `(A, B) =` if there is one here.
    fn written_names(&mut self) -> Option<(Vec<Name>, bool)> {
        if let Some(length) = self.name_length(0)
            && self.kind(length) == TokenKind::Assign
        {
            let name = self.defining_name()?;
            self.advance();
            return Some((vec![name], false));
        }
        if self.at(TokenKind::LeftParen) && self.kind(self.mate(0) + 1) == TokenKind::Assign {
            let names = self.bracketed_list(
                TokenKind::LeftParen,
                TokenKind::RightParen,
                Self::defining_name,
            )?;
            // `() = x` has no name.
            if names.is_empty() {
                return self.fail();
            }
            self.expect(TokenKind::Assign)?;
            return Some((names, true));
        }
        Some((Vec::new(), false))
    }

    /// Parses `item, item, …`.
    pub(crate) fn named_exprs(&mut self) -> Option<Vec<NamedExpr>> {
        self.comma_list(Self::named_expr)
    }

    /// Parses `expr [asc|desc] [nulls first|last]`.
    pub(crate) fn ordered_expr(&mut self) -> Option<OrderedExpr> {
        let expr = self.expr()?;
        let direction = self.direction();
        let nulls = if self.eat_word("nulls") {
            if self.eat_word("first") {
                Some(Nulls::First)
            } else {
                self.expect_word("last")?;
                Some(Nulls::Last)
            }
        } else {
            None
        };
        Some(OrderedExpr {
            expr,
            direction,
            nulls,
        })
    }

    /// Parses `asc` or `desc` if there is one here.
    pub(crate) fn direction(&mut self) -> Option<Direction> {
        if self.eat_word("asc") {
            Some(Direction::Asc)
        } else if self.eat_word("desc") {
            Some(Direction::Desc)
        } else {
            None
        }
    }

    /// Parses `( operator | operator )`, a pipeline over the input of the enclosing operator.
    pub(crate) fn subpipe(&mut self) -> Option<Vec<Operator>> {
        self.expect(TokenKind::LeftParen)?;
        let search = std::mem::replace(&mut self.search, false);
        let operators = self.nested(|p| {
            let mut operators = Vec::new();
            p.operators(&mut operators)?;
            Some(operators)
        });
        self.search = search;
        let operators = operators?;
        self.expect(TokenKind::RightParen)?;
        Some(operators)
    }

    /// Whether the current token is `true` or `false`.
    pub(crate) fn at_boolean(&self) -> bool {
        self.at(TokenKind::Name)
            && matches!(
                self.text(0),
                "true" | "false" | "True" | "False" | "TRUE" | "FALSE"
            )
    }

    /// Parses a literal that includes its sign, as in `datatable` and parameters.
    pub(crate) fn literal_value(&mut self) -> Option<Expr> {
        let start = self.start();
        let negative = self.at(TokenKind::Minus);
        if !negative && !self.at(TokenKind::Plus) {
            return match self.literal() {
                Some(found) => found,
                None => self.fail(),
            };
        }
        let sign = if negative { "-" } else { "" };
        let text = format!("{sign}{}", self.text(1));
        let literal = match self.kind(1) {
            TokenKind::Long => crate::literal::signed_long(&text).map(Literal::Long),
            TokenKind::Real => crate::literal::parse_real(&text).map(Literal::Real),
            TokenKind::TimeSpan => crate::literal::parse_timespan(&text).map(Literal::TimeSpan),
            _ => None,
        };
        let Some(literal) = literal else {
            return self.fail_ahead(1);
        };
        self.skip(2);
        Some(Expr::new(ExprKind::Literal(literal), self.since(start)))
    }
}
