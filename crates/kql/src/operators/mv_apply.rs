//! `mv-apply`: a pipeline over the elements of each row's list (`docs/semantics.md §18.2`).
//!
//! Rows are numbered and expanded. The pipeline runs over all elements at once, with the row number as the subtable key. The
//! row's own columns are carried with its number, so that columns that the pipeline drops can be restored.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::MvApplyOperator;
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::mv_expand::expand;
use super::rereads_rows;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, Output, carried_name, field, groups, hidden_name, pass, visible};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::pipeline::run_in_subtables;

impl TabularOperator for MvApplyOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Applies {
                operators: &self.subquery,
                limit: self.limit.as_ref(),
            },
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: rereads_rows(&self.subquery),
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &MvApplyOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    if node.context_id.is_some() {
        return Err(binder.unsupported("'mv-apply' with an id", span));
    }
    let bound = input.map(|rows| rows.finish(span))?;
    let input = bound.relation.clone();
    let serialized = input.serialized;
    // Inside another `mv-apply` or a `partition` the outer subtables have their own keys.
    let outer = groups(&input);
    let depth = outer.len();
    let before: Vec<Column> = visible(&input).cloned().collect();
    let expanded = expand(
        &node.columns,
        &node.parameters,
        node.limit.as_ref(),
        input,
        binder,
        span,
        true,
    )?;
    // The row's own columns are carried with its number, so that dropped columns are restored without a join. They are
    // functionally dependent on the number.
    let mut outputs: Vec<Output> = outer.iter().map(|c| pass(&c.under_its_name())).collect();
    let number = hidden_name(&format!("apply{depth}"));
    outputs.push(Output {
        role: ColumnRole::SubtableKey,
        ..Output::visible(number, ScalarType::Long, field(&expanded.row_field))
    });
    let carried: Vec<&Column> = before
        .iter()
        .filter(|c| !expanded.element_names.contains(&c.name))
        .collect();
    outputs.extend(carried.iter().map(|c| Output {
        role: ColumnRole::Carried,
        ..Output::visible(carried_name(depth, &c.name), c.kind, field(&c.name))
    }));
    outputs.extend(expanded.outputs);
    let rows = expanded.relation.project(outputs, span)?;
    let bound = bound.map(|_| Ok(rows))?;
    let bound = run_in_subtables(&node.subquery, bound, binder, span)?;
    let result = bound.relation.clone();
    let mut columns: Vec<Output> = groups(&result)
        .iter()
        .filter(|c| outer.iter().any(|o| o.name == c.name))
        .map(pass)
        .collect();
    columns.extend(before.iter().filter_map(|c| match result.column(&c.name) {
        // A column that the pipeline outputs replaces the input's column of that name.
        Some(own) => Some(pass(own)),
        // Element columns that the pipeline drops are not restored.
        None if expanded.element_names.contains(&c.name) => None,
        None => Some(match result.column(&carried_name(depth, &c.name)) {
            Some(carried) => Output::visible(&c.name, c.kind, carried.expr()),
            None => Output::visible(&c.name, c.kind, plan::missing(c.kind)),
        }),
    }));
    let own: Vec<Output> = visible(&result)
        .filter(|c| !before.iter().any(|b| b.name == c.name))
        .map(pass)
        .collect();
    columns.extend(own);
    let result = result.project(columns, span)?;
    bound.map(|_| {
        Ok(Relation {
            serialized: serialized && result.serialized,
            ..result
        })
    })
}
