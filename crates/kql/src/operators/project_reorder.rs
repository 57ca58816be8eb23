//! `project-reorder`: the listed columns first, the rest after them (`docs/semantics.md §15.3`).

use std::cmp::Ordering;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{ProjectReorderOperator, ReorderOrder};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, columns_matching, pass, visible};
use crate::relation::{Column, Relation};

impl TabularOperator for ProjectReorderOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &ProjectReorderOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut order: Vec<Column> = Vec::new();
    for item in &node.columns {
        let mut matches = columns_matching(&item.column, &input, binder)?;
        match item.order {
            None => {}
            Some(ReorderOrder::Asc) => matches.sort_by(|a, b| a.name.cmp(&b.name)),
            Some(ReorderOrder::Desc) => matches.sort_by(|a, b| b.name.cmp(&a.name)),
            Some(ReorderOrder::GrannyAsc) => matches.sort_by(|a, b| granny(&a.name, &b.name)),
            Some(ReorderOrder::GrannyDesc) => matches.sort_by(|a, b| granny(&b.name, &a.name)),
        }
        for column in matches {
            if !order.contains(&column) {
                order.push(column);
            }
        }
    }
    let rest = visible(&input).filter(|c| !order.contains(c));
    let columns = order.iter().chain(rest).map(pass).collect();
    plan::project(input, columns, span)
}

/// Compares names with runs of digits as numbers: `a9` is before `a20`.
fn granny(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left, right);
    loop {
        let (a, b) = (run(left), run(right));
        let ordering = match (number(a), number(b)) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => a.cmp(b),
        };
        if ordering != Ordering::Equal || a.is_empty() {
            return ordering;
        }
        left = left.get(a.len()..).unwrap_or("");
        right = right.get(b.len()..).unwrap_or("");
    }
}

/// The longest prefix of `text` that consists only of digits, or only of other characters.
fn run(text: &str) -> &str {
    let digit = |c: char| c.is_ascii_digit();
    let Some(first) = text.chars().next() else {
        return "";
    };
    let end = text
        .find(|c| digit(c) != digit(first))
        .unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// A run of digits without leading zeros, ordered by length and then by text.
fn number(run: &str) -> Option<(usize, &str)> {
    let digits = run.trim_start_matches('0');
    run.starts_with(|c: char| c.is_ascii_digit())
        .then_some((digits.len(), digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: &str, right: &str, expected: Ordering) {
        assert_eq!(granny(left, right), expected, "{left} against {right}");
    }

    #[test]
    fn digits_compare_as_numbers() {
        check("a9", "a20", Ordering::Less);
        check("a20", "a20", Ordering::Equal);
        check("a020b", "a20c", Ordering::Less);
        check("b1", "a2", Ordering::Greater);
        check("a", "a1", Ordering::Less);
    }
}
