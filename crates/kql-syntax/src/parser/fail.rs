//! Syntax errors: their places, and hints at what is probably missing.

use super::Parser;
use crate::token::TokenKind;
use crate::{Code, Diagnostic, Span, operators::OperatorKind, suggest};

/// The most errors that are reported of one text.
const MAX_ERRORS: usize = 50;

impl Parser<'_> {
    /// Consumes a token of this kind, or reports the current token.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Option<()> {
        if self.eat(kind) {
            Some(())
        } else if kind.closes() {
            self.fail_after_operand()
        } else {
            self.fail()
        }
    }

    /// Consumes this word, or reports the current token.
    pub(crate) fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) {
            Some(())
        } else {
            self.fail()
        }
    }

    /// Reports the current token as a syntax error.
    pub(crate) fn fail<T>(&mut self) -> Option<T> {
        self.fail_ahead(0)
    }

    /// Reports the token `ahead` as a syntax error.
    pub(crate) fn fail_ahead<T>(&mut self, ahead: usize) -> Option<T> {
        let hint = self.bracket_hint(ahead);
        self.fail_with_hint(self.token(ahead).span, hint)
    }

    /// Reports a span as a syntax error (`SYN0002`).
    pub(crate) fn fail_at<T>(&mut self, span: Span) -> Option<T> {
        self.fail_with_hint(span, None)
    }

    /// Reports the current token, which continues neither the operand nor the operator before it.
    pub(crate) fn fail_after_operand<T>(&mut self) -> Option<T> {
        let hint = self
            .bracket_hint(0)
            .or_else(|| self.missing_pipe_hint())
            .or_else(|| self.missing_operator_hint());
        self.fail_with_hint(self.token(0).span, hint)
    }

    /// Reports the bracket that follows the last comma of a list.
    pub(super) fn fail_after_comma<T>(&mut self) -> Option<T> {
        let hint = "Is an item missing after ','?".to_owned();
        self.fail_with_hint(self.token(0).span, Some(hint))
    }

    /// Reports a token that starts no operator, with a hint at the closest keyword.
    pub(super) fn fail_at_operator<T>(&mut self) -> Option<T> {
        if !self.at(TokenKind::Name) {
            return self.fail();
        }
        let word = self
            .token(0)
            .span
            .to(self.token(self.word_length() - 1).span);
        let keyword = suggest::closest(self.slice(word), OperatorKind::spellings());
        let hint = keyword.map(|keyword| suggest::hint(&[keyword]));
        self.fail_with_hint(self.token(0).span, hint)
    }

    /// As [`Parser::fail_at`], with a hint. An error at the place of the previous one is a consequence of it.
    fn fail_with_hint<T>(&mut self, span: Span, hint: Option<String>) -> Option<T> {
        let repeated = self
            .diagnostics
            .last()
            .is_some_and(|last| span.start <= last.span.start);
        if self.aborted || repeated || self.diagnostics.len() >= MAX_ERRORS {
            return None;
        }
        let (line, column, token) = span.position(self.text);
        let mut message =
            format!("Query could not be parsed at '{token}' on line [{line},{column}]");
        if let Some(hint) = hint {
            message = format!("{message}. {hint}");
        }
        self.diagnostics
            .push(Diagnostic::new(Code::Syntax, message, span));
        None
    }

    /// Names the bracket around the token `ahead` that nothing closes, or says that no bracket is open where the token closes one.
    fn bracket_hint(&self, ahead: usize) -> Option<String> {
        let index = self.position + ahead;
        if let Some(opener) = self.brackets.unclosed(index) {
            let span = self.tokens.get(opener)?.span;
            let (line, column, bracket) = span.position(self.text);
            return Some(format!(
                "The bracket '{bracket}' on line [{line},{column}] is not closed."
            ));
        }
        let stray = self.kind(ahead).closes() && !self.brackets.is_closed(index);
        stray.then(|| "No bracket is open here.".to_owned())
    }

    /// A hint at a `|`, if the current token is the keyword of an operator.
    fn missing_pipe_hint(&self) -> Option<String> {
        let (_, count) = self.operator_keyword()?;
        let keyword = self.token(0).span.to(self.token(count - 1).span);
        Some(format!(
            "Is a '|' missing before '{}'?",
            self.slice(keyword)
        ))
    }

    /// A hint at an operator or a comma, if the current token and the one before it are operands; at `==`, if the current token is
    /// `=`.
    fn missing_operator_hint(&self) -> Option<String> {
        let previous = self.tokens.get(self.position.checked_sub(1)?)?;
        let ends = match previous.kind {
            TokenKind::Name => OperatorKind::find_keyword(self.slice(previous.span)).is_none(),
            TokenKind::RightParen | TokenKind::RightBracket => true,
            kind => kind.is_literal(),
        };
        if ends && self.at(TokenKind::Assign) {
            return Some(suggest::hint(&["=="]));
        }
        // A parameter that is not allowed here is no operand.
        let parameter = self.kind(1) == TokenKind::Assign;
        let starts = (self.at(TokenKind::Name) && !parameter) || self.kind(0).is_literal();
        // `not` is a function and no operator.
        if starts && previous.kind == TokenKind::Name && self.slice(previous.span) == "not" {
            return Some(format!("Is a '(' missing before '{}'?", self.text(0)));
        }
        (ends && starts).then(|| {
            format!(
                "Is an operator or a comma missing before '{}'?",
                self.text(0)
            )
        })
    }

    /// Refuses a query that is too deep or too large: skips to the end and drops all other diagnostics.
    pub(super) fn abort<T>(&mut self, what: &str, limit: &str, value: usize) -> Option<T> {
        if !self.aborted {
            self.aborted = true;
            self.diagnostics.clear();
            self.diagnostics.push(Diagnostic::new(
                Code::Syntax,
                format!("The query is too {what}: the limit {limit} is {value}."),
                self.token(0).span,
            ));
            self.position = self.tokens.len().saturating_sub(1);
        }
        None
    }
}
