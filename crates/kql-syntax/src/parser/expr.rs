//! Expressions: precedence climbing, which parses chains of one operator without recursion.

use super::Parser;
use crate::ast::precedence::{ADDITIVE, COMPARISON, OR};
use crate::ast::{
    Argument, BinaryOp, Call, DataTable, Expr, ExprKind, ExternalData, ListOp, Name,
    SEARCH_COLUMN_TERM, UnaryOp,
};
use crate::token::TokenKind;

/// An operator between two operands.
enum Infix {
    Binary(BinaryOp),
    List(ListOp),
    Between {
        negated: bool,
    },
    /// `col:"x"` in `search`.
    Term,
}

/// Words that are operators and cannot be a bare name in an expression.
const INFIX_WORDS: [&str; 4] = ["and", "or", "in", "between"];

impl<'a> Parser<'a> {
    /// Parses a scalar expression.
    pub(crate) fn expr(&mut self) -> Option<Expr> {
        self.nested(|p| p.binary(OR))
    }

    /// Parses an expression that ends before a comparison word, such as the axis of `make-series`.
    pub(crate) fn additive_expr(&mut self) -> Option<Expr> {
        self.nested(|p| p.binary(ADDITIVE))
    }

    /// The operator that starts here, its precedence and its number of tokens.
    fn infix(&self) -> Option<(Infix, u8, usize)> {
        let text = self.text(0);
        let binary = |op: BinaryOp, count| Some((Infix::Binary(op), op.precedence(), count));
        match self.kind(0) {
            TokenKind::Name if text == "matches" && self.word_at(1, "regex") => {
                binary(BinaryOp::MatchesRegex, 2)
            }
            TokenKind::Name | TokenKind::OperatorWord => {
                if let "between" | "!between" = text {
                    let negated = text.starts_with('!');
                    return Some((Infix::Between { negated }, COMPARISON, 1));
                }
                match ListOp::from_spelling(text) {
                    Some(op) => Some((Infix::List(op), COMPARISON, 1)),
                    None => binary(BinaryOp::from_spelling(text)?, 1),
                }
            }
            TokenKind::Colon if self.search => Some((Infix::Term, COMPARISON, 1)),
            TokenKind::String | TokenKind::Bad | TokenKind::End => None,
            _ => binary(BinaryOp::from_spelling(text)?, 1),
        }
    }

    fn binary(&mut self, weakest: u8) -> Option<Expr> {
        let mut last = u8::MAX;
        let mut left = match self.kind(0) {
            TokenKind::Star => self.any_column(weakest)?,
            _ => self.unary()?,
        };
        // `* has "x"` is a comparison, and comparisons do not chain.
        if matches!(left.kind, ExprKind::AnyColumn { .. }) {
            last = COMPARISON;
        }
        while let Some((infix, precedence, count)) = self.infix() {
            let chained = precedence == COMPARISON && last <= COMPARISON;
            // `in (…)` and `between (…)` end with a bracket, so an operator of higher precedence after them has no left operand.
            if precedence < weakest || precedence > last || chained {
                break;
            }
            self.skip(count);
            last = precedence;
            let left_height = std::mem::take(&mut self.height);
            left = self.right_side(infix, precedence, left)?;
            self.height = self.height.max(left_height);
            self.grow()?;
        }
        Some(left)
    }

    /// Parses the right operand and combines both operands.
    fn right_side(&mut self, infix: Infix, precedence: u8, left: Expr) -> Option<Expr> {
        let start = left.span;
        let kind = match infix {
            Infix::Binary(op) => {
                let right = self.nested(|p| p.binary(precedence + 1))?;
                ExprKind::Binary {
                    op,
                    left: Box::new(left),
                    right: Box::new(right),
                }
            }
            Infix::Term => {
                let right = self.nested(|p| p.binary(precedence + 1))?;
                return Some(Expr::new(term(left, right), self.since(start)));
            }
            Infix::List(op) => {
                let list = self.in_list()?;
                ExprKind::InList {
                    op,
                    value: Box::new(left),
                    list,
                }
            }
            Infix::Between { negated } => self.between(negated, left)?,
        };
        Some(Expr::new(kind, self.since(start)))
    }

    fn in_list(&mut self) -> Option<Vec<Expr>> {
        self.nested(|p| {
            p.bracketed_list(
                TokenKind::LeftParen,
                TokenKind::RightParen,
                Self::tabular_item,
            )
        })
    }

    fn between(&mut self, negated: bool, value: Expr) -> Option<ExprKind> {
        self.expect(TokenKind::LeftParen)?;
        let low = self.expr()?;
        self.expect(TokenKind::DotDot)?;
        let high = self.expr()?;
        self.expect(TokenKind::RightParen)?;
        Some(ExprKind::Between {
            negated,
            value: Box::new(value),
            low: Box::new(low),
            high: Box::new(high),
        })
    }

    fn unary(&mut self) -> Option<Expr> {
        let op = match self.kind(0) {
            TokenKind::Minus => UnaryOp::Minus,
            TokenKind::Plus => UnaryOp::Plus,
            _ => return self.postfix(false),
        };
        let start = self.start();
        self.advance();
        if self.at(TokenKind::Star) {
            return self.fail();
        }
        let value = Box::new(self.nested(Self::unary)?);
        Some(Expr::new(ExprKind::Unary { op, value }, self.since(start)))
    }

    /// Parses `* has "x"`, and `*:"x"` in `search`. It cannot be the operand of an operator of higher precedence.
    fn any_column(&mut self, weakest: u8) -> Option<Expr> {
        let start = self.start();
        self.advance();
        match self.infix() {
            Some((Infix::Binary(op), COMPARISON, count)) if weakest <= COMPARISON => {
                self.skip(count);
                let right = Box::new(self.nested(|p| p.binary(ADDITIVE))?);
                Some(Expr::new(
                    ExprKind::AnyColumn { op, right },
                    self.since(start),
                ))
            }
            Some((Infix::Term, ..)) => Some(Expr::new(ExprKind::Wildcard("*".to_owned()), start)),
            _ if self.search => Some(Expr::new(ExprKind::Wildcard("*".to_owned()), start)),
            _ => self.fail(),
        }
    }

    /// Parses a table, a call or a parenthesised expression with its `.name` and `[index]`, without operators.
    ///
    /// With `wildcard` the last name may be a pattern, as in `database("d").T*`.
    pub(crate) fn postfix(&mut self, wildcard: bool) -> Option<Expr> {
        let start = self.start();
        let mut left = self.primary()?;
        loop {
            let kind = match self.kind(0) {
                TokenKind::Dot => self.member(left, wildcard)?,
                TokenKind::LeftBracket => self.index(left)?,
                _ => return Some(left),
            };
            self.grow()?;
            left = Expr::new(kind, self.since(start));
        }
    }

    fn index(&mut self, value: Expr) -> Option<ExprKind> {
        let height = std::mem::take(&mut self.height);
        self.expect(TokenKind::LeftBracket)?;
        let index = self.expr()?;
        self.expect(TokenKind::RightBracket)?;
        self.height = self.height.max(height);
        Some(ExprKind::Index {
            value: Box::new(value),
            index: Box::new(index),
        })
    }

    fn member(&mut self, value: Expr, wildcard: bool) -> Option<ExprKind> {
        self.expect(TokenKind::Dot)?;
        if self.at(TokenKind::LeftBracket) {
            return self.index(value);
        }
        let value = Box::new(value);
        if wildcard && let Some(pattern) = self.pattern() {
            let ExprKind::Wildcard(text) = pattern.kind else {
                return self.fail();
            };
            let member = Name::new(text, pattern.span);
            return Some(ExprKind::Member { value, member });
        }
        if !self.at(TokenKind::Name) {
            return self.fail();
        }
        let member = self.name()?;
        if self.at(TokenKind::LeftParen) {
            let call = self.call(member)?;
            return Some(ExprKind::MemberCall { value, call });
        }
        Some(ExprKind::Member { value, member })
    }

    /// Parses the arguments of a call after its name.
    pub(crate) fn call(&mut self, function: Name) -> Option<Call> {
        let inner = self.search && function.text == "not";
        let search = std::mem::replace(&mut self.search, inner);
        let arguments = self.nested(|p| {
            p.bracketed_list(TokenKind::LeftParen, TokenKind::RightParen, Self::argument)
        });
        self.search = search;
        Some(Call {
            function,
            arguments: arguments?,
        })
    }

    fn argument(&mut self) -> Option<Argument> {
        let length = self
            .name_length(0)
            .filter(|length| self.kind(*length) == TokenKind::Assign);
        let name = match length {
            Some(_) => {
                let name = self.name()?;
                self.advance();
                Some(name)
            }
            None => None,
        };
        let value = match self.pattern_argument() {
            Some(pattern) => pattern,
            None => self.tabular_item()?,
        };
        Some(Argument { name, value })
    }

    /// Parses an expression that may be a whole pipeline: an argument, an item of `in (…)`.
    fn tabular_item(&mut self) -> Option<Expr> {
        self.tabular()
    }

    fn primary(&mut self) -> Option<Expr> {
        if let Some(literal) = self.literal() {
            return literal;
        }
        let start = self.start();
        match self.kind(0) {
            TokenKind::LeftParen => {
                self.advance();
                let inner = self.nested(Self::tabular)?;
                self.expect(TokenKind::RightParen)?;
                Some(Expr::new(
                    ExprKind::Parenthesised(Box::new(inner)),
                    self.since(start),
                ))
            }
            TokenKind::Name | TokenKind::LeftBracket => self.named_primary(),
            _ => self.fail(),
        }
    }

    fn named_primary(&mut self) -> Option<Expr> {
        let start = self.start();
        let call = self.kind(1) == TokenKind::LeftParen;
        let kind = match self.text(0) {
            "typeof" if call => ExprKind::TypeOf(self.type_of()?),
            "datatable" if call => ExprKind::DataTable(self.datatable()?),
            "externaldata" | "external_data" if call => {
                ExprKind::ExternalData(self.external_data()?)
            }
            // The hint does not change the result (`docs/semantics.md §14.6`).
            "toscalar" if self.word_at(1, "kind") && self.kind(2) == TokenKind::Assign => {
                let name = self.name()?;
                self.parameter()?;
                ExprKind::Call(self.call(name)?)
            }
            word if INFIX_WORDS.contains(&word)
                || (BinaryOp::from_spelling(word).is_some() && !call) =>
            {
                return self.fail();
            }
            word if !call && self.at(TokenKind::Name) && !super::name::may_define(word) => {
                return self.fail();
            }
            _ => {
                let name = self.name()?;
                if self.at(TokenKind::LeftParen) {
                    ExprKind::Call(self.call(name)?)
                } else {
                    ExprKind::Name(name)
                }
            }
        };
        Some(Expr::new(kind, self.since(start)))
    }

    fn datatable(&mut self) -> Option<DataTable> {
        self.advance();
        let columns = self.schema()?;
        let values = self.list_of_literals(
            TokenKind::LeftBracket,
            TokenKind::RightBracket,
            Self::literal_value,
        )?;
        Some(DataTable { columns, values })
    }

    fn external_data(&mut self) -> Option<ExternalData> {
        self.advance();
        let columns = self.schema()?;
        let uris =
            self.bracketed_list(TokenKind::LeftBracket, TokenKind::RightBracket, Self::expr)?;
        let properties = if self.eat_word("with") {
            self.properties()?
        } else {
            Vec::new()
        };
        Some(ExternalData {
            columns,
            uris,
            properties,
        })
    }
}

/// `column:term` as a call of [`SEARCH_COLUMN_TERM`].
fn term(column: Expr, term: Expr) -> ExprKind {
    let argument = |value| Argument { name: None, value };
    ExprKind::Call(Call {
        function: Name::synthetic(SEARCH_COLUMN_TERM),
        arguments: vec![argument(column), argument(term)],
    })
}
