//! `replace_string`, `replace_regex` and the legacy `replace`.

use super::regex::{Patterns, check, replace_all};
use crate::functions::prelude::*;

pub(crate) static REPLACE_STRING: ScalarFunction = function(
    &["replace_string(text: string, lookup: string, rewrite: string) -> string"],
    "The text with every occurrence of the lookup replaced; an empty lookup replaces nothing.",
    ResultName::None,
    &[example(
        "print s = replace_string('a-b-c', '-', '+')",
        "s:string\na+b+c",
    )],
    |args| {
        let (text, lookup, rewrite) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
        Ok(args.collect_strings(|row| {
            let (text, lookup) = (text.get(row), lookup.get(row));
            if lookup.is_empty() || !text.contains(lookup) {
                return Some(Cow::Borrowed(text));
            }
            let rewrite = rewrite.get(row);
            let grows = rewrite.len().saturating_sub(lookup.len());
            if grows > 0 {
                let added = text.matches(lookup).count().saturating_mul(grows);
                if !args
                    .limits()
                    .allows_length(text.len().saturating_add(added))
                {
                    return None;
                }
            }
            Some(Cow::Owned(text.replace(lookup, rewrite)))
        }))
    },
);

pub(crate) static REPLACE_REGEX: ScalarFunction = ScalarFunction {
    signatures: &[
        "replace_regex(source: string, lookup_regex: string, rewrite_pattern: string) -> string",
    ],
    aliases: &[],
    summary: "The text with every match of a regular expression replaced; \\1 to \\9 are its groups.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        r"print s = replace_regex('a1b22', @'(\d+)', @'<\1>')",
        "s:string\na<1>b<22>",
    )],
    eval: Eval::Rewrite(|call| {
        check(call, 1)?;
        Ok(call_kernel(call, &REPLACE_REGEX_KERNEL))
    }),
};

pub(super) static REPLACE_REGEX_KERNEL: InnerKernel =
    InnerKernel::new("replace_regex", |args| regex(args, 0, 1, 2));

pub(crate) static REPLACE: ScalarFunction = ScalarFunction {
    signatures: &["replace(regex: string, rewrite: string, text: string) -> string"],
    aliases: &[],
    summary: "The legacy form of `replace_regex`, with the text as the last argument.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        r"print s = replace(@'\d', '#', 'a1b2')",
        "s:string\na#b#",
    )],
    eval: Eval::Rewrite(|call| {
        check(call, 0)?;
        Ok(call_kernel(call, &REPLACE_KERNEL))
    }),
};

pub(super) static REPLACE_KERNEL: InnerKernel =
    InnerKernel::new("replace", |args| regex(args, 2, 0, 1));

fn regex(args: &KernelArgs<'_>, text: usize, pattern: usize, rewrite: usize) -> KernelResult {
    let (text, rewrite) = (args.texts(text)?, args.texts(rewrite)?);
    let mut patterns = Patterns::open(args, pattern)?;
    Ok(args.collect_strings(|row| {
        let text = text.get(row);
        Some(match patterns.get(row) {
            Some(regex) => replace_all(regex, text, rewrite.get(row), args.limits()),
            None => Cow::Borrowed(text),
        })
    }))
}
