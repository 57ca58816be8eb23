//! String literals: prefixes, quotes, escapes (`docs/semantics.md §1.4`).

use std::iter::Peekable;
use std::str::Chars;

/// The text of one string token; `None` if it has an unknown escape.
pub(crate) fn decode_string(raw: &str) -> Option<String> {
    decode(raw, false)
}

/// As above, inside `dynamic(…)`, which also has JSON's escape `\/`.
pub(crate) fn decode_json_string(raw: &str) -> Option<String> {
    decode(raw, true)
}

fn decode(raw: &str, json: bool) -> Option<String> {
    let raw = raw.strip_prefix(['h', 'H']).unwrap_or(raw);
    for fence in ["```", "~~~"] {
        if let Some(body) = raw.strip_prefix(fence) {
            return body.strip_suffix(fence).map(str::to_owned);
        }
    }
    let (raw, verbatim) = match raw.strip_prefix('@') {
        Some(rest) => (rest, true),
        None => (raw, false),
    };
    let quote = raw.chars().next()?;
    let body = raw.strip_prefix(quote)?.strip_suffix(quote)?;
    if verbatim {
        let doubled = String::from_iter([quote, quote]);
        return Some(body.replace(&doubled, &String::from(quote)));
    }
    unescape(body, json)
}

fn unescape(body: &str, json: bool) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            c @ ('\'' | '"' | '\\') => c,
            '/' if json => '/',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'u' => utf16(&mut chars)?,
            'U' => char::from_u32(digits(&mut chars, 8, 16)?)?,
            'x' => char::from_u32(digits(&mut chars, 2, 16)?)?,
            c @ '0'..='7' => octal(c, &mut chars)?,
            _ => return None,
        });
    }
    Some(out)
}

fn digits(chars: &mut Peekable<Chars<'_>>, count: usize, radix: u32) -> Option<u32> {
    let mut value = 0u32;
    for _ in 0..count {
        value = value
            .checked_mul(radix)?
            .checked_add(chars.next()?.to_digit(radix)?)?;
    }
    Some(value)
}

/// `\uXXXX`; a pair of surrogates is one character, a lone surrogate is the replacement character.
fn utf16(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let first = digits(chars, 4, 16)?;
    if (0xd800..0xdc00).contains(&first) {
        let mut ahead = chars.clone();
        if ahead.next() == Some('\\')
            && ahead.next() == Some('u')
            && let Some(second @ 0xdc00..0xe000) = digits(&mut ahead, 4, 16)
        {
            *chars = ahead;
            return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        }
    }
    Some(char::from_u32(first).unwrap_or('\u{fffd}'))
}

fn octal(first: char, chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut value = first.to_digit(8)?;
    for _ in 0..2 {
        match chars.peek().and_then(|c| c.to_digit(8)) {
            Some(digit) if value * 8 + digit < 256 => value = value * 8 + digit,
            _ => break,
        }
        chars.next();
    }
    char::from_u32(value)
}
