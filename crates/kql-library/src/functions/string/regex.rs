//! Regular expressions as arguments (`docs/semantics.md §7`): RE2 syntax, replacements with backslashes.

use hindsight_kql_syntax::Code;

use ::regex::Regex;

use crate::functions::prelude::*;
use crate::kernel::CallLimits;
use crate::kernel::Rows;
use crate::regular_expression::compile;

pub(crate) static REGEX_QUOTE: ScalarFunction = function(
    &["regex_quote(string: text) -> string"],
    "The text escaped as a regular expression that matches it literally.",
    ResultName::None,
    &[example(
        "print s = regex_quote('(a.b)')",
        "s:string\n\\(a\\.b\\)",
    )],
    |args| {
        let text = args.texts(0)?;
        Ok(args.collect_strings(|row| Some(Cow::Owned(quote(text.get(row))))))
    },
);

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if r"\^$.|?*+()[]{}".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A pattern argument: a constant is compiled once, a column once per run of equal patterns.
pub(super) struct Patterns {
    rows: Rows<arrow::array::StringViewArray>,
    last: Option<(String, Option<Regex>)>,
}

impl Patterns {
    /// Argument `index`, with each pattern transformed by `wrap`.
    pub(super) fn open(args: &KernelArgs<'_>, index: usize) -> Result<Patterns, KernelError> {
        Ok(Patterns {
            rows: args.strings(index)?,
            last: None,
        })
    }

    /// Whether the first pattern is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.get(0).is_empty()
    }

    /// The compiled expression in `row`; `None` if the pattern is not valid.
    pub(super) fn get(&mut self, row: usize) -> Option<&Regex> {
        let text = self.rows.get(row);
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            self.last = Some((text.to_owned(), compile(text).ok()));
        }
        self.last.as_ref().and_then(|(_, regex)| regex.as_ref())
    }
}

/// Reports an error if a constant pattern is not a valid regular expression.
pub(super) fn check(call: &CallArgs<'_>, index: usize) -> Result<(), Diagnostic> {
    match constant_text(call, index) {
        Some(pattern) if compile(&pattern).is_err() => Err(refuse(
            call,
            Code::RegularExpression,
            format!("Regex pattern is ill-formed: '{pattern}'"),
        )),
        _ => Ok(()),
    }
}

/// Replaces every match; `\0` to `\9` stand for the match and its groups. The loop ends early if `limits` stops it.
pub(super) fn replace_all<'t>(
    regex: &Regex,
    text: &'t str,
    rewrite: &str,
    limits: &CallLimits,
) -> Cow<'t, str> {
    let mut out = String::new();
    let mut copied = 0;
    for groups in regex.captures_iter(text) {
        if !limits.should_continue() || !limits.allows_length(out.len()) {
            return Cow::Borrowed("");
        }
        if let Some(whole) = groups.get(0) {
            out.push_str(text.get(copied..whole.start()).unwrap_or_default());
            copied = whole.end();
        }
        write_rewrite(rewrite, &groups, &mut out);
    }
    if copied == 0 && out.is_empty() {
        Cow::Borrowed(text)
    } else {
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }
}

fn write_rewrite(rewrite: &str, groups: &::regex::Captures<'_>, out: &mut String) {
    let mut rest = rewrite.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match rest.next() {
            Some(digit) if digit.is_ascii_digit() => {
                let group = digit.to_digit(10).and_then(|n| groups.get(n as usize));
                out.push_str(group.map_or("", |g| g.as_str()));
            }
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_name_groups_with_backslashes() {
        let check = |pattern: &str, rewrite: &str, expected: &str| {
            let regex = compile(pattern).expect("a pattern");
            assert_eq!(
                replace_all(&regex, "ab12", rewrite, &CallLimits::new(1)),
                expected,
                "{pattern} {rewrite}"
            );
        };
        check(r"(\w)(\d)", r"\2\1", "a1b2");
        check(r"\d", r"[\0]", "ab[1][2]");
        check(r"\d+", "$0", "ab$0");
        check(r"(x)?b", r"<\1>", "a<>12");
    }
}
