//! What the language has, for its reference: every statement, operator and kind of join with its form and a sentence.
//!
//! The parser does not read these tables. Tests hold them against it, so that neither can grow alone.

mod operators;
mod scalar;

pub use operators::OPERATORS;
pub use scalar::SCALAR_OPERATORS;

/// A part of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Its keyword or spelling.
    pub name: &'static str,
    /// How it is written; `[ ]` may be left out, `…` repeats, `|` separates choices.
    pub form: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
}

/// An [`Item`] in one line.
const fn item(name: &'static str, form: &'static str, summary: &'static str) -> Item {
    Item {
        name,
        form,
        summary,
    }
}

/// The statements (`docs/semantics.md §14`).
pub static STATEMENTS: &[Item] = &[
    item(
        "alias",
        "alias database name = cluster('…').database('…')",
        "Another name for a database.",
    ),
    item(
        "declare query_parameters",
        "declare query_parameters (name:type [= default], …)",
        "Values that come with the request.",
    ),
    item(
        "let",
        "let name = scalar | table | [view] (parameters) { body } | materialize(table) | entity_group [ … ]",
        "A name for a value, a table, a function or a group, for the statements behind it.",
    ),
    item(
        "pattern",
        "declare pattern name [= (parameters) [path] { ('value') = { body }; … }]",
        "Names that stand for one of several tables.",
    ),
    item(
        "restrict access to",
        "restrict access to (table, view, …)",
        "Leaves nothing but these tables to the statements behind it.",
    ),
    item(
        "set",
        "set option [= value]",
        "An option of the query, such as query_now; an unknown one changes nothing.",
    ),
    item(
        "tabular expression",
        "source | operator | …",
        "Rows, which are a result; each such statement gives one.",
    ),
];

/// The kinds of `join`; `innerunique` where none is written (`docs/semantics.md §17.1`).
pub static JOIN_KINDS: &[Item] = &[
    item(
        "innerunique",
        "join [kind=innerunique] (right) on key",
        "Pairs with equal keys, after one left row of each key was kept.",
    ),
    item(
        "inner",
        "join kind=inner (right) on key",
        "Every pair of rows with equal keys.",
    ),
    item(
        "leftouter",
        "join kind=leftouter (right) on key",
        "Every left row, with its partners or with nulls.",
    ),
    item(
        "rightouter",
        "join kind=rightouter (right) on key",
        "Every right row, with its partners or with nulls.",
    ),
    item(
        "fullouter",
        "join kind=fullouter (right) on key",
        "Every row of both sides.",
    ),
    item(
        "leftsemi",
        "join kind=leftsemi (right) on key",
        "Left rows that have a partner.",
    ),
    item(
        "leftanti",
        "join kind=leftanti | anti | leftantisemi (right) on key",
        "Left rows that have no partner.",
    ),
    item(
        "rightsemi",
        "join kind=rightsemi (right) on key",
        "Right rows that have a partner.",
    ),
    item(
        "rightanti",
        "join kind=rightanti | rightantisemi (right) on key",
        "Right rows that have no partner.",
    ),
];

/// What the language has and this parser or binder refuses by name.
pub static REFUSED: &[Item] = &[
    item(
        "externaldata",
        "externaldata (schema) [ 'uri' ]",
        "It reads other systems.",
    ),
    item(
        "like",
        "like, notlike, likecs, notlikecs",
        "Older operators; has, contains and matches regex stand for them.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{BinaryOp, ListOp};
    use crate::operators::OperatorKind;

    #[test]
    fn the_operators_are_those_that_the_parser_reads() {
        let listed: Vec<&str> = OPERATORS.iter().map(|i| i.name).collect();
        let mut read: Vec<&str> = OperatorKind::keywords().collect();
        // A source, which is an expression to the parser.
        read.push("datatable");
        read.sort_unstable();
        assert_eq!(listed, read, "the table and the parser differ");
    }

    #[test]
    fn the_scalar_operators_are_those_that_the_parser_reads() {
        let has = |spelling: &str| SCALAR_OPERATORS.iter().any(|i| i.name == spelling);
        let binary = BinaryOp::all().map(BinaryOp::spelling);
        let list = ListOp::ALL.iter().map(|op| op.spelling());
        let refused = |spelling: &str| {
            REFUSED
                .iter()
                .any(|i| i.form.split(", ").any(|f| f == spelling))
        };
        let missing: Vec<&str> = binary
            .chain(list)
            .filter(|s| !has(s) && !refused(s))
            .collect();
        assert!(missing.is_empty(), "not in the table: {missing:?}");
    }

    #[test]
    fn every_item_says_what_it_does() {
        let all = [STATEMENTS, OPERATORS, JOIN_KINDS, SCALAR_OPERATORS, REFUSED];
        for item in all.iter().flat_map(|list| list.iter()) {
            assert!(item.summary.ends_with('.'), "{}", item.name);
            assert!(!item.form.is_empty(), "{}", item.name);
        }
    }
}
