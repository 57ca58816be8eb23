//! The text work of `parse-kv`.

use std::borrow::Cow;

use arrow::array::ArrayRef;

use crate::functions::kernel::{KernelArgs, KernelError};

/// The arguments are the text, the key, the pair delimiter, the key-value delimiter, the quote, the escape and, not
/// empty, that values are greedy.
pub(crate) fn value_of_key(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (text, key) = (args.strings(0)?, args.strings(1)?);
    let (pair, separator) = (args.strings(2)?, args.strings(3)?);
    let (quote, escape, greedy) = (args.strings(4)?, args.strings(5)?, args.strings(6)?);
    Ok(args.collect_strings(|row| {
        let rules = Rules {
            pair: pair.get(row),
            separator: separator.get(row),
            quote: quote.get(row),
            escape: escape.get(row),
            greedy: !greedy.get(row).is_empty(),
        };
        Some(rules.find(text.get(row), key.get(row)).unwrap_or_default())
    }))
}

struct Rules<'a> {
    pair: &'a str,
    separator: &'a str,
    quote: &'a str,
    escape: &'a str,
    greedy: bool,
}

impl Rules<'_> {
    /// The value of the first pair with this key.
    fn find<'t>(&self, text: &'t str, key: &str) -> Option<Cow<'t, str>> {
        let mut rest = text;
        loop {
            let (before, after) = rest.split_once(self.separator)?;
            // What stands before the last pair delimiter is a pair without a value.
            let before = before.trim();
            let found = before.rsplit(self.pair).next().unwrap_or(before).trim();
            let (value, next) = self.value(after.trim_start());
            if found == key {
                return Some(value);
            }
            rest = next;
        }
    }

    /// The value that `text` begins with, and what follows it.
    fn value<'t>(&self, text: &'t str) -> (Cow<'t, str>, &'t str) {
        if !self.quote.is_empty()
            && let Some(inside) = text.strip_prefix(self.quote)
            && let Some((value, next)) = self.quoted(inside)
        {
            return (Cow::Owned(value), next);
        }
        let end = match self.greedy {
            false => text.find(self.pair),
            true => match text.find(self.separator) {
                None => None,
                Some(at) => text.get(..at).and_then(|t| t.trim_end().rfind(self.pair)),
            },
        };
        let (value, next) = match end {
            None => (text, ""),
            Some(at) => text.split_at(at),
        };
        let next = next.strip_prefix(self.pair).unwrap_or(next);
        (Cow::Borrowed(value.trim()), next)
    }

    /// A quoted value up to its closing quote.
    fn quoted<'t>(&self, inside: &'t str) -> Option<(String, &'t str)> {
        let mut value = String::new();
        let mut rest = inside;
        loop {
            let escaped = match self.escape.is_empty() {
                true => None,
                false => rest.strip_prefix(self.escape),
            };
            if let Some(after) = escaped {
                let mut characters = after.chars();
                value.extend(characters.next());
                rest = characters.as_str();
                continue;
            }
            if let Some(next) = rest.strip_prefix(self.quote) {
                return Some((value, next));
            }
            let mut characters = rest.chars();
            value.push(characters.next()?);
            rest = characters.as_str();
        }
    }
}
