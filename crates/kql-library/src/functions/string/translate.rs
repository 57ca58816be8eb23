//! `translate`.

use std::collections::HashMap;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "translate(searchList: string, replacementList: string, source: string) -> string",
    ],
    aliases: &[],
    summary: "The text with each character of one list replaced by its counterpart in another; a shorter list \
    repeats its last character.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print s = translate('abc', 'xyz', 'cab!')",
            "s:string\nzxy!",
        ),
        example(
            "print s = translate('abc', 'x', 'aabbcc')",
            "s:string\nxxxxxx",
        ),
        example("print s = translate('abc', '', 'cab!')", "s:string\n!"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (search, replacement, source) = (args.texts(0)?, args.texts(1)?, args.texts(2)?);
    let constant = (search.is_constant() && replacement.is_constant())
        .then(|| mapping(search.get(0), replacement.get(0)));
    Ok(args.collect_strings(|row| {
        let own;
        let table = match &constant {
            Some(table) => table,
            None => {
                own = mapping(search.get(row), replacement.get(row));
                &own
            }
        };
        Some(Cow::Owned(apply(table, source.get(row))))
    }))
}

/// The replacement of each character; `None` if the list of replacements is empty.
fn mapping(search: &str, replacement: &str) -> HashMap<char, Option<char>> {
    let mut replacements = replacement.chars();
    let mut current = None;
    let mut table = HashMap::new();
    for character in search.chars() {
        current = replacements.next().or(current);
        table.entry(character).or_insert(current);
    }
    table
}

fn apply(table: &HashMap<char, Option<char>>, source: &str) -> String {
    let translated = source.chars().filter_map(|c| match table.get(&c) {
        Some(other) => *other,
        None => Some(c),
    });
    translated.collect()
}
