//! The tokens of an OData expression.

use super::Fault;
use super::ast::NodeKind;
use super::literal;

/// The groups whose members are named by the telemetry's author: their keys may hold nearly anything.
const BAGS: &[&str] = &["customDimensions/", "customMeasurements/"];

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Its first character.
    pub(crate) at: usize,
}

/// The kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// A path, a keyword or the name of a function: the parser tells them apart by place.
    Word(String),
    /// A literal.
    Literal(NodeKind),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `:` of a lambda.
    Colon,
    /// `/` between transformations.
    Slash,
    /// The end of the text.
    End,
}

/// The tokens of `text`, the last of which is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer {
        chars: &chars,
        at: 0,
    };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Token, Fault> {
        self.take_while(char::is_whitespace);
        let at = self.at;
        let Some(first) = self.peek() else {
            return Ok(Token {
                kind: TokenKind::End,
                at,
            });
        };
        let kind = match first {
            '(' => self.symbol(TokenKind::Open),
            ')' => self.symbol(TokenKind::Close),
            ',' => self.symbol(TokenKind::Comma),
            '-' => self.symbol(TokenKind::Minus),
            '*' => self.symbol(TokenKind::Star),
            ':' => self.symbol(TokenKind::Colon),
            '/' => self.symbol(TokenKind::Slash),
            '\'' => TokenKind::Literal(NodeKind::Text(self.quoted()?)),
            c if c.is_ascii_digit() || self.guid_ahead() => self.bare_literal()?,
            c if is_name(c) => self.word()?,
            '"' => return Err(Fault::new(at, "Text is written in single quotes.")),
            other => return Err(Fault::new(at, format!("'{other}' has no meaning here."))),
        };
        Ok(Token { kind, at })
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn symbol(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        kind
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        let taken: String = rest.iter().copied().take_while(|c| wanted(*c)).collect();
        self.at += taken.chars().count();
        taken
    }

    /// A guid may start with a letter, and then looks like a name.
    fn guid_ahead(&self) -> bool {
        let Some(window) = self.chars.get(self.at..self.at + 36) else {
            return false;
        };
        let ends = self.chars.get(self.at + 36).is_none_or(|c| !is_name(*c));
        ends && literal::is_guid(&window.iter().collect::<String>())
    }

    /// Text in quotes; a quote inside is written twice.
    fn quoted(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            if c != '\'' {
                text.push(c);
            } else if self.peek() == Some('\'') {
                self.at += 1;
                text.push('\'');
            } else {
                return Ok(text);
            }
        }
        Err(Fault::new(
            start,
            "The text that starts here has no closing quote; a quote inside text is written twice.",
        ))
    }

    fn bare_literal(&mut self) -> Result<TokenKind, Fault> {
        let at = self.at;
        let text = self
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '+' | '-' | '_'));
        literal::bare(&text).map(TokenKind::Literal).ok_or_else(|| {
            Fault::new(at, format!("'{text}' is not a number, a date and time such as 2025-01-31T12:00:00Z, or a guid."))
        })
    }

    fn word(&mut self) -> Result<TokenKind, Fault> {
        let at = self.at;
        let mut word =
            self.take_while(|c| is_name(c) || c.is_ascii_digit() || c == '/' || c == '.');
        if let Some(bag) = BAGS.iter().find(|bag| word.starts_with(**bag)) {
            word.push_str(&self.take_while(is_key));
            if word == *bag {
                return Err(Fault::new(
                    self.at,
                    format!("A key is expected after {bag}."),
                ));
            }
            return Ok(TokenKind::Word(word));
        }
        if self.peek() == Some('\'') {
            let text = self.quoted()?;
            return literal::prefixed(&word, &text)
                .map(TokenKind::Literal)
                .map_err(|message| Fault::new(at, message));
        }
        Ok(match word.as_str() {
            "null" => TokenKind::Literal(NodeKind::Null),
            "true" => TokenKind::Literal(NodeKind::Bool(true)),
            "false" => TokenKind::Literal(NodeKind::Bool(false)),
            _ => TokenKind::Word(word),
        })
    }
}

/// A character of a name.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@')
}

/// A character of a key: all but what ends a path in an expression.
fn is_key(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '(' | ')' | ',' | '\'')
}
