//! The language reference: every statement, operator and kind of join with its form and one sentence.
//!
//! The parser does not use these tables. Tests compare them with the parser, so that neither changes alone.

mod operators;
mod scalar;

pub use operators::OPERATORS;
pub use scalar::SCALAR_OPERATORS;

/// An entry of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Its keyword or spelling.
    pub name: &'static str,
    /// Its syntax: `[ ]` is optional, `…` repeats, `|` separates alternatives.
    pub form: &'static str,
    /// One sentence that says what it does.
    pub summary: &'static str,
}

/// Builds an [`Item`].
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
        "Values that the request provides.",
    ),
    item(
        "let",
        "let name = scalar | table | [view] (parameters) { body } | materialize(table) | entity_group [ … ]",
        "Defines a name for a value, a table, a function or a group in the following statements.",
    ),
    item(
        "pattern",
        "declare pattern name [= (parameters) [path] { ('value') = { body }; … }]",
        "Defines a name whose arguments select one of several tabular expressions.",
    ),
    item(
        "restrict access to",
        "restrict access to (table, view, …)",
        "The following statements can read these tables only.",
    ),
    item(
        "set",
        "set option [= value]",
        "Sets an option of the query, such as query_now; an unknown option has no effect.",
    ),
    item(
        "tabular expression",
        "source | operator | …",
        "Returns a result; a query can have several.",
    ),
];

/// The kinds of `join`; `innerunique` is the default (`docs/semantics.md §17.1`).
pub static JOIN_KINDS: &[Item] = &[
    item(
        "innerunique",
        "join [kind=innerunique] (right) on key",
        "Pairs of rows with equal keys, with one left row for each key.",
    ),
    item(
        "inner",
        "join kind=inner (right) on key",
        "Every pair of rows with equal keys.",
    ),
    item(
        "leftouter",
        "join kind=leftouter (right) on key",
        "Every left row with its matches, or with nulls.",
    ),
    item(
        "rightouter",
        "join kind=rightouter (right) on key",
        "Every right row with its matches, or with nulls.",
    ),
    item(
        "fullouter",
        "join kind=fullouter (right) on key",
        "Every row of both sides with its matches, or with nulls.",
    ),
    item(
        "leftsemi",
        "join kind=leftsemi (right) on key",
        "Left rows with a match.",
    ),
    item(
        "leftanti",
        "join kind=leftanti | anti | leftantisemi (right) on key",
        "Left rows without a match.",
    ),
    item(
        "rightsemi",
        "join kind=rightsemi (right) on key",
        "Right rows with a match.",
    ),
    item(
        "rightanti",
        "join kind=rightanti | rightantisemi (right) on key",
        "Right rows without a match.",
    ),
];

/// Constructs of KQL that the parser or the binder refuses by name.
pub static REFUSED: &[Item] = &[
    item(
        "externaldata",
        "externaldata (schema) [ 'uri' ]",
        "It reads external storage.",
    ),
    item(
        "like",
        "like, notlike, likecs, notlikecs",
        "Deprecated; use has, contains or matches regex.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::{BinaryOp, ListOp};
    use crate::operators::OperatorKind;

    #[test]
    fn the_operators_are_those_of_the_parser() {
        let listed: Vec<&str> = OPERATORS.iter().map(|i| i.name).collect();
        let mut read: Vec<&str> = OperatorKind::keywords().collect();
        // For the parser `datatable` is an expression.
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
