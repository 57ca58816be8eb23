//! Text parsing of `parse-kv` (`docs/semantics.md §20.3`).

use std::borrow::Cow;

use arrow::array::ArrayRef;

use crate::kernel::{KernelArgs, KernelError};
use crate::regular_expression::compile;

/// Pairs between explicit delimiters. The arguments are the text, the key, the pair delimiter, the key-value delimiter, the
/// quotes (an opening and a closing character each), the escape characters, and the greedy flag, which is set if it is not
/// empty.
pub(crate) fn value_between(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (text, key) = (args.strings(0)?, args.strings(1)?);
    let (pair, separator) = (args.strings(2)?, args.strings(3)?);
    let (quotes, escapes, greedy) = (args.strings(4)?, args.strings(5)?, args.strings(6)?);
    Ok(args.collect_strings(|row| {
        let rules = Delimited {
            pair: pair.get(row),
            separator: separator.get(row),
            quoting: Quoting {
                quotes: quotes.get(row),
                escapes: escapes.get(row),
            },
            greedy: !greedy.get(row).is_empty(),
        };
        Some(rules.find(text.get(row), key.get(row)).unwrap_or_default())
    }))
}

/// Every character except letters and digits is a delimiter. The arguments are the text, the key, the quotes and the escapes.
pub(crate) fn value_after(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (text, key) = (args.strings(0)?, args.strings(1)?);
    let (quotes, escapes) = (args.strings(2)?, args.strings(3)?);
    Ok(args.collect_strings(|row| {
        let quoting = Quoting {
            quotes: quotes.get(row),
            escapes: escapes.get(row),
        };
        let mut words = Words {
            rest: text.get(row),
            quoting,
        };
        let key = key.get(row);
        let found = words.by_ref().find(|word| *word == key);
        Some(found.and_then(|_| words.next()).unwrap_or_default())
    }))
}

/// The groups of a regular expression are the key and the value. The arguments are the text, the key and the expression.
pub(crate) fn value_by_regex(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (text, key, pattern) = (args.strings(0)?, args.strings(1)?, args.strings(2)?);
    if args.rows() == 0 {
        return Ok(args.collect_strings(|_| None));
    }
    let regex = compile(pattern.get(0)).map_err(|e| KernelError::Failed(e.to_string()))?;
    Ok(args.collect_strings(|row| {
        let pair = regex.captures_iter(text.get(row)).find(|groups| {
            groups
                .get(1)
                .is_some_and(|found| found.as_str().trim() == key.get(row))
        });
        let value = pair.and_then(|groups| groups.get(2));
        Some(Cow::Borrowed(value.map_or("", |v| v.as_str().trim())))
    }))
}

/// The characters that protect delimiters.
#[derive(Clone, Copy)]
struct Quoting<'a> {
    /// An opening and a closing character for each kind of quote.
    quotes: &'a str,
    /// Escape characters: the next character is literal.
    escapes: &'a str,
}

impl Quoting<'_> {
    /// The quoted text at the start of `text`, and the rest after its closing quote.
    fn quoted<'t>(&self, text: &'t str) -> Option<(String, &'t str)> {
        let first = text.chars().next()?;
        let mut quotes = self.quotes.chars();
        let close = loop {
            let (open, close) = (quotes.next()?, quotes.next()?);
            if open == first {
                break close;
            }
        };
        let mut characters = text.chars();
        characters.next();
        let mut value = String::new();
        loop {
            match characters.next()? {
                escape if self.escapes.contains(escape) => value.push(characters.next()?),
                end if end == close => return Some((value, characters.as_str())),
                other => value.push(other),
            }
        }
    }
}

struct Delimited<'a> {
    pair: &'a str,
    separator: &'a str,
    quoting: Quoting<'a>,
    greedy: bool,
}

impl Delimited<'_> {
    /// The value of the first pair with this key.
    fn find<'t>(&self, text: &'t str, key: &str) -> Option<Cow<'t, str>> {
        let mut rest = text;
        loop {
            let (found, after) = self.key(rest)?;
            let (value, next) = self.value(after.trim_start());
            if found == key {
                return Some(value);
            }
            rest = next;
        }
    }

    /// The next key, and the rest after its delimiter.
    fn key<'t>(&self, text: &'t str) -> Option<(Cow<'t, str>, &'t str)> {
        let mut start = text.trim_start();
        while let Some(rest) = start.strip_prefix(self.pair) {
            start = rest.trim_start();
        }
        if let Some((key, after)) = self.quoting.quoted(start)
            && let Some(after) = after.trim_start().strip_prefix(self.separator)
        {
            return Some((Cow::Owned(key), after));
        }
        let (before, after) = text.split_once(self.separator)?;
        // The text before the last pair delimiter is a pair without a value.
        let before = before.trim();
        let key = before.rsplit(self.pair).next().unwrap_or(before).trim();
        Some((Cow::Borrowed(key), after))
    }

    /// The value at the start of `text`, and the rest after it.
    fn value<'t>(&self, text: &'t str) -> (Cow<'t, str>, &'t str) {
        if let Some((value, next)) = self.quoting.quoted(text) {
            return (Cow::Owned(value), next);
        }
        let end = if !self.greedy {
            text.find(self.pair)
        } else {
            match text.find(self.separator) {
                None => None,
                Some(at) => text.get(..at).and_then(|t| t.trim_end().rfind(self.pair)),
            }
        };
        let (value, next) = match end {
            None => (text, ""),
            Some(at) => text.split_at(at),
        };
        let next = next.strip_prefix(self.pair).unwrap_or(next);
        (Cow::Borrowed(value.trim()), next)
    }
}

/// The words of a text: quoted texts, and runs of letters and digits.
struct Words<'a, 't> {
    rest: &'t str,
    quoting: Quoting<'a>,
}

impl<'t> Iterator for Words<'_, 't> {
    type Item = Cow<'t, str>;

    fn next(&mut self) -> Option<Cow<'t, str>> {
        loop {
            let first = self.rest.chars().next()?;
            if let Some((word, rest)) = self.quoting.quoted(self.rest) {
                self.rest = rest;
                return Some(Cow::Owned(word));
            }
            if first.is_alphanumeric() {
                let end = self.rest.find(|c: char| !c.is_alphanumeric());
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                return Some(Cow::Borrowed(word));
            }
            self.rest = self.rest.get(first.len_utf8()..)?;
        }
    }
}
