//! `has_any_index`.

use hindsight_kql_types::DynamicRef;

use crate::functions::prelude::*;
use crate::text_match::fold_char;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["has_any_index(source: string, values: array) -> long"],
    aliases: &[],
    summary: "The index of the first array element that is a term of the text; -1 if there is none.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print n = has_any_index('one two', dynamic(['three', 'TWO']))",
            "n:long\n1",
        ),
        example(
            "print n = has_any_index('one two', dynamic(['tw']))",
            "n:long\n-1",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (text, values) = (args.texts(0)?, args.dynamics(1)?);
    Ok(args.collect_longs(|row| {
        let folded = fold(text.get(row));
        let mut needle = String::new();
        let found = values.get(row).and_then(|values| {
            DynamicRef::new(values).iter_array().position(|value| {
                needle.clear();
                value.to_text(&mut needle);
                has(&folded, &fold(&needle))
            })
        });
        Some(found.map_or(-1, |place| place as i64))
    }))
}

fn fold(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

/// Whether `needle` occurs with no term extending beyond either of its edges (`docs/semantics.md §6.2`).
fn has(text: &str, needle: &str) -> bool {
    let (first, last) = (needle.chars().next(), needle.chars().next_back());
    let term = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(needle)) {
        let at = from + at;
        let before = text.get(..at).and_then(|s| s.chars().next_back());
        let after = text.get(at + needle.len()..).and_then(|s| s.chars().next());
        if !(term(first) && term(before) || term(last) && term(after)) {
            return true;
        }
        from = at + first.map_or(1, char::len_utf8);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has;

    #[test]
    fn terms_end_at_anything_but_letters_and_digits() {
        let check = |text: &str, needle: &str, expected: bool| {
            assert_eq!(has(text, needle), expected, "{text} {needle}")
        };
        check("a_b", "a", true);
        check("éa", "a", false);
        check("xa b", "a ", false);
        check("a b", "a ", true);
        check("1.2.3", "2.3", true);
        check("ab b", "b", true);
        check("abc", "", true);
    }
}
