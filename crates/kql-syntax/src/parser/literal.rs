//! Literals in expressions, and the inside of `dynamic(…)`.

use hindsight_kql_types::ScalarType;

use super::Parser;
use crate::ast::{DynamicLiteral, Expr, ExprKind, Literal};
use crate::literal::{
    decode_json_string, decode_string, parse_integer, parse_real, parse_timespan_suffix,
    parse_typed,
};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses a literal. `None` if none starts here, `Some(None)` after an error in it.
    pub(crate) fn literal(&mut self) -> Option<Option<Expr>> {
        let start = self.start();
        let literal = match self.kind(0) {
            TokenKind::String => self.string().map(Literal::String),
            TokenKind::Long => self.simple(|text| parse_integer(text).map(Literal::Long)),
            TokenKind::Real => self.simple(|text| parse_real(text).map(Literal::Real)),
            TokenKind::TimeSpan => {
                self.simple(|text| parse_timespan_suffix(text).map(Literal::TimeSpan))
            }
            TokenKind::Name if self.at_boolean() => {
                self.simple(|text| Some(Literal::Bool(text.eq_ignore_ascii_case("true"))))
            }
            TokenKind::Name if self.kind(1) == TokenKind::LeftParen => self.typed()?,
            _ => return None,
        };
        Some(literal.map(|literal| Expr::new(ExprKind::Literal(literal), self.since(start))))
    }

    fn simple(&mut self, read: impl FnOnce(&str) -> Option<Literal>) -> Option<Literal> {
        match read(self.text(0)) {
            Some(literal) => {
                self.advance();
                Some(literal)
            }
            None => self.fail(),
        }
    }

    /// Parses a string literal. Adjacent literals are concatenated.
    pub(crate) fn string(&mut self) -> Option<String> {
        if !self.at(TokenKind::String) {
            return self.fail();
        }
        let mut text = String::new();
        while self.at(TokenKind::String) {
            match decode_string(self.text(0)) {
                Some(part) => text.push_str(&part),
                None => return self.fail(),
            }
            self.advance();
        }
        Some(text)
    }

    /// Parses `type(…)`: `None` if the name is not the name of a type.
    fn typed(&mut self) -> Option<Option<Literal>> {
        let kind = ScalarType::parse(self.text(0))?;
        if matches!(self.text(0), "string" | "object") {
            return None;
        }
        if kind == ScalarType::Dynamic {
            return Some(self.dynamic());
        }
        let close = self.mate(1);
        if self.kind(close) != TokenKind::RightParen {
            self.skip(close);
            return Some(self.fail());
        }
        let from = self.token(1).span.end as usize;
        let to = self.token(close).span.start as usize;
        let raw = self.text.get(from..to).unwrap_or("");
        let literal = parse_typed(kind, raw);
        if literal.is_none() {
            let trimmed = raw.trim();
            let offset = from + (raw.len() - raw.trim_start().len());
            return Some(self.fail_at(crate::Span::new(offset, offset + trimmed.len())));
        }
        self.skip(close + 1);
        Some(literal)
    }

    fn dynamic(&mut self) -> Option<Literal> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let value = self.dynamic_value()?;
        self.expect(TokenKind::RightParen)?;
        Some(match value {
            DynamicLiteral::Null => Literal::Null(ScalarType::Dynamic),
            value => Literal::Dynamic(value),
        })
    }

    fn dynamic_value(&mut self) -> Option<DynamicLiteral> {
        match self.kind(0) {
            TokenKind::LeftBracket => self.nested(Self::dynamic_array),
            TokenKind::LeftBrace => self.nested(Self::dynamic_bag),
            TokenKind::String => self.json_string().map(DynamicLiteral::String),
            TokenKind::Name if matches!(self.text(0), "null" | "Null" | "NULL") => {
                self.advance();
                Some(DynamicLiteral::Null)
            }
            TokenKind::Name if self.at_word("dynamic") && self.kind(1) == TokenKind::LeftParen => {
                self.nested(|p| {
                    p.skip(2);
                    let value = p.dynamic_value()?;
                    p.expect(TokenKind::RightParen)?;
                    Some(value)
                })
            }
            _ => self.dynamic_scalar(),
        }
    }

    fn dynamic_array(&mut self) -> Option<DynamicLiteral> {
        self.list_of_literals(
            TokenKind::LeftBracket,
            TokenKind::RightBracket,
            Self::dynamic_value,
        )
        .map(DynamicLiteral::Array)
    }

    fn dynamic_bag(&mut self) -> Option<DynamicLiteral> {
        self.list_of_literals(TokenKind::LeftBrace, TokenKind::RightBrace, |p| {
            if !p.at(TokenKind::String) {
                return p.fail();
            }
            let key = p.json_string()?;
            p.expect(TokenKind::Colon)?;
            Some((key, p.dynamic_value()?))
        })
        .map(DynamicLiteral::Bag)
    }

    fn json_string(&mut self) -> Option<String> {
        let mut text = String::new();
        while self.at(TokenKind::String) {
            match decode_json_string(self.text(0)) {
                Some(part) => text.push_str(&part),
                None => return self.fail(),
            }
            self.advance();
        }
        Some(text)
    }

    /// A number, a boolean or a typed literal as an element (`docs/semantics.md §9.1`).
    fn dynamic_scalar(&mut self) -> Option<DynamicLiteral> {
        let place = self.start();
        let typed_bool = self.kind(1) == TokenKind::LeftParen
            && ScalarType::parse(self.text(0)) == Some(ScalarType::Bool);
        if typed_bool {
            return self.fail();
        }
        let ExprKind::Literal(literal) = self.literal_value()?.kind else {
            return self.fail_at(place);
        };
        Some(match literal {
            Literal::Bool(value) => DynamicLiteral::Bool(value),
            Literal::Int(value) => DynamicLiteral::Long(i64::from(value)),
            Literal::Long(value) | Literal::TimeSpan(value) => DynamicLiteral::Long(value),
            Literal::Real(value) if value.is_nan() => DynamicLiteral::String("NaN".to_owned()),
            Literal::Real(value) if value.is_infinite() => DynamicLiteral::String(
                if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
            ),
            Literal::Real(value) => DynamicLiteral::Real(value),
            Literal::Decimal(text) | Literal::String(text) => DynamicLiteral::String(text),
            Literal::DateTime(ticks) => DynamicLiteral::DateTime(ticks),
            Literal::Guid(value) => DynamicLiteral::String(value.to_string()),
            Literal::Dynamic(value) => value,
            Literal::Null(ScalarType::DateTime) | Literal::DateTimeNow => {
                return self.fail_at(place);
            }
            Literal::Null(_) => DynamicLiteral::Null,
        })
    }
}
