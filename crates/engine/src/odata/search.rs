//! `$search`: words, "phrases", AND, OR, NOT and parentheses (OData 4.01 part 2 §5.1.7).

use super::Fault;
use super::ast::MAX_DEPTH;

/// The most words and phrases of a search: each is looked for in every text of a row.
const MAX_TERMS: usize = 50;

/// What a row must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Search {
    /// A word.
    Word(String),
    /// Text in double quotes.
    Phrase(String),
    /// All of them.
    And(Vec<Search>),
    /// Any of them.
    Or(Vec<Search>),
    /// Not this.
    Not(Box<Search>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Phrase(String),
    And,
    Or,
    Not,
    Open,
    Close,
}

/// Reads a `$search`. Words side by side are joined by AND, which binds tighter than OR.
pub(crate) fn parse_search(text: &str) -> Result<Search, Fault> {
    let tokens = tokens(text)?;
    let mut terms = tokens
        .iter()
        .filter(|(token, _)| matches!(token, Token::Word(_) | Token::Phrase(_)));
    if let Some((_, at)) = terms.nth(MAX_TERMS) {
        return Err(Fault::new(
            *at,
            format!("A search has up to {MAX_TERMS} words and phrases."),
        ));
    }
    let mut parser = Parser {
        tokens: &tokens,
        next: 0,
        nested: 0,
        end: text.chars().count(),
    };
    let search = parser.any()?;
    match parser.peek() {
        None => Ok(search),
        Some(_) => Err(Fault::new(
            parser.at(),
            "This parenthesis was never opened.",
        )),
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let start = at;
        at += 1;
        let token = match c {
            c if c.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '"' => {
                let (phrase, after) = phrase(&chars, at).ok_or_else(|| {
                    Fault::new(start, "The phrase that starts here has no closing quote.")
                })?;
                at = after;
                Token::Phrase(phrase)
            }
            _ => {
                let rest = chars.get(start..).unwrap_or_default();
                let word: String = rest
                    .iter()
                    .take_while(|c| !c.is_whitespace() && !matches!(c, '(' | ')' | '"'))
                    .collect();
                at = start + word.chars().count();
                keyword(word)
            }
        };
        tokens.push((token, start));
    }
    Ok(tokens)
}

fn keyword(word: String) -> Token {
    match word.as_str() {
        "AND" => Token::And,
        "OR" => Token::Or,
        "NOT" => Token::Not,
        _ => Token::Word(word),
    }
}

/// The text up to the closing quote, and the place after it. A backslash keeps the character after it.
fn phrase(chars: &[char], mut at: usize) -> Option<(String, usize)> {
    let mut text = String::new();
    loop {
        let c = *chars.get(at)?;
        at += 1;
        match c {
            '"' => return Some((text, at)),
            '\\' if matches!(chars.get(at), Some('"' | '\\')) => {
                text.push(*chars.get(at)?);
                at += 1;
            }
            other => text.push(other),
        }
    }
}

struct Parser<'a> {
    tokens: &'a [(Token, usize)],
    next: usize,
    nested: usize,
    end: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(_, at)| *at)
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Search, Fault> {
        let mut parts = vec![self.all()?];
        while self.eat(&Token::Or) {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, Search::Or))
    }

    fn all(&mut self) -> Result<Search, Fault> {
        let mut parts = vec![self.one()?];
        while self.eat(&Token::And) || !matches!(self.peek(), None | Some(Token::Or | Token::Close))
        {
            parts.push(self.one()?);
        }
        Ok(single_or(parts, Search::And))
    }

    fn one(&mut self) -> Result<Search, Fault> {
        let at = self.at();
        self.nested += 1;
        if self.nested > MAX_DEPTH {
            return Err(Fault::new(
                at,
                format!("The search is nested more than {MAX_DEPTH} levels deep."),
            ));
        }
        let token = self.peek().cloned();
        self.next += 1;
        let search = match token {
            Some(Token::Word(word)) => Search::Word(word),
            Some(Token::Phrase(phrase)) if !phrase.is_empty() => Search::Phrase(phrase),
            Some(Token::Not) => Search::Not(Box::new(self.one()?)),
            Some(Token::Open) => {
                let inner = self.any()?;
                if !self.eat(&Token::Close) {
                    return Err(Fault::new(self.at(), "')' is expected here."));
                }
                inner
            }
            _ => return Err(Fault::new(at, "A word or a \"phrase\" is expected here.")),
        };
        self.nested -= 1;
        Ok(search)
    }
}

fn single_or(mut parts: Vec<Search>, many: fn(Vec<Search>) -> Search) -> Search {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => many(parts),
    }
}
