//! The parser: a hand-written recursive descent over the tokens.
//!
//! A parsing function returns `None` after it has reported what is wrong. Pipelines and statements recover: they skip
//! to the next `|` or `;` of their own bracket level and go on, so that one request reports all its errors.

mod expr;
mod literal;
mod name;
mod params;
mod pipeline;
mod statement;

use hindsight_kql_types::ScalarType;

use crate::ast::{Query, TypeOf};
use crate::lexer::tokenize;
use crate::token::{Token, TokenKind};
use crate::{Code, Diagnostic, Limits, Parsed, Span};

/// Reads a query with these limits.
pub(crate) fn parse(text: &str, limits: &Limits) -> Parsed {
    if text.len() > limits.max_bytes {
        return refused(
            text,
            format!(
                "The query is too large: it has {} bytes and the limit max_bytes is {}.",
                text.len(),
                limits.max_bytes
            ),
        );
    }
    let tokens = tokenize(text, limits.max_tokens);
    if tokens.len() > limits.max_tokens {
        return refused(
            text,
            format!(
                "The query is too large: it has more tokens than the limit max_tokens of {}.",
                limits.max_tokens
            ),
        );
    }
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

fn refused(text: &str, message: String) -> Parsed {
    Parsed {
        query: Query::default(),
        diagnostics: vec![Diagnostic::new(
            Code::Syntax,
            message,
            Span::new(0, text.len().min(1)),
        )],
    }
}

/// The state of one reading.
pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// For a bracket the index of its partner; for others, and brackets without one, the last token's index.
    mates: Vec<u32>,
    /// How many brackets are open around each token; a bracket counts as outside itself.
    depths: Vec<u32>,
    position: usize,
    diagnostics: Vec<Diagnostic>,
    limits: Limits,
    /// Recursion depth of the parser itself.
    depth: usize,
    /// The largest tree height of the expressions read since it was last reset.
    height: usize,
    /// Inside the predicate of `search`, where `col:"x"` is an expression.
    pub(crate) search: bool,
    aborted: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, limits: &Limits) -> Parser<'a> {
        let last = tokens.len().saturating_sub(1) as u32;
        let mut mates = vec![last; tokens.len()];
        let mut depths = Vec::with_capacity(tokens.len());
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.kind.closes()
                && let Some(opener) = open.pop()
            {
                for (from, to) in [(opener, index), (index, opener)] {
                    if let Some(mate) = mates.get_mut(from) {
                        *mate = to as u32;
                    }
                }
            }
            depths.push(open.len() as u32);
            if token.kind.opens() {
                open.push(index);
            }
        }
        Parser {
            text,
            tokens,
            mates,
            depths,
            position: 0,
            diagnostics: Vec::new(),
            limits: *limits,
            depth: 0,
            height: 0,
            search: false,
            aborted: false,
        }
    }

    // Looking.

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

    /// Whether the tokens from here spell this text without space between them, as `project-away` does.
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

    /// Whether the token `ahead` follows the one before it without space.
    pub(crate) fn adjacent(&self, ahead: usize) -> bool {
        ahead > 0 && self.token(ahead - 1).span.end == self.token(ahead).span.start
    }

    /// The index ahead of the partner of the bracket `ahead`; points at the end where there is none.
    pub(crate) fn mate(&self, ahead: usize) -> usize {
        let mate = self.mates.get(self.position + ahead).copied().unwrap_or(0) as usize;
        mate.saturating_sub(self.position)
    }

    /// Where the current token starts.
    pub(crate) fn start(&self) -> Span {
        self.token(0).span
    }

    /// From `start` to the end of the last token that was taken.
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

    // Taking.

    /// Takes the current token.
    pub(crate) fn advance(&mut self) {
        self.skip(1);
    }

    /// Takes `count` tokens, never the end.
    pub(crate) fn skip(&mut self, count: usize) {
        self.position = (self.position + count).min(self.tokens.len().saturating_sub(1));
    }

    /// Takes the token if it is of this kind.
    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    /// Takes the token if it is this word.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a hyphenated word.
    pub(crate) fn eat_joined(&mut self, text: &str) -> bool {
        match self.joined_length(text) {
            Some(count) => {
                self.skip(count);
                true
            }
            None => false,
        }
    }

    /// Takes the tokens if they stand here without space between them, as `-->` does.
    pub(crate) fn eat_adjacent(&mut self, kinds: &[TokenKind]) -> bool {
        let mut places = kinds.iter().enumerate();
        let found = places
            .all(|(ahead, kind)| self.kind(ahead) == *kind && (ahead == 0 || self.adjacent(ahead)));
        if found {
            self.skip(kinds.len());
        }
        found
    }

    /// Takes a token of this kind or reports what stands there instead.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Option<()> {
        if self.eat(kind) {
            Some(())
        } else {
            self.fail()
        }
    }

    /// Takes this word or reports what stands there instead.
    pub(crate) fn expect_word(&mut self, word: &str) -> Option<()> {
        if self.eat_word(word) {
            Some(())
        } else {
            self.fail()
        }
    }

    // Reporting.

    /// Reports the current token as one that cannot stand here.
    pub(crate) fn fail<T>(&mut self) -> Option<T> {
        self.fail_at(self.token(0).span)
    }

    /// Reports the token `ahead`.
    pub(crate) fn fail_ahead<T>(&mut self, ahead: usize) -> Option<T> {
        self.fail_at(self.token(ahead).span)
    }

    /// Reports a piece of text that cannot stand here (`SYN0002`).
    pub(crate) fn fail_at<T>(&mut self, span: Span) -> Option<T> {
        if self.aborted {
            return None;
        }
        let place = Diagnostic::new(Code::Syntax, "", span);
        let (line, column, token) = place.position(self.text);
        let message = format!("Query could not be parsed at '{token}' on line [{line},{column}]");
        self.diagnostics
            .push(Diagnostic::new(Code::Syntax, message, span));
        None
    }

    /// Refuses the whole query because it is too deep or too large: jumps to the end and silences what follows.
    fn abort<T>(&mut self, what: &str, limit: &str, value: usize) -> Option<T> {
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

    // Bounds.

    /// Reads something that nests: counts one level of recursion and of tree height.
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

    /// Counts one more node above all that was read since the height was reset.
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

    /// Skips to the next `|` or `;` at this bracket level, or to where the level ends.
    fn recover(&mut self, level: u32, kinds: &[TokenKind]) {
        loop {
            let kind = self.kind(0);
            let depth = self.depths.get(self.position).copied().unwrap_or(0);
            let outside =
                depth < level || (depth == 0 && level == 0 && kind == TokenKind::Semicolon);
            if kind == TokenKind::End || outside || (depth == level && kinds.contains(&kind)) {
                return;
            }
            self.advance();
        }
    }

    fn level(&self) -> u32 {
        self.depths.get(self.position).copied().unwrap_or(0)
    }

    // Pieces that many rules share.

    /// Reads items separated by commas, at least one.
    pub(crate) fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(TokenKind::Comma) {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Reads `open item, item close`; the list may be empty and may end in a comma.
    pub(crate) fn bracketed_list<T>(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(TokenKind::Comma) {
                self.expect(close)?;
                break;
            }
        }
        Some(items)
    }

    /// Reads a type's name.
    pub(crate) fn scalar_type(&mut self) -> Option<ScalarType> {
        if self.at(TokenKind::Name)
            && let Some(kind) = ScalarType::parse(self.text(0))
        {
            self.advance();
            return Some(kind);
        }
        self.fail()
    }

    /// Reads `(*, a:long)` or `(a:long)`, the row form of a type.
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

    /// Reads `typeof(…)`.
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
