//! Query text to tokens (`docs/semantics.md §1`). The lexer never fails: invalid text becomes a [`TokenKind::Bad`] token, which
//! is an error only if the parser consumes it (the text inside `datetime(…)` is arbitrary).

use crate::Span;
use crate::literal::is_timespan_unit;
use crate::token::{Token, TokenKind};

/// Splits a text into tokens. The last one is [`TokenKind::End`], unless the text has more than `max_tokens` tokens.
pub(crate) fn tokenize(text: &str, max_tokens: usize) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        position: 0,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_trivia();
        let start = lexer.position;
        let kind = lexer.next_kind();
        tokens.push(Token {
            kind,
            span: Span::new(start, lexer.position),
        });
        if kind == TokenKind::End || tokens.len() > max_tokens {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    position: usize,
}

/// Whether a bare name may start with this byte.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

/// Whether a bare name may continue with this byte.
pub(crate) fn is_name_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a text is one bare name.
pub(crate) fn is_bare_name(text: &str) -> bool {
    let tokens = tokenize(text, 2);
    let first = tokens.first();
    first.is_some_and(|token| {
        token.kind == TokenKind::Name
            && token.span.end as usize == text.len()
            && token.span.start == 0
    })
}

fn is_white(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '\u{c}' | '\u{a0}' | '\u{1680}' | '\u{180e}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &str {
        self.text.get(self.position..).unwrap_or("")
    }

    /// Skips white space and `//` comments.
    fn skip_trivia(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if is_white(c) {
                self.position += c.len_utf8();
            } else if self.rest().starts_with("//") {
                let rest = self.rest();
                let end = rest.find(['\r', '\n', '\u{2028}', '\u{2029}']);
                self.position += end.unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    fn next_kind(&mut self) -> TokenKind {
        let byte = match self.bytes.get(self.position) {
            None => return TokenKind::End,
            Some(byte) => *byte,
        };
        if let Some(kind) = self.string() {
            return kind;
        }
        if is_name_start(byte) {
            return self.name();
        }
        if byte.is_ascii_digit() {
            return self.number();
        }
        self.punctuation(byte)
    }

    fn name(&mut self) -> TokenKind {
        let start = self.position;
        self.position += 1;
        self.skip_name_part();
        let is_in = self.text.get(start..self.position) == Some("in");
        if is_in && self.peek(0) == b'~' && self.peek(1) != b'~' {
            self.position += 1;
            return TokenKind::OperatorWord;
        }
        TokenKind::Name
    }

    fn skip_name_part(&mut self) {
        while is_name_part(self.peek(0)) {
            self.position += 1;
        }
    }

    fn skip_digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.position += 1;
        }
    }

    /// A number, a timespan, or a name that starts with digits.
    fn number(&mut self) -> TokenKind {
        let start = self.position;
        self.skip_digits();
        let digits_end = self.position;
        if self.peek(0) == b'.' && self.peek(1) != b'.' && !is_name_start(self.peek(1)) {
            self.position += 1;
            return self.fraction();
        }
        self.skip_name_part();
        let word = self.text.get(start..self.position).unwrap_or("");
        let tail = self.text.get(digits_end..self.position).unwrap_or("");
        if tail.is_empty() {
            return TokenKind::Long;
        }
        if let Some(hex) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))
            && !hex.is_empty()
            && hex.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return if hex.len() <= 16 {
                TokenKind::Long
            } else {
                TokenKind::Bad
            };
        }
        if let Some(exponent) = tail.strip_prefix(['e', 'E']) {
            if !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit()) {
                return TokenKind::Real;
            }
            if exponent.is_empty()
                && matches!(self.peek(0), b'+' | b'-')
                && self.peek(1).is_ascii_digit()
            {
                self.position += 1;
                self.skip_digits();
                return TokenKind::Real;
            }
        }
        if is_timespan_unit(tail) {
            return TokenKind::TimeSpan;
        }
        // `1_0` is refused: a digit separator is not part of the language.
        if tail.bytes().any(|b| b.is_ascii_alphabetic()) {
            TokenKind::Name
        } else {
            TokenKind::Bad
        }
    }

    /// The part after `12.`: digits, an exponent, a timespan unit.
    fn fraction(&mut self) -> TokenKind {
        self.skip_digits();
        let tail_start = self.position;
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
            self.position += 1 + sign;
            self.skip_digits();
            if !is_name_part(self.peek(0)) {
                return TokenKind::Real;
            }
            self.skip_name_part();
            return TokenKind::Bad;
        }
        self.skip_name_part();
        let tail = self.text.get(tail_start..self.position).unwrap_or("");
        if tail.is_empty() {
            TokenKind::Real
        } else if is_timespan_unit(tail) {
            TokenKind::TimeSpan
        } else {
            TokenKind::Bad
        }
    }

    /// A string literal in any of its forms; `None` if none starts here.
    fn string(&mut self) -> Option<TokenKind> {
        let mut skip = usize::from(matches!(self.peek(0), b'h' | b'H'));
        let verbatim = self.peek(skip) == b'@';
        if verbatim {
            skip += 1;
        }
        let open = self.text.get(self.position + skip..)?;
        let fence = ["```", "~~~"]
            .into_iter()
            .find(|fence| open.starts_with(fence));
        if let (Some(fence), false) = (fence, verbatim) {
            let body = open.get(3..)?;
            return Some(match body.find(fence) {
                Some(end) => {
                    self.position += skip + 3 + end + 3;
                    TokenKind::String
                }
                None => {
                    self.position = self.bytes.len();
                    TokenKind::Bad
                }
            });
        }
        let quote = self.peek(skip);
        if quote != b'"' && quote != b'\'' {
            return None;
        }
        self.position += skip + 1;
        Some(self.quoted(quote, verbatim))
    }

    /// The content of a quoted string and its closing quote.
    fn quoted(&mut self, quote: u8, verbatim: bool) -> TokenKind {
        while let Some(byte) = self.bytes.get(self.position).copied() {
            match byte {
                b'\r' | b'\n' => return TokenKind::Bad,
                b'\\' if !verbatim => {
                    self.position += 1 + usize::from(self.peek(1) != b'\n' && self.peek(1) != b'\r')
                }
                _ if byte == quote => {
                    self.position += 1;
                    if !verbatim || self.peek(0) != quote {
                        return TokenKind::String;
                    }
                    self.position += 1;
                }
                _ => self.position += 1,
            }
        }
        self.position = self.bytes.len();
        TokenKind::Bad
    }

    fn punctuation(&mut self, byte: u8) -> TokenKind {
        use TokenKind::*;
        let next = self.peek(1);
        let (kind, length) = match (byte, next) {
            (b'(', _) => (LeftParen, 1),
            (b')', _) => (RightParen, 1),
            (b'[', _) => (LeftBracket, 1),
            (b']', _) => (RightBracket, 1),
            (b'{', _) => (LeftBrace, 1),
            (b'}', _) => (RightBrace, 1),
            (b'|', _) => (Pipe, 1),
            (b';', _) => (Semicolon, 1),
            (b',', _) => (Comma, 1),
            (b'.', b'.') => (DotDot, 2),
            (b'.', _) => (Dot, 1),
            (b':', _) => (Colon, 1),
            (b'=', b'=') => (Equal, 2),
            (b'=', b'~') => (EqualTilde, 2),
            (b'=', b'>') => (Arrow, 2),
            (b'=', _) => (Assign, 1),
            (b'!', b'=') => (NotEqual, 2),
            (b'!', b'~') => (NotTilde, 2),
            (b'!', _) => return self.negated_word(),
            (b'<', b'>') => (NotEqual, 2),
            (b'<', b'=') => (LessOrEqual, 2),
            (b'<', _) => (Less, 1),
            (b'>', b'=') => (GreaterOrEqual, 2),
            (b'>', _) => (Greater, 1),
            (b'+', _) => (Plus, 1),
            (b'-', _) => (Minus, 1),
            (b'*', _) => (Star, 1),
            (b'/', _) => (Slash, 1),
            (b'%', _) => (Percent, 1),
            _ => (Bad, self.rest().chars().next().map_or(1, char::len_utf8)),
        };
        self.position += length;
        kind
    }

    /// `!has`, `!in`, `!in~`, `!between`.
    fn negated_word(&mut self) -> TokenKind {
        self.position += 1;
        if !self.peek(0).is_ascii_alphabetic() {
            return TokenKind::Bad;
        }
        match self.name() {
            TokenKind::Name | TokenKind::OperatorWord => TokenKind::OperatorWord,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the kinds and texts of all tokens but the end.
    #[track_caller]
    fn check(text: &str, expected: &[(TokenKind, &str)]) {
        let found: Vec<(TokenKind, &str)> = tokenize(text, usize::MAX)
            .iter()
            .filter(|token| token.kind != TokenKind::End)
            .map(|token| {
                (
                    token.kind,
                    &text[token.span.start as usize..token.span.end as usize],
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn numbers_units_and_names_that_start_with_digits() {
        use TokenKind::*;
        check("12", &[(Long, "12")]);
        check("0x1F 0Xff", &[(Long, "0x1F"), (Long, "0Xff")]);
        check("0x11112222333344445", &[(Bad, "0x11112222333344445")]);
        check(
            "1.5 1. 1e3 2.5E-3 7e+2",
            &[
                (Real, "1.5"),
                (Real, "1."),
                (Real, "1e3"),
                (Real, "2.5E-3"),
                (Real, "7e+2"),
            ],
        );
        check("1..2", &[(Long, "1"), (DotDot, ".."), (Long, "2")]);
        check(
            "90s 1.5h 3microseconds",
            &[
                (TimeSpan, "90s"),
                (TimeSpan, "1.5h"),
                (TimeSpan, "3microseconds"),
            ],
        );
        check(
            "5h_average 100ns 1L 4w",
            &[
                (Name, "5h_average"),
                (Name, "100ns"),
                (Name, "1L"),
                (Name, "4w"),
            ],
        );
        check("1_000", &[(Bad, "1_000")]);
        check(".5", &[(Dot, "."), (Long, "5")]);
    }

    #[test]
    fn every_form_of_string() {
        use TokenKind::*;
        for text in [
            r#""a\"b""#,
            "'a\"b'",
            r#"@"c:\dir""#,
            "@'it''s'",
            "h'secret'",
            "H@\"x\"",
            "```two\nlines```",
            "~~~a'b~~~",
            "h```x```",
        ] {
            check(text, &[(String, text)]);
        }
        check("'a' 'b'", &[(String, "'a'"), (String, "'b'")]);
        check("'open\n1", &[(Bad, "'open"), (Long, "1")]);
        check("```open", &[(Bad, "```open")]);
        check("'// no comment'", &[(String, "'// no comment'")]);
    }

    #[test]
    fn operators_and_white_space() {
        use TokenKind::*;
        check(
            "a!=b<>c",
            &[
                (Name, "a"),
                (NotEqual, "!="),
                (Name, "b"),
                (NotEqual, "<>"),
                (Name, "c"),
            ],
        );
        check(
            "!has !in~ in~ in",
            &[
                (OperatorWord, "!has"),
                (OperatorWord, "!in~"),
                (OperatorWord, "in~"),
                (Name, "in"),
            ],
        );
        check(
            "a--5",
            &[(Name, "a"), (Minus, "-"), (Minus, "-"), (Long, "5")],
        );
        check(
            "a=>b=~c",
            &[
                (Name, "a"),
                (Arrow, "=>"),
                (Name, "b"),
                (EqualTilde, "=~"),
                (Name, "c"),
            ],
        );
        check(
            "\u{feff}a\u{a0}// rest | of\rb",
            &[(Name, "a"), (Name, "b")],
        );
        check(
            "$left._x ? é",
            &[
                (Name, "$left"),
                (Dot, "."),
                (Name, "_x"),
                (Bad, "?"),
                (Bad, "é"),
            ],
        );
    }

    #[test]
    fn tokenizing_stops_at_the_token_limit() {
        assert_eq!(tokenize("a a a a a a", 3).len(), 4);
    }
}
