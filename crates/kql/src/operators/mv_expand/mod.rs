//! `mv-expand`: one row for each element of a list (`docs/semantics.md §18.1`).

pub(crate) mod rows;
mod value;

use std::collections::HashSet;
use std::sync::Arc;

use hindsight_kql_syntax::ast::{MvExpandColumn, MvExpandOperator, OperatorParameter, TypeOf};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use self::rows::{Expand, ExpandedList};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::operators::take::row_count;
use crate::plan::transform;
use crate::plan::{self, Output, field, free_name, hidden_name, parameter, pass};
use crate::relation::{Column, Relation, Scalar};
use crate::subtables::placeholders::list_unless_placeholder;
use crate::window;

impl TabularOperator for MvExpandOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Expands {
                limit: self.limit.as_ref(),
            },
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
    node: &MvExpandOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let expanded = expand(
        &node.columns,
        &node.parameters,
        node.limit.as_ref(),
        input,
        binder,
        span,
        false,
    )?;
    let (relation, outputs) = (expanded.relation, expanded.outputs);
    plan::project(relation, outputs, span)
}

/// The result of the expansion: the rows with internal fields, and the output columns.
pub(crate) struct Expanded {
    pub(crate) relation: Relation,
    pub(crate) outputs: Vec<Output>,
    /// The field with the row number of the input.
    pub(crate) row_field: String,
    /// The names of the element columns.
    pub(crate) element_names: Vec<String>,
}

/// One list with the name of its element column.
struct List {
    scalar: Scalar,
    kind: ScalarType,
    name: String,
}

/// Expands the lists of `columns`; `numbered` requests row numbers of the input across all rows.
pub(crate) fn expand(
    columns: &[MvExpandColumn],
    parameters: &[OperatorParameter],
    limit: Option<&hindsight_kql_syntax::ast::Expr>,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
    numbered: bool,
) -> BindResult<Expanded> {
    let mut lists = Vec::new();
    for column in columns {
        let mut list = bind_list(column, &input, &lists, binder)?;
        list.scalar.expr = list_unless_placeholder(list.scalar.expr, &input, span)?;
        lists.push(list);
    }
    let bags_as_pairs = match parameter(parameters, &["kind", "bagexpansion"]) {
        None => false,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "array" => true,
            "bag" => false,
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown kind '{other}'; the kinds are bag and array"),
                    expr.span,
                ));
            }
        },
    };
    let index = match parameter(parameters, &["with_itemindex"]) {
        Some(expr) => Some(binder.constant_word(expr)?),
        None => None,
    };
    let limit = match limit {
        Some(expr) => row_count(binder.constant_long(expr)?),
        None => usize::MAX,
    };
    let input = window::absorb(binder, input, span)?;
    let work = Expand {
        lists: lists
            .iter()
            .enumerate()
            .map(|(i, list)| ExpandedList {
                field: list_field(i),
                kind: list.kind,
            })
            .collect(),
        bags_as_pairs,
        limit,
        numbered,
    };
    let outputs = outputs(&input, &lists, index);
    let relation = expanded_rows(input, &lists, work, span)?;
    Ok(Expanded {
        relation,
        outputs,
        row_field: hidden_name("row"),
        element_names: lists.into_iter().map(|l| l.name).collect(),
    })
}

fn list_field(index: usize) -> String {
    hidden_name(&format!("list{index}"))
}

fn element_field(index: usize) -> String {
    hidden_name(&format!("element{index}"))
}

fn expanded_rows(
    input: Relation,
    lists: &[List],
    work: Expand,
    span: Span,
) -> BindResult<Relation> {
    let serialized = input.serialized;
    let mut fields: Vec<Output> = input.columns.iter().map(pass).collect();
    let mut columns: Vec<Column> = fields.iter().map(Output::column).collect();
    for (i, list) in lists.iter().enumerate() {
        let expr = list.scalar.expr.clone();
        fields.push(Output::scratch(list_field(i), ScalarType::Dynamic, expr));
        columns.push(Column::scratch(element_field(i), list.kind));
    }
    columns.push(Column::scratch(hidden_name("index"), ScalarType::Long));
    columns.push(Column::scratch(hidden_name("row"), ScalarType::Long));
    let input = input.project(fields, span)?;
    let mut relation = transform(Arc::new(work), input.plan, columns, serialized, span)?;
    // Only columns of the input are columns of the result; the output expressions read the other fields.
    relation.columns.truncate(input.columns.len() - lists.len());
    Ok(relation)
}

/// The output columns: an element column replaces its list column or is appended, the element index is last.
fn outputs(input: &Relation, lists: &[List], index: Option<String>) -> Vec<Output> {
    let mut outputs: Vec<Output> = plan::visible(input)
        .map(|c| pass(&c.under_its_name()))
        .collect();
    for (i, list) in lists.iter().enumerate() {
        let output = Output::visible(&list.name, list.kind, field(&element_field(i)));
        match outputs.iter_mut().find(|o| o.name == list.name) {
            Some(place) => *place = output,
            None => outputs.push(output),
        }
    }
    let index = index.map(|name| free_name(&name, |n| outputs.iter().any(|o| o.name == n)));
    if let Some(name) = &index {
        let number = field(&hidden_name("index"));
        outputs.push(Output::visible(name, ScalarType::Long, number));
    }
    outputs
}

fn bind_list(
    column: &MvExpandColumn,
    input: &Relation,
    before: &[List],
    binder: &mut dyn BindContext,
) -> BindResult<List> {
    let span = column.expr.expr.span;
    let scalar = binder.bind_scalar(&column.expr.expr, input)?;
    if scalar.kind != ScalarType::Dynamic {
        return Err(binder.error(
            Code::NotDynamic,
            "the expanded expression must be dynamic",
            span,
        ));
    }
    let kind = match &column.to {
        None => ScalarType::Dynamic,
        Some(TypeOf::Scalar(kind)) => *kind,
        Some(TypeOf::Row { .. }) => {
            return Err(binder.error(
                Code::Semantics,
                "a scalar type is expected after 'to'",
                span,
            ));
        }
    };
    let name = match column.expr.names.first() {
        Some(name) => name.text.clone(),
        None => only_column(&scalar, input).unwrap_or_else(|| {
            free_name("Column1", |n| {
                input.column(n).is_some() || before.iter().any(|l| l.name == n)
            })
        }),
    };
    if before.iter().any(|l| l.name == name) {
        return Err(binder.error(
            Code::DuplicateColumn,
            format!("duplicate column name '{name}'"),
            span,
        ));
    }
    Ok(List { scalar, kind, name })
}

/// The only column that an expression reads.
fn only_column(scalar: &Scalar, input: &Relation) -> Option<String> {
    let fields: HashSet<&str> = scalar
        .expr
        .column_refs()
        .into_iter()
        .map(|c| c.name.as_str())
        .collect();
    let mut fields = fields.into_iter();
    let (Some(only), None) = (fields.next(), fields.next()) else {
        return None;
    };
    input
        .columns
        .iter()
        .find(|c| c.field == only)
        .map(|c| c.name.clone())
}
