//! `replace_strings` (`docs/semantics.md §11`).

use hindsight_kql_types::DynamicRef;
use memchr::memmem;

use crate::functions::prelude::*;
use crate::kernel::CallLimits;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["replace_strings(text: string, lookups: array, rewrites: array) -> string"],
    aliases: &[],
    summary: "The text with each of several texts replaced by its counterpart, in the order of the array; replacements are not searched again.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = replace_strings('one two', dynamic(['one', 'two']), dynamic(['two', '2']))",
        "s:string\ntwo 2",
    )],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    let (lookups, rewrites) = (args.dynamics(1)?, args.dynamics(2)?);
    // The arrays of the row before, which are mostly those of this row too.
    let mut last = None;
    let mut replacements = Vec::new();
    Ok(args.collect_strings(|row| {
        let (Some(from), Some(to)) = (lookups.get(row), rewrites.get(row)) else {
            return Some(Cow::Borrowed(text.get(row)));
        };
        if last != Some((from, to)) {
            last = Some((from, to));
            replacements = replacements_of(from, to);
        }
        Some(Cow::Owned(replace(
            text.get(row),
            &replacements,
            args.limits(),
        )))
    }))
}

/// A text to look for, and what to write in its place.
struct Replacement {
    lookup: String,
    rewrite: String,
}

/// The replacements of two arrays. An empty lookup matches nothing, and a replacement that is no string leaves its match.
fn replacements_of(lookups: &[u8], rewrites: &[u8]) -> Vec<Replacement> {
    let rewrites = DynamicRef::new(rewrites);
    let lookups = DynamicRef::new(lookups);
    let pairs = (0i64..).zip(lookups.iter_array());
    let pair = |(place, lookup): (i64, DynamicRef<'_>)| {
        let mut text = String::new();
        lookup.to_text(&mut text);
        let rewrite = rewrites.get_index(place)?.as_str()?.to_owned();
        (!text.is_empty()).then_some(Replacement {
            lookup: text,
            rewrite,
        })
    };
    pairs.filter_map(pair).collect()
}

/// A part of the text.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// Of the original: later lookups search it.
    Original(&'a str),
    /// A replacement: no lookup searches it.
    Replaced(&'a str),
}

/// Applies the replacements one after the other, each to the parts that no earlier one replaced.
fn replace(text: &str, replacements: &[Replacement], limits: &CallLimits) -> String {
    let mut parts = vec![Part::Original(text)];
    for replacement in replacements {
        if !limits.should_continue() || !limits.allows_length(length(&parts)) {
            return String::new();
        }
        let finder = memmem::Finder::new(&replacement.lookup);
        let mut next = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Original(text) => split(text, &finder, replacement, &mut next),
                Part::Replaced(_) => next.push(part),
            }
        }
        parts = next;
    }
    if !limits.allows_length(length(&parts)) {
        return String::new();
    }
    let mut out = String::with_capacity(length(&parts));
    for part in parts {
        let (Part::Original(text) | Part::Replaced(text)) = part;
        out.push_str(text);
    }
    out
}

/// Cuts a part of the original at the matches of one lookup.
fn split<'a>(
    mut text: &'a str,
    finder: &memmem::Finder<'_>,
    replacement: &'a Replacement,
    parts: &mut Vec<Part<'a>>,
) {
    while let Some(at) = finder.find(text.as_bytes()) {
        let (before, rest) = text.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Original(before));
        }
        parts.push(Part::Replaced(&replacement.rewrite));
        text = rest.get(replacement.lookup.len()..).unwrap_or_default();
    }
    if !text.is_empty() {
        parts.push(Part::Original(text));
    }
}

fn length(parts: &[Part<'_>]) -> usize {
    let lengths = parts.iter().map(|part| match part {
        Part::Original(text) | Part::Replaced(text) => text.len(),
    });
    lengths.sum()
}
