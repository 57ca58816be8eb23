//! The parser: a hand-written recursive descent over the tokens.
//!
//! A parsing function that fails reports a diagnostic and returns `None`. Lists, pipelines and statements recover: they skip to the
//! next `,`, `|` or `;` of their own bracket level and continue, so that all errors of a request are reported.

mod brackets;
mod expr;
mod fail;
mod literal;
mod name;
mod params;
mod pipeline;
mod statement;

use hindsight_kql_types::ScalarType;

use crate::ast::{Expr, Query, TypeOf};
use crate::lexer::tokenize;
use crate::token::{Token, TokenKind};
use crate::{Code, Diagnostic, Limits, Parsed, Span};
use brackets::Brackets;

/// Parses a query with these limits.
pub(crate) fn parse(text: &str, limits: &Limits) -> Parsed {
    let tokens = match tokens(text, limits) {
        Ok(tokens) => tokens,
        Err(too_large) => {
            return Parsed {
                query: Query::default(),
                diagnostics: vec![too_large],
            };
        }
    };
    let mut parser = Parser::new(text, tokens, limits);
    let query = parser.query();
    Parsed {
        query: if parser.aborted {
            Query::default()
        } else {
            query
        },
        diagnostics: parser.diagnostics,
    }
}

/// Parses a scalar expression up to the end of the text.
pub(crate) fn parse_expression(text: &str, limits: &Limits) -> Result<Expr, Vec<Diagnostic>> {
    let tokens = tokens(text, limits).map_err(|too_large| vec![too_large])?;
    let mut parser = Parser::new(text, tokens, limits);
    let expr = parser.expr();
    if expr.is_some() && !parser.at(TokenKind::End) {
        parser.fail::<()>();
    }
    match expr {
        Some(expr) if parser.diagnostics.is_empty() => Ok(expr),
        _ => Err(parser.diagnostics),
    }
}

/// The tokens of a text within the limits.
fn tokens(text: &str, limits: &Limits) -> Result<Vec<Token>, Diagnostic> {
    let refused = |message| Diagnostic::new(Code::Syntax, message, Span::new(0, text.len().min(1)));
    if text.len() > limits.max_bytes {
        return Err(refused(format!(
            "The query is too large: it has {} bytes and the limit max_bytes is {}.",
            text.len(),
            limits.max_bytes
        )));
    }
    let tokens = tokenize(text, limits.max_tokens);
    if tokens.len() > limits.max_tokens {
        return Err(refused(format!(
            "The query is too large: it has more tokens than the limit max_tokens of {}.",
            limits.max_tokens
        )));
    }
    Ok(tokens)
}

/// The state of the parser.
pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    brackets: Brackets,
    position: usize,
    diagnostics: Vec<Diagnostic>,
    limits: Limits,
    /// The recursion depth of the parser.
    depth: usize,
    /// The maximum height of the expressions parsed since the last reset.
    height: usize,
    /// Whether this is the predicate of `search` or `find`, in which `col:"x"` is an expression.
    pub(crate) search: bool,
    aborted: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, limits: &Limits) -> Parser<'a> {
        Parser {
            text,
            brackets: Brackets::of(&tokens),
            tokens,
            position: 0,
            diagnostics: Vec::new(),
            limits: *limits,
            depth: 0,
            height: 0,
            search: false,
            aborted: false,
        }
    }

    // Lookahead.

    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len().saturating_sub(1);
        let index = (self.position + ahead).min(last);
        self.tokens.get(index).copied().unwrap_or(Token {
            kind: TokenKind::End,
            span: Span::default(),
        })
    }

    /// The kind of the token `ahead` of the current one.
    pub(crate) fn kind(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    /// The text of the token `ahead` of the current one.
    pub(crate) fn text(&self, ahead: usize) -> &'a str {
        self.slice(self.token(ahead).span)
    }

    fn slice(&self, span: Span) -> &'a str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Whether the current token is of this kind.
    pub(crate) fn at(&self, kind: TokenKind) -> bool {
        self.kind(0) == kind
    }

    /// Whether the current token is this word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.word_at(0, word)
    }

    /// Whether the token `ahead` is this word.
    pub(crate) fn word_at(&self, ahead: usize, word: &str) -> bool {
        self.kind(ahead) == TokenKind::Name && self.text(ahead) == word
    }

    /// Whether the next tokens spell this text without white space between them, as in `project-away`.
    pub(crate) fn at_joined(&self, text: &str) -> bool {
        self.joined_length(text).is_some()
    }

    fn joined_length(&self, text: &str) -> Option<usize> {
        let start = self.token(0).span.start as usize;
        if !self.text.get(start..)?.starts_with(text) {
            return None;
        }
        let end = start + text.len();
        let count = text.split('-').count() * 2 - 1;
        (self.token(count - 1).span.end as usize == end).then_some(count)
    }

    /// Whether there is no white space between the token `ahead` and the previous one.
    pub(crate) fn adjacent(&self, ahead: usize) -> bool {
        ahead > 0 && self.token(ahead - 1).span.end == self.token(ahead).span.start
    }

    /// The distance to the bracket that matches the bracket `ahead`, or to the end if none does.
    pub(crate) fn mate(&self, ahead: usize) -> usize {
        self.brackets
            .mate(self.position + ahead)
            .saturating_sub(self.position)
    }

    /// The start of the current token.
    pub(crate) fn start(&self) -> Span {
        self.token(0).span
    }

    /// The span from `start` to the end of the last consumed token.
    pub(crate) fn since(&self, start: Span) -> Span {
        let last = self
            .position
            .checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .map_or(start, |token| token.span);
        if last.end < start.start {
            start
        } else {
            start.to(last)
        }
    }

    // Consuming tokens.

    /// Consumes the current token.
    pub(crate) fn advance(&mut self) {
        self.skip(1);
    }

    /// Consumes `count` tokens, but never the end.
    pub(crate) fn skip(&mut self, count: usize) {
        self.position = (self.position + count).min(self.tokens.len().saturating_sub(1));
    }

    /// Consumes the current token if it is of this kind.
    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    /// Consumes the current token if it is this word.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Consumes a hyphenated word.
    pub(crate) fn eat_joined(&mut self, text: &str) -> bool {
        match self.joined_length(text) {
            Some(count) => {
                self.skip(count);
                true
            }
            None => false,
        }
    }

    /// Consumes the tokens if they stand here without space between them, as `-->` does.
    pub(crate) fn eat_adjacent(&mut self, kinds: &[TokenKind]) -> bool {
        let mut places = kinds.iter().enumerate();
        let found = places
            .all(|(ahead, kind)| self.kind(ahead) == *kind && (ahead == 0 || self.adjacent(ahead)));
        if found {
            self.skip(kinds.len());
        }
        found
    }

    // Limits.

    /// Parses a nested construct, which adds one level to the recursion depth and to the tree height.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= self.limits.max_depth {
            return self.abort("deep", "max_depth", self.limits.max_depth);
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.height);
        let result = read(self);
        self.depth -= 1;
        self.height = outer.max(self.height + 1);
        self.check_height()?;
        result
    }

    /// Adds a node above everything that was parsed since the height was reset.
    fn grow(&mut self) -> Option<()> {
        self.height += 1;
        self.check_height()
    }

    fn check_height(&mut self) -> Option<()> {
        if self.height > self.limits.max_height {
            return self.abort("deep", "max_height", self.limits.max_height);
        }
        Some(())
    }

    // Recovery.

    /// Skips to the next `|` or `;` at this bracket level, or to the end of the level.
    fn recover(&mut self, level: u32, kinds: &[TokenKind]) {
        loop {
            let kind = self.kind(0);
            let depth = self.level();
            let outside =
                depth < level || (depth == 0 && level == 0 && kind == TokenKind::Semicolon);
            if kind == TokenKind::End || outside || (depth == level && kinds.contains(&kind)) {
                return;
            }
            self.advance();
        }
    }

    /// Skips to the next `,` at this bracket level, or to the end of the list. Returns whether a `,` was found.
    ///
    /// A list in brackets ends with its bracket. Any other list, and one whose bracket is not closed, ends with its operator.
    fn recover_item(&mut self, level: u32, bracketed: bool) -> bool {
        loop {
            let kind = self.kind(0);
            let depth = self.level();
            let ends = kind == TokenKind::End
                || depth < level
                || (depth == level
                    && !bracketed
                    && matches!(kind, TokenKind::Pipe | TokenKind::Semicolon));
            if ends {
                return false;
            }
            if depth == level && kind == TokenKind::Comma {
                return true;
            }
            self.advance();
        }
    }

    fn level(&self) -> u32 {
        self.brackets.depth(self.position)
    }

    // Rules that other rules share.

    /// Parses one or more items separated by commas. An item with an error does not hide the errors of those after it.
    pub(crate) fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let level = self.level();
        let mut items = Some(Vec::new());
        loop {
            match item(self) {
                Some(read) => items = items.map(|items| with(items, read)),
                None if self.recover_item(level, false) => items = None,
                None => return None,
            }
            if !self.eat(TokenKind::Comma) {
                return items;
            }
        }
    }

    /// Parses `open item, item close`; the list may be empty. An item with an error does not hide the errors of those after
    /// it.
    pub(crate) fn bracketed_list<T>(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.list_in_brackets(open, close, false, item)
    }

    /// As [`Parser::bracketed_list`]; the list may end with a comma (`docs/semantics.md §9.1, §15.1`).
    pub(crate) fn list_of_literals<T>(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.list_in_brackets(open, close, true, item)
    }

    fn list_in_brackets<T>(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        may_end_with_comma: bool,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let closed = self.brackets.is_closed(self.position);
        let level = self.level() + u32::from(closed);
        self.expect(open)?;
        let mut items = Some(Vec::new());
        while !self.eat(close) {
            match item(self).filter(|_| self.at_end_of_item(close)) {
                Some(read) => items = items.map(|items| with(items, read)),
                None => {
                    items = None;
                    if !self.recover_item(level, closed) {
                        self.eat(close);
                        return None;
                    }
                }
            }
            if self.eat(TokenKind::Comma) && self.at(close) && !may_end_with_comma {
                items = self.fail_after_comma();
            }
        }
        items
    }

    /// Whether an item of a list ends here; reports the current token if not.
    fn at_end_of_item(&mut self, close: TokenKind) -> bool {
        let ends = self.at(TokenKind::Comma) || self.at(close);
        if !ends {
            self.fail_after_operand::<()>();
        }
        ends
    }

    /// Parses the name of a type.
    pub(crate) fn scalar_type(&mut self) -> Option<ScalarType> {
        if self.at(TokenKind::Name)
            && let Some(kind) = ScalarType::parse(self.text(0))
        {
            self.advance();
            return Some(kind);
        }
        self.fail()
    }

    /// Parses `(*, a:long)` or `(a:long)`, the row form of a type.
    pub(crate) fn row_type(&mut self) -> Option<TypeOf> {
        if self.kind(1) == TokenKind::Star {
            self.expect(TokenKind::LeftParen)?;
            self.advance();
            let mut columns = Vec::new();
            while self.eat(TokenKind::Comma) {
                columns.push(self.column_declaration()?);
            }
            self.expect(TokenKind::RightParen)?;
            return Some(TypeOf::Row {
                star: true,
                columns,
            });
        }
        let columns = self.schema()?;
        Some(TypeOf::Row {
            star: false,
            columns,
        })
    }

    /// Parses `typeof(…)`.
    pub(crate) fn type_of(&mut self) -> Option<TypeOf> {
        self.expect_word("typeof")?;
        if self.kind(1) == TokenKind::Name && self.kind(2) == TokenKind::RightParen {
            self.expect(TokenKind::LeftParen)?;
            let kind = self.scalar_type()?;
            self.expect(TokenKind::RightParen)?;
            return Some(TypeOf::Scalar(kind));
        }
        self.row_type()
    }
}

/// The items and one more.
fn with<T>(mut items: Vec<T>, item: T) -> Vec<T> {
    items.push(item);
    items
}
