//! `toupper` and `tolower`: the simple case mapping of Unicode, character by character.

use crate::functions::prelude::*;

pub(crate) static TOUPPER: ScalarFunction = function(
    &["toupper(value: text) -> string"],
    "The text in upper case.",
    ResultName::None,
    &[example("print s = toupper('naïve')", "s:string\nNAÏVE")],
    |args| map(args, str::to_ascii_uppercase, char::to_uppercase),
);

pub(crate) static TOLOWER: ScalarFunction = function(
    &["tolower(value: text) -> string"],
    "The text in lower case.",
    ResultName::None,
    &[example("print s = tolower('NAÏVE')", "s:string\nnaïve")],
    |args| map(args, str::to_ascii_lowercase, char::to_lowercase),
);

fn map<I: ExactSizeIterator<Item = char>>(
    args: &KernelArgs<'_>,
    ascii: fn(&str) -> String,
    full: fn(char) -> I,
) -> KernelResult {
    let text = args.texts(0)?;
    Ok(args.collect_strings(|row| {
        let text = text.get(row);
        if text.is_ascii() {
            return Some(Cow::Owned(ascii(text)));
        }
        // The simple mapping: a character whose counterpart is longer (ß) is unchanged.
        let simple = text.chars().map(|c| {
            let mut mapped = full(c);
            match (mapped.len(), mapped.next()) {
                (1, Some(other)) => other,
                _ => c,
            }
        });
        Some(Cow::Owned(simple.collect()))
    }))
}
