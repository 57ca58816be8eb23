//! `find`: rows of several tables that match a predicate (`docs/semantics.md §23.5`).
//!
//! The predicate is bound against each table separately, so a column may have a different type in each table.

use hindsight_kql_syntax::ast::{
    Expr, ExprKind, FindOperator, FindProjection, Name, SEARCH_COLUMN_TERM,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{Dynamic, ScalarType, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::search::search_predicate;
use super::union::{bind_legs, matching_tables};
use crate::context::{BindContext, Bound, unknown_column};
use crate::convert::convert;
use crate::error::BindResult;
use crate::functions::bag::pack_columns;
use crate::plan::union::{Leg, union_plan};
use crate::plan::{Output, missing, parameter, pass, visible};
use crate::relation::{Column, Relation, Scalar};

/// The column with all properties that are not output columns.
const PACK: &str = "pack_";

impl TabularOperator for FindOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
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
    node: &FindOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    if !input.is_unit() {
        return Err(binder.error(
            Code::Semantics,
            "the operator must be the first of its pipeline",
            span,
        ));
    }
    let source = match parameter(&node.parameters, &["withsource", "with_source"]) {
        Some(expr) => binder.constant_word(expr)?,
        None => "source_".to_owned(),
    };
    let legs = legs(node, binder, span)?;
    let shown = match &node.projection {
        FindProjection::Smart => smart(&node.predicate, &legs),
        FindProjection::Columns { columns, .. } => written(columns, &legs, binder)?,
    };
    let packs = match &node.projection {
        FindProjection::Smart => true,
        FindProjection::Columns { pack, .. } => *pack,
    };
    let is_rest = |c: &Column| !shown.iter().any(|s| s.name == c.name);
    // An empty bag column appears only if the query requests it.
    let packs = packs
        && (node.projection != FindProjection::Smart
            || legs
                .iter()
                .any(|leg| leg.relation.columns.iter().any(is_rest)));
    let mut found = Vec::with_capacity(legs.len());
    for leg in &legs {
        let rows = matching(&node.predicate, leg, &legs, binder, span)?;
        let mut outputs: Vec<Output> = shown.iter().map(|column| column.of(leg)).collect();
        if packs {
            let rest: Vec<&Column> = leg.relation.columns.iter().filter(|c| is_rest(c)).collect();
            let bag = if rest.is_empty() {
                Scalar::constant(Value::Dynamic(Dynamic::Bag(Vec::new()).encode()))
            } else {
                pack_columns(rest.iter().map(|c| (c.name.clone(), c.scalar())), false)
            };
            outputs.push(Output::visible(PACK, ScalarType::Dynamic, bag.expr));
        }
        outputs.retain(|o| !node.away.iter().any(|a| a.as_name() == Some(&o.name)));
        found.push(Leg {
            label: leg.label.clone(),
            relation: rows.project(outputs, span)?,
        });
    }
    union_plan(found, Some(&source), false, span)
}

/// The tables that have a column of the predicate; all tables if the predicate tests any column.
fn legs(node: &FindOperator, binder: &mut dyn BindContext, span: Span) -> BindResult<Vec<Leg>> {
    let tables: Vec<Expr> = if !node.tables.is_empty() {
        node.tables.clone()
    } else {
        matching_tables("*", binder, span)?
            .into_iter()
            .map(|name| Expr::new(ExprKind::Name(Name::new(name, span)), span))
            .collect()
    };
    let mut legs = bind_legs(&tables, 0, "union_arg", false, binder)?;
    let mut names = Vec::new();
    let any_column = read_names(&node.predicate, true, &mut names);
    let knows = |leg: &Leg| names.iter().any(|name| leg.relation.column(name).is_some());
    if !any_column && legs.iter().any(knows) {
        legs.retain(knows);
    }
    if legs.is_empty() {
        return Err(binder.error(Code::UnresolvedName, "there is no table to search", span));
    }
    let finished = legs.into_iter().map(|leg| {
        let relation = leg.relation.finish(span)?;
        Ok(Leg { relation, ..leg })
    });
    finished.collect()
}

/// Adds the names that an expression reads, and returns whether it also tests any column. `term`: a text at this position is
/// a search term.
fn read_names(expr: &Expr, term: bool, names: &mut Vec<String>) -> bool {
    let mut both = |first: &Expr, second: &Expr, term: bool| {
        let any = read_names(first, term, names);
        read_names(second, term, names) || any
    };
    match &expr.kind {
        ExprKind::Literal(_) => term,
        ExprKind::AnyColumn { .. } => true,
        ExprKind::Name(name) => {
            if !names.contains(&name.text) {
                names.push(name.text.clone());
            }
            false
        }
        ExprKind::Parenthesised(inner) => read_names(inner, term, names),
        ExprKind::Unary { value, .. } => read_names(value, false, names),
        ExprKind::Binary { op, left, right } => {
            use hindsight_kql_syntax::ast::BinaryOp::{And, Or};
            both(left, right, term && matches!(op, And | Or))
        }
        ExprKind::Index { value, index } => both(value, index, false),
        ExprKind::Member { value, .. } => read_names(value, false, names),
        ExprKind::Between {
            value, low, high, ..
        } => {
            both(low, high, false);
            read_names(value, false, names)
        }
        ExprKind::InList { value, list, .. } => {
            for item in list {
                read_names(item, false, names);
            }
            read_names(value, false, names)
        }
        ExprKind::Call(call) => {
            let negation = call.function.text == "not";
            let count = if call.function.text == SEARCH_COLUMN_TERM {
                1
            } else {
                call.arguments.len()
            };
            let mut any = false;
            for argument in call.arguments.iter().take(count) {
                any |= read_names(&argument.value, term && negation, names);
            }
            any
        }
        _ => false,
    }
}

/// An output column.
struct Shown {
    /// The column's name in the tables.
    name: String,
    /// The column's name in the result.
    shown: String,
    /// The explicit type; values are converted to it.
    written: Option<ScalarType>,
    /// The type for tables that lack the column.
    kind: ScalarType,
}

impl Shown {
    fn of(&self, leg: &Leg) -> Output {
        let (kind, expr) = match (leg.relation.column(&self.name), self.written) {
            (Some(own), None) => (own.kind, own.expr()),
            (Some(own), Some(kind)) => (kind, convert(own.scalar(), kind).expr),
            (None, _) => (self.kind, missing(self.kind)),
        };
        Output::visible(&self.shown, kind, expr)
    }
}

/// The distinct types of a column, in the order of the tables.
fn kinds(name: &str, legs: &[Leg]) -> Vec<ScalarType> {
    let mut kinds = Vec::new();
    for column in legs.iter().filter_map(|leg| leg.relation.column(name)) {
        if !kinds.contains(&column.kind) {
            kinds.push(column.kind);
        }
    }
    kinds
}

/// `project-smart`: the columns that all tables have, then the remaining columns of the predicate.
fn smart(predicate: &Expr, legs: &[Leg]) -> Vec<Shown> {
    let first = legs.first().map_or(&[][..], |leg| &leg.relation.columns);
    let common = |name: &str| legs.iter().all(|leg| leg.relation.column(name).is_some());
    let mut names: Vec<String> = first
        .iter()
        .filter(|c| common(&c.name))
        .map(|c| c.name.clone())
        .collect();
    let mut read = Vec::new();
    read_names(predicate, true, &mut read);
    read.retain(|name| !names.contains(name));
    names.extend(read);
    names
        .into_iter()
        .filter_map(|name| {
            Some(Shown {
                kind: kinds(&name, legs).first().copied()?,
                shown: name.clone(),
                written: None,
                name,
            })
        })
        .collect()
}

/// `project a, b:long`: a column of several types requires an explicit type, which becomes part of its name.
fn written(
    columns: &[(Expr, Option<ScalarType>)],
    legs: &[Leg],
    binder: &dyn BindContext,
) -> BindResult<Vec<Shown>> {
    let mut all: Vec<Shown> = Vec::new();
    for (column, kind) in columns {
        let Some(name) = column.as_name() else {
            return Err(binder.error(Code::Semantics, "a column name is expected", column.span));
        };
        let kinds = kinds(name, legs);
        let shown = match (kinds.as_slice(), kind) {
            ([], None) => {
                let known = legs.iter().flat_map(|leg| visible(&leg.relation));
                let message = unknown_column(name, known.map(|column| column.name.as_str()));
                return Err(binder.error(Code::UnresolvedName, message, column.span));
            }
            ([_, _, ..], None) => {
                let message = format!(
                    "the column '{name}' has several types; write its type as '{name}:type'"
                );
                return Err(binder.error(Code::Semantics, message, column.span));
            }
            ([_, _, ..], Some(kind)) => format!("{name}_{kind}"),
            _ => name.to_owned(),
        };
        if all.iter().any(|s| s.shown == shown) {
            let message = format!("duplicate column name '{shown}'");
            return Err(binder.error(Code::DuplicateColumn, message, column.span));
        }
        all.push(Shown {
            name: name.to_owned(),
            shown,
            written: *kind,
            kind: kind
                .or(kinds.first().copied())
                .unwrap_or(ScalarType::String),
        });
    }
    Ok(all)
}

/// The rows of the table that match the predicate. A column that the predicate reads and the table lacks is null.
fn matching(
    predicate: &Expr,
    leg: &Leg,
    legs: &[Leg],
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut names = Vec::new();
    read_names(predicate, true, &mut names);
    let mut columns: Vec<Output> = leg.relation.columns.iter().map(pass).collect();
    for name in names {
        if leg.relation.column(&name).is_none()
            && let Some(kind) = kinds(&name, legs).first()
        {
            columns.push(Output::visible(name, *kind, missing(*kind)));
        }
    }
    let rows = leg.relation.clone().project(columns, span)?;
    let predicate = search_predicate(predicate, &rows);
    let predicate = binder.bind_predicate(&predicate, &rows)?;
    rows.filter(predicate, span)
}
