//! The tokens of the language. A token is a kind and a byte range; its text stays in the query.

use crate::Span;

/// The kind of a token. Keywords are names: the parser recognises them by their position (`docs/semantics.md §1.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A bare name or keyword.
    Name,
    /// `!has`, `!in~` and the other negated operators, and `in~`.
    OperatorWord,
    /// Digits or `0x` digits.
    Long,
    /// `1.5`, `1e3`
    Real,
    /// `1.5h`
    TimeSpan,
    /// Any form of string literal.
    String,
    /// `(`
    LeftParen,
    /// `)`
    RightParen,
    /// `[`
    LeftBracket,
    /// `]`
    RightBracket,
    /// `{`
    LeftBrace,
    /// `}`
    RightBrace,
    /// `|`
    Pipe,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `..`
    DotDot,
    /// `:`
    Colon,
    /// `=`
    Assign,
    /// `=>`
    Arrow,
    /// `==`
    Equal,
    /// `!=` and `<>`
    NotEqual,
    /// `=~`
    EqualTilde,
    /// `!~`
    NotTilde,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// Invalid text: an unknown character, an unterminated string, a malformed number.
    Bad,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// Whether the token opens a bracket.
    pub(crate) fn opens(self) -> bool {
        matches!(
            self,
            TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace
        )
    }

    /// Whether the token closes a bracket.
    pub(crate) fn closes(self) -> bool {
        matches!(
            self,
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace
        )
    }

    /// The bracket that this one closes; none if it is no closing bracket.
    pub(crate) fn opener(self) -> Option<TokenKind> {
        match self {
            TokenKind::RightParen => Some(TokenKind::LeftParen),
            TokenKind::RightBracket => Some(TokenKind::LeftBracket),
            TokenKind::RightBrace => Some(TokenKind::LeftBrace),
            _ => None,
        }
    }

    /// Whether the token is a literal by itself.
    pub(crate) fn is_literal(self) -> bool {
        matches!(
            self,
            TokenKind::Long | TokenKind::Real | TokenKind::TimeSpan | TokenKind::String
        )
    }
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: TokenKind,
    /// Its place in the text.
    pub(crate) span: Span,
}
