//! `reduce`: groups similar texts into patterns (`docs/semantics.md §21`).
//!
//! The cloud service learns its patterns from log lines after R. Vaarandi, "A Data Clustering Algorithm for Mining Patterns
//! From Event Logs" (2003), and does not document the details. [`crate::operators::reduce::clusters`] documents the algorithm
//! of this implementation. Its groups may differ from those of the cloud in detail. They are the same for the same rows in
//! any order.

mod clusters;
mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::lit;
use hindsight_kql_syntax::ast::{OperatorParameter, ReduceOperator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use self::clusters::Rule;
use self::rows::{ReduceRows, Shown};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::by_group;
use crate::plan::transform;
use crate::plan::{self, Output, free_name, groups, hidden_name, parameter, pass};
use crate::relation::{Column, Relation};
use crate::window;

/// The default `threshold`: the share of the rows that a word and a pattern require.
const THRESHOLD: f64 = 0.1;

impl TabularOperator for ReduceOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAlone,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &ReduceOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let keeps_rows = keeps_rows(&node.parameters, binder)?;
    let rule = rule(&node.properties, binder)?;
    let text = binder.bind_scalar(&node.by.expr, &input)?;
    if text.kind != ScalarType::String {
        let message = format!("the expression is {} and must be string", text.kind);
        return Err(binder.error(Code::Semantics, message, node.by.expr.span));
    }
    let input = window::absorb(binder, input, span)?;
    let text = Output::scratch(hidden_name("text"), ScalarType::String, text.expr);
    if keeps_rows {
        with_rows(rule, text, input, span)
    } else {
        patterns(rule, text, input, span)
    }
}

/// One row for each pattern. Equal texts are counted first, so that only distinct texts are in memory.
fn patterns(rule: Rule, text: Output, input: Relation, span: Span) -> BindResult<Relation> {
    let groups = groups(&input);
    let mut keys: Vec<Output> = groups.iter().map(pass).collect();
    keys.push(text.clone());
    let count = Output::scratch(
        hidden_name("weight"),
        ScalarType::Long,
        count_udaf().call(vec![lit(1_i64)]),
    );
    let counted = plan::aggregate(input, keys, vec![count.clone()], span)?;
    let work = ReduceRows {
        rule,
        text: text.name,
        shown: Shown::Patterns {
            weight: count.name,
            groups: groups.iter().map(|c| c.name.clone()).collect(),
        },
    };
    let mut columns: Vec<Column> = groups.iter().map(Column::under_its_name).collect();
    columns.extend(own_columns(|_| false).map(Column::from));
    let work = by_group(Arc::new(work), &groups);
    transform(work, counted.plan, columns, false, span)
}

/// `kind=source`: every row with the columns of its pattern.
fn with_rows(rule: Rule, text: Output, input: Relation, span: Span) -> BindResult<Relation> {
    let before = input.columns.clone();
    let mut columns: Vec<Column> = before.iter().map(Column::under_its_name).collect();
    let own = own_columns(|name| before.iter().any(|c| c.name == name));
    columns.extend(own.map(Column::from));
    let work = ReduceRows {
        rule,
        text: text.name.clone(),
        shown: Shown::Rows,
    };
    let serialized = input.serialized;
    let mut outputs: Vec<Output> = before.iter().map(pass).collect();
    outputs.push(text);
    let input = input.project(outputs, span)?;
    let work = by_group(Arc::new(work), &before);
    transform(work, input.plan, columns, serialized, span)
}

/// The columns that the operator adds.
fn own_columns(taken: impl Fn(&str) -> bool) -> [(String, ScalarType); 3] {
    [
        (free_name("Pattern", &taken), ScalarType::String),
        (free_name("Count", &taken), ScalarType::Long),
        (free_name("Representative", &taken), ScalarType::String),
    ]
}

/// Whether `kind=source` is set, the only kind.
fn keeps_rows(parameters: &[OperatorParameter], binder: &mut dyn BindContext) -> BindResult<bool> {
    let Some(kind) = parameter(parameters, &["kind"]) else {
        return Ok(false);
    };
    match binder.constant_word(kind)?.as_str() {
        "source" => Ok(true),
        other => {
            let message = format!("unknown kind '{other}'; the only kind is 'source'");
            Err(binder.error(Code::Semantics, message, kind.span))
        }
    }
}

/// The parameters after `with`.
fn rule(properties: &[OperatorParameter], binder: &mut dyn BindContext) -> BindResult<Rule> {
    let mut rule = Rule {
        threshold: THRESHOLD,
        separators: BTreeSet::new(),
    };
    for (index, property) in properties.iter().enumerate() {
        let name = property.name.text.as_str();
        if properties.iter().take(index).any(|p| p.name.text == name) {
            let message = format!("the property '{name}' is given twice");
            return Err(binder.error(Code::Semantics, message, property.name.span()));
        }
        match name {
            "threshold" => rule.threshold = threshold(property, binder)?,
            "characters" => {
                let characters = binder.constant_string(&property.value)?;
                rule.separators = characters.chars().collect();
            }
            _ => {
                let message = format!(
                    "unknown property '{name}'; the properties are threshold and characters"
                );
                return Err(binder.error(Code::Semantics, message, property.name.span()));
            }
        }
    }
    Ok(rule)
}

fn threshold(property: &OperatorParameter, binder: &mut dyn BindContext) -> BindResult<f64> {
    let value = binder.bind_constant(&property.value)?;
    let Value::Real(share) = value.convert(ScalarType::Real) else {
        let message = "'threshold' must be a number";
        return Err(binder.error(Code::Semantics, message, property.value.span));
    };
    if value.kind().is_number() && share > 0.0 && share <= 1.0 {
        Ok(share)
    } else {
        let message = "'threshold' must be a number above 0 and at most 1";
        Err(binder.error(Code::Semantics, message, property.value.span))
    }
}
