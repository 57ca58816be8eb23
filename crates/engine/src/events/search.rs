//! `$search` over the text of rows.
//!
//! A word is looked for as KQL's `has` does, as a whole term without regard to case: that is what free-text search means in
//! the query language, and what an index can answer. A phrase, and a word without letters and digits, has no terms to look
//! for and is found anywhere (`contains`).

use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_types::ScalarType;

use super::source::Source;
use crate::odata::{Search, balanced};

/// The dynamic columns that hold text of the telemetry's author.
const BAGS: &[&str] = &["customDimensions", "details"];

/// The predicate of a search.
pub(super) fn to_kql(source: Source, search: &Search) -> Expr {
    match search {
        Search::Word(word) if word.chars().any(char::is_alphanumeric) => {
            anywhere(source, BinaryOp::Has, word)
        }
        Search::Word(text) | Search::Phrase(text) => anywhere(source, BinaryOp::Contains, text),
        Search::And(parts) => balanced(
            BinaryOp::And,
            parts.iter().map(|part| to_kql(source, part)).collect(),
        ),
        Search::Or(parts) => balanced(
            BinaryOp::Or,
            parts.iter().map(|part| to_kql(source, part)).collect(),
        ),
        Search::Not(inner) => Expr::call("not", vec![to_kql(source, inner)]),
    }
}

/// Any of the texts that the API shows holds it.
fn anywhere(source: Source, op: BinaryOp, text: &str) -> Expr {
    let columns = source
        .columns()
        .into_iter()
        .filter(|column| column.odata_path.is_some());
    let texts = columns.filter_map(|column| match column.scalar_type {
        ScalarType::String => Some(Expr::name(column.name)),
        ScalarType::Dynamic if BAGS.contains(&column.name) => {
            Some(Expr::call("tostring", vec![Expr::name(column.name)]))
        }
        _ => None,
    });
    balanced(
        BinaryOp::Or,
        texts
            .map(|column| Expr::binary(op, column, Expr::string(text)))
            .collect(),
    )
}
