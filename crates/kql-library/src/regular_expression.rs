//! Regular expressions in the syntax of RE2 (`docs/semantics.md §7`), translated to the syntax of the crate `regex`.
//!
//! The two are close, and neither contains the other. RE2 reads a `{` that begins no repetition, and a `[` or `&&` inside brackets, as
//! ordinary characters; it has `\Q…\E` and octal escapes, and no operations on classes, no `\<` and no stacked repetitions. The
//! translation reads the pattern token by token as RE2 does and writes each token so that the crate reads the same.

use std::fmt;

use regex::Regex;

/// The largest count of a repetition in RE2.
const MAX_REPEAT: u32 = 1000;

/// The classes that have a name inside brackets.
const POSIX_CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// A pattern that is no regular expression of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IllFormed(String);

impl fmt::Display for IllFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for IllFormed {}

/// Compiles a pattern.
pub fn compile(pattern: &str) -> Result<Regex, IllFormed> {
    Regex::new(&translate(pattern)?).map_err(|error| IllFormed(error.to_string()))
}

/// The pattern in the syntax of the crate `regex`. What both syntaxes refuse is left to the crate.
pub fn translate(pattern: &str) -> Result<String, IllFormed> {
    let mut translation = Translation {
        rest: pattern,
        out: String::with_capacity(pattern.len() + 8),
        last: Last::Nothing,
    };
    translation.run()?;
    Ok(translation.out)
}

/// What a repetition would repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Atom,
    Repetition,
}

struct Translation<'p> {
    /// The part of the pattern that is not read yet.
    rest: &'p str,
    out: String,
    last: Last,
}

fn fail<T>(message: impl Into<String>) -> Result<T, IllFormed> {
    Err(IllFormed(message.into()))
}

impl Translation<'_> {
    fn run(&mut self) -> Result<(), IllFormed> {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '|' => self.write("|", Last::Nothing),
                '*' | '+' | '?' => self.repetition(&c.to_string())?,
                '{' => match self.counted() {
                    Some(counted) => self.repetition(&counted?)?,
                    None => self.write(r"\{", Last::Atom),
                },
                ']' | '}' => {
                    self.out.push('\\');
                    self.write(c.encode_utf8(&mut [0; 4]), Last::Atom);
                }
                _ => self.write(c.encode_utf8(&mut [0; 4]), Last::Atom),
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn write(&mut self, text: &str, last: Last) {
        self.out.push_str(text);
        self.last = last;
    }

    /// A repetition operator with its `?`. RE2 refuses two in a row.
    fn repetition(&mut self, operator: &str) -> Result<(), IllFormed> {
        if self.last == Last::Repetition {
            return fail("a repetition of a repetition");
        }
        self.write(operator, Last::Repetition);
        if self.eat("?") {
            self.out.push('?');
        }
        Ok(())
    }

    /// `{n}`, `{n,}` or `{n,m}` behind its `{`; `None` if no repetition stands here, and nothing is read.
    fn counted(&mut self) -> Option<Result<String, IllFormed>> {
        let (inside, rest) = self.rest.split_once('}')?;
        let (low, high) = match inside.split_once(',') {
            Some((low, high)) => (low, Some(high)),
            None => (inside, None),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(low) || high.is_some_and(|high| !high.is_empty() && !is_number(high)) {
            return None;
        }
        let too_large =
            |text: &str| !text.is_empty() && text.parse().map_or(true, |n: u32| n > MAX_REPEAT);
        if too_large(low) || high.is_some_and(too_large) {
            return Some(fail(format!(
                "a repetition of more than {MAX_REPEAT} times"
            )));
        }
        self.rest = rest;
        Some(Ok(format!("{{{inside}}}")))
    }

    /// A group behind its `(`.
    fn group(&mut self) -> Result<(), IllFormed> {
        self.write("(", Last::Nothing);
        if !self.eat("?") {
            return Ok(());
        }
        self.out.push('?');
        if self.eat("P<")
            || (!self.rest.starts_with("<=") && !self.rest.starts_with("<!") && self.eat("<"))
        {
            self.out.push_str("P<");
            return Ok(());
        }
        while let Some(c) = self.next() {
            match c {
                'i' | 'm' | 's' | 'U' | '-' => self.out.push(c),
                ')' | ':' => {
                    self.out.push(c);
                    return Ok(());
                }
                _ => return fail(format!("'(?{c}' begins no group")),
            }
        }
        fail("a group is not closed")
    }

    /// An escape behind its `\`, outside brackets.
    fn escape(&mut self) -> Result<(), IllFormed> {
        match self.peek() {
            Some('Q') => {
                self.next();
                let (literal, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
                self.rest = rest;
                if !literal.is_empty() {
                    let literal = literal.chars().map(written).collect::<String>();
                    self.write(&literal, Last::Atom);
                }
                Ok(())
            }
            Some(c @ ('A' | 'z' | 'b' | 'B')) => {
                self.next();
                self.out.push('\\');
                self.write(c.encode_utf8(&mut [0; 4]), Last::Atom);
                Ok(())
            }
            _ => {
                let item = self.item()?;
                self.write(&item.text(), Last::Atom);
                Ok(())
            }
        }
    }

    /// An escape that denotes a character or a class, behind its `\`.
    fn item(&mut self) -> Result<Item, IllFormed> {
        let Some(c) = self.next() else {
            return fail("a backslash at the end");
        };
        Ok(match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Item::Class(format!("\\{c}")),
            'p' | 'P' => Item::Class(self.unicode_class(c == 'P')?),
            'a' => Item::Character('\u{7}'),
            'f' => Item::Character('\u{c}'),
            'n' => Item::Character('\n'),
            'r' => Item::Character('\r'),
            't' => Item::Character('\t'),
            'v' => Item::Character('\u{b}'),
            'x' => Item::Character(self.hexadecimal()?),
            '0'..='7' => Item::Character(self.octal(c)?),
            c if c.is_ascii_punctuation() && c != '_' => Item::Character(c),
            c => return fail(format!("'\\{c}' is no escape")),
        })
    }

    /// `\pN`, `\p{Greek}` or `\p{^Greek}` behind its `p`.
    fn unicode_class(&mut self, negated: bool) -> Result<String, IllFormed> {
        let name = match self.next() {
            Some('{') => {
                let Some((name, rest)) = self.rest.split_once('}') else {
                    return fail("a class is not closed");
                };
                self.rest = rest;
                name.to_owned()
            }
            Some(c) => c.to_string(),
            None => return fail("a class has no name"),
        };
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, !negated),
            None => (name.as_str(), negated),
        };
        Ok(format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' }))
    }

    /// `\x7F` or `\x{10FFFF}` behind its `x`.
    fn hexadecimal(&mut self) -> Result<char, IllFormed> {
        let digits = if self.eat("{") {
            let Some((digits, rest)) = self.rest.split_once('}') else {
                return fail("'\\x{' is not closed");
            };
            self.rest = rest;
            digits
        } else {
            let Some((digits, rest)) = self.rest.split_at_checked(2) else {
                return fail("'\\x' needs two digits");
            };
            self.rest = rest;
            digits
        };
        let all = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| all);
        match code.and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => fail(format!("'\\x{{{digits}}}' is no character")),
        }
    }

    /// An octal escape of up to three digits. A single digit but 0 would be a backreference, which RE2 does not have.
    fn octal(&mut self, first: char) -> Result<char, IllFormed> {
        let digit = |c: char| c.to_digit(8);
        if first != '0' && self.peek().and_then(digit).is_none() {
            return fail(format!("'\\{first}' is a backreference"));
        }
        let mut code = digit(first).unwrap_or_default();
        for _ in 0..2 {
            let Some(value) = self.peek().and_then(digit) else {
                break;
            };
            self.next();
            code = code * 8 + value;
        }
        match char::from_u32(code) {
            Some(c) => Ok(c),
            None => fail("an octal escape is no character"),
        }
    }

    /// A class in brackets, behind its `[`.
    fn class(&mut self) -> Result<(), IllFormed> {
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            if !first && self.eat("]") {
                self.write("]", Last::Atom);
                return Ok(());
            }
            first = false;
            if let Some(name) = self.posix_class() {
                self.out.push_str(&name?);
                continue;
            }
            let low = match self.class_item()? {
                Item::Character(low) => low,
                Item::Class(class) => {
                    self.out.push_str(&class);
                    continue;
                }
            };
            self.out.push_str(&written(low));
            // A `-` before the closing bracket is an ordinary character.
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1 {
                self.next();
                let Item::Character(high) = self.class_item()? else {
                    return fail("a class is no end of a range");
                };
                self.out.push('-');
                self.out.push_str(&written(high));
            }
        }
    }

    fn class_item(&mut self) -> Result<Item, IllFormed> {
        match self.next() {
            Some('\\') => self.item(),
            Some(c) => Ok(Item::Character(c)),
            None => fail("a class is not closed"),
        }
    }

    /// `[:word:]` or `[:^word:]` inside brackets; `None` if no such name stands here.
    fn posix_class(&mut self) -> Option<Result<String, IllFormed>> {
        let (name, rest) = self.rest.strip_prefix("[:")?.split_once(":]")?;
        let word = name.strip_prefix('^').unwrap_or(name);
        if !POSIX_CLASSES.contains(&word) {
            return Some(fail(format!("'[:{name}:]' is no class")));
        }
        self.rest = rest;
        Some(Ok(format!("[:{name}:]")))
    }
}

/// An escape or an item of a class.
enum Item {
    Character(char),
    /// A class in the syntax of the crate.
    Class(String),
}

impl Item {
    fn text(self) -> String {
        match self {
            Item::Character(c) => written(c),
            Item::Class(class) => class,
        }
    }
}

/// A character that stands for itself, inside and outside brackets.
fn written(c: char) -> String {
    if c.is_ascii_alphanumeric() {
        c.to_string()
    } else {
        format!("\\x{{{:X}}}", u32::from(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn matches(pattern: &str, yes: &[&str], no: &[&str]) {
        let regex = compile(pattern).expect("a pattern");
        for text in yes {
            assert!(regex.is_match(text), "'{pattern}' matches '{text}'");
        }
        for text in no {
            assert!(!regex.is_match(text), "'{pattern}' does not match '{text}'");
        }
    }

    #[test]
    fn a_brace_that_begins_no_repetition_is_ordinary() {
        matches(r#"\["{"#, &[r#"["{"#], &[r#"[""#]);
        matches(r#"{"(.+)":.+}"#, &[r#"{"a":1}"#], &["{a:1}"]);
        matches("^a{,2}$", &["a{,2}"], &["aa", ""]);
        matches("^a{x}$", &["a{x}"], &["a"]);
        matches("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa", "a{2,3}"]);
        matches("^{$", &["{"], &[""]);
        matches("^]}$", &["]}"], &[]);
    }

    #[test]
    fn brackets_hold_ordinary_characters() {
        matches("^[[&&a]+$", &["[&a"], &["b"]);
        matches("^[]a]+$", &["]a"], &["b"]);
        matches("^[^]a]$", &["b"], &["]", "a"]);
        matches("^[a-c~~x-]+$", &["b~x-"], &["d"]);
        matches("^[[:word:]-]+$", &["a_1-"], &["é", " "]);
        matches("^[[:^digit:]]$", &["a"], &["1"]);
        matches(r"^[\d\-\]]+$", &["1-]"], &["a"]);
        matches(r"^[\x41-\x{43}\103]+$", &["ABC"], &["D"]);
    }

    #[test]
    fn escapes_are_those_of_re2() {
        matches(r"^\Qa.b*\E+$", &["a.b*", "a.b**"], &["axb"]);
        matches(r"^\Qa.b", &["a.b"], &["axb"]);
        matches(r"^\101\x42\x{43}\n\z", &["ABC\n"], &["ABC"]);
        matches(r"\<a\>", &["<a>"], &["a"]);
        matches(r"^\pL\p{^Greek}\PN$", &["abc"], &["aβc"]);
        matches(r"^(?P<a>x)(?<b>y)(?i:Z)$", &["xyz"], &["xYz"]);
        matches(r"(?U)^a+$", &["aa"], &["b"]);
    }

    #[test]
    fn what_re2_refuses_is_refused() {
        for pattern in [
            r"\C",
            r"\1",
            r"\8",
            r"\Z",
            r"\_",
            r"\y",
            r"\u{41}",
            r"\E",
            "\\",
            "a**",
            "a*+",
            "a{2}{3}",
            "a{1001}",
            "(?x)a b",
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?<!a)",
            "(?P=a)",
            "(?P>a)",
            "[a",
            "[b-a]",
            r"[\b]",
            r"[a-\d]",
            "(",
            ")",
            "*",
            "[[:nothing:]]",
            r"\p{Nothing}",
            r"\x{110000}",
            r"\xg1",
        ] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
