//! The tokens of a Rust source, as far as imports are concerned.

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// An identifier or keyword, a raw one without `r#`.
    Word(String),
    /// `::`
    Path,
    /// Any other character outside of comments and literals.
    Mark(char),
}

impl Token {
    pub(crate) fn as_word(&self) -> Option<&str> {
        match self {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The tokens of a source. Comments, texts, characters and lifetimes are left out.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let text: Vec<char> = text.chars().collect();
    let is = |at: usize, wanted: &str| {
        wanted
            .chars()
            .enumerate()
            .all(|(offset, c)| text.get(at + offset) == Some(&c))
    };
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&c) = text.get(at) {
        if is(at, "//") {
            at = skip_to(&text, at, "\n");
        } else if is(at, "/*") {
            at = skip_to(&text, at, "*/");
        } else if let Some(end) = raw_text(&text, at) {
            at = end;
        } else if c == '"' {
            at = skip_quoted(&text, at, '"');
        } else if c == '\'' {
            let is_character = text.get(at + 1) == Some(&'\\') || text.get(at + 2) == Some(&'\'');
            at = if is_character {
                skip_quoted(&text, at, '\'')
            } else {
                at + 1 + word_length(&text, at + 1)
            };
        } else if is(at, "::") {
            tokens.push(Token::Path);
            at += 2;
        } else if c.is_alphanumeric() || c == '_' {
            let length = word_length(&text, at);
            tokens.push(Token::Word(text[at..at + length].iter().collect()));
            at += length;
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Mark(c));
            }
            at += 1;
        }
    }
    tokens
}

/// The tokens without what `#[cfg(test)]` stands before, and the names of the modules among that.
pub(crate) fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let attribute = self::tokens("#[cfg(test)]");
    let (mut kept, mut modules, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        if !tokens[at..].starts_with(&attribute) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        at += attribute.len();
        while tokens.get(at) == Some(&Token::Mark('#')) {
            at = after(&tokens, at, '[', ']');
        }
        let end = tokens[at..]
            .iter()
            .position(|token| matches!(token, Token::Mark(';' | '{')))
            .map_or(tokens.len(), |length| at + length);
        let item = &tokens[at..end];
        let module = item.iter().position(|token| token.as_word() == Some("mod"));
        let name = module.and_then(|place| item.get(place + 1)?.as_word());
        modules.extend(name.map(str::to_owned));
        at = match tokens.get(end) {
            Some(Token::Mark('{')) => after(&tokens, end, '{', '}'),
            _ => end + 1,
        };
    }
    (kept, modules)
}

/// The place behind the bracket that closes the one at `at`.
pub(crate) fn after(tokens: &[Token], at: usize, open: char, close: char) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        if *token == Token::Mark(open) {
            depth += 1;
        } else if *token == Token::Mark(close) {
            depth -= 1;
            if depth == 0 {
                return place + 1;
            }
        }
    }
    tokens.len()
}

fn word_length(text: &[char], at: usize) -> usize {
    let word = text[at..].iter();
    word.take_while(|c| c.is_alphanumeric() || **c == '_')
        .count()
}

/// The place behind the next `end`.
fn skip_to(text: &[char], at: usize, end: &str) -> usize {
    let end: Vec<char> = end.chars().collect();
    let found = text[at..].windows(end.len()).position(|part| part == end);
    found.map_or(text.len(), |length| at + length + end.len())
}

/// The place behind a text or character that begins at `at`.
fn skip_quoted(text: &[char], mut at: usize, quote: char) -> usize {
    at += 1;
    while let Some(&c) = text.get(at) {
        at += if c == '\\' { 2 } else { 1 };
        if c == quote {
            break;
        }
    }
    at
}

/// The place behind the raw text that begins at `at`, if one does.
fn raw_text(text: &[char], at: usize) -> Option<usize> {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    if at > 0 && text.get(at - 1).is_some_and(is_word) {
        return None;
    }
    let letters = if text[at..].starts_with(&['b', 'r']) {
        2
    } else {
        1
    };
    if text.get(at + letters - 1) != Some(&'r') {
        return None;
    }
    let hashes = text[at + letters..]
        .iter()
        .take_while(|c| **c == '#')
        .count();
    if text.get(at + letters + hashes) != Some(&'"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(skip_to(text, at + letters + hashes + 1, &end))
}
