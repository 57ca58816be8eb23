//! Pipelines: a source and operators between `|`.

use super::Parser;
use crate::ast::{Expr, ExprKind, Operator, OperatorKind, Pipeline};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Parses a pipeline, or a scalar expression: the grammar does not distinguish them.
    pub(crate) fn tabular(&mut self) -> Option<Expr> {
        let start = self.start();
        let source = if self.at_source() {
            let search = std::mem::replace(&mut self.search, false);
            let operator = self.operator();
            self.search = search;
            let span = self.since(start);
            Expr::new(ExprKind::Source(Box::new(operator?)), span)
        } else {
            self.expr()?
        };
        if !self.at(TokenKind::Pipe) && !self.at_missing_pipe() {
            return Some(source);
        }
        self.pipe();
        let search = std::mem::replace(&mut self.search, false);
        let mut operators = Vec::new();
        let read = self.operators(&mut operators);
        self.search = search;
        read?;
        let pipeline = Pipeline { source, operators };
        Some(Expr::new(
            ExprKind::Pipe(Box::new(pipeline)),
            self.since(start),
        ))
    }

    /// Parses `operator | operator …`. An operator with an error is omitted; parsing continues with the next one.
    pub(crate) fn operators(&mut self, operators: &mut Vec<Operator>) -> Option<()> {
        let level = self.level();
        loop {
            match self.operator() {
                Some(operator) => operators.push(operator),
                None => self.recover(level, &[TokenKind::Pipe, TokenKind::Semicolon]),
            }
            if self.at_pipeline_end() {
                return Some(());
            }
            if !self.at(TokenKind::Pipe) && !self.at_missing_pipe() {
                self.fail_after_operand::<()>();
                self.recover(level, &[TokenKind::Pipe, TokenKind::Semicolon]);
                if !self.at(TokenKind::Pipe) {
                    return Some(());
                }
            }
            self.pipe();
            if operators.len() >= self.limits.max_operators {
                return self.abort("large", "max_operators", self.limits.max_operators);
            }
        }
    }

    /// Consumes a `|`, or reports that it is missing before the operator that starts here.
    fn pipe(&mut self) {
        if !self.eat(TokenKind::Pipe) {
            self.fail_after_operand::<()>();
        }
    }

    /// Whether an operator starts here, where its `|` should be.
    fn at_missing_pipe(&self) -> bool {
        self.operator_keyword().is_some()
    }

    /// Whether the operator ends here.
    pub(crate) fn at_end_of_operator(&self) -> bool {
        self.at(TokenKind::Pipe) || self.at_pipeline_end()
    }

    /// Whether the current token ends the pipeline in the enclosing rule.
    fn at_pipeline_end(&self) -> bool {
        let kind = self.kind(0);
        (kind.closes() && self.brackets.is_closed(self.position))
            || matches!(
                kind,
                TokenKind::Semicolon | TokenKind::Comma | TokenKind::End
            )
    }

    /// Parses one operator from its keyword.
    fn operator(&mut self) -> Option<Operator> {
        let start = self.start();
        let keyword = self.operator_keyword();
        let Some((keyword, count)) = keyword else {
            return self.fail_at_operator();
        };
        self.skip(count);
        let kind = self.nested(|p| OperatorKind::parse(keyword, p))?;
        Some(Operator {
            kind,
            span: self.since(start),
        })
    }

    /// The number of tokens of the hyphenated word that starts here, such as `project-away`.
    pub(super) fn word_length(&self) -> usize {
        let mut length = 1;
        while self.kind(length) == TokenKind::Minus
            && self.adjacent(length)
            && self.kind(length + 1) == TokenKind::Name
            && self.adjacent(length + 1)
        {
            length += 2;
        }
        length
    }

    /// The longest operator keyword that starts here, and its number of tokens.
    pub(super) fn operator_keyword(&self) -> Option<(&'static str, usize)> {
        if !self.at(TokenKind::Name) {
            return None;
        }
        let longest = self.word_length();
        (1..=longest).rev().step_by(2).find_map(|count| {
            let span = self.token(0).span.to(self.token(count - 1).span);
            OperatorKind::find_keyword(self.slice(span)).map(|keyword| (keyword, count))
        })
    }

    /// Whether an operator that needs no input starts here, and not an expression that begins with a name of the same spelling.
    fn at_source(&self) -> bool {
        let Some((keyword, count)) = self.operator_keyword() else {
            return false;
        };
        let next = self.kind(count);
        match keyword {
            "range" => {
                let length = self.name_length(count);
                length.is_some_and(|length| self.word_at(count + length, "from"))
            }
            "evaluate" => next == TokenKind::Name,
            "macro-expand" => true,
            "print" => {
                let operand = matches!(
                    next,
                    TokenKind::Long
                        | TokenKind::Real
                        | TokenKind::TimeSpan
                        | TokenKind::String
                        | TokenKind::Minus
                        | TokenKind::Plus
                        | TokenKind::LeftParen
                        | TokenKind::LeftBracket
                );
                operand || self.starts_operand(count)
            }
            "union" | "search" | "find" => {
                matches!(
                    next,
                    TokenKind::String
                        | TokenKind::LeftParen
                        | TokenKind::LeftBracket
                        | TokenKind::Star
                        | TokenKind::Long
                ) || self.starts_operand(count)
                    || (keyword != "union" && self.word_at(count, "in"))
            }
            _ => false,
        }
    }

    /// Whether the token `ahead` is a name and not an operator between two operands.
    fn starts_operand(&self, ahead: usize) -> bool {
        let text = self.text(ahead);
        self.kind(ahead) == TokenKind::Name
            && !matches!(
                text,
                "in" | "between" | "matches" | "has_any" | "has_all" | "asc" | "desc"
            )
            && crate::ast::BinaryOp::from_spelling(text).is_none()
    }

    /// Parses a table as a leg of `union`, `find in`, `search in`: a name, a pattern, a call, a pipeline in parentheses.
    pub(crate) fn table_reference(&mut self) -> Option<Expr> {
        match self.pattern() {
            Some(pattern) => Some(pattern),
            None => self.nested(|p| p.postfix(true)),
        }
    }
}
