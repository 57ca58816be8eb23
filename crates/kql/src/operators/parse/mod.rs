//! `parse` and `parse-where`: extract columns from a text by a pattern (`docs/semantics.md §20.1, §20.2`).

mod pattern;
pub(crate) mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::ast::ParseOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use self::pattern::Pattern;
use self::rows::{ParseMode, ParseRows};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::convert::convert;
use crate::error::BindResult;
use crate::plan::transform;
use crate::plan::{Output, field, hidden_name, parameter, pass};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::placeholders::or_placeholder;
use crate::window;

impl TabularOperator for ParseOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: if self.filtering {
                RowEffect::Drops
            } else {
                RowEffect::Keeps
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
    node: &ParseOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mode = mode(node, binder)?;
    let flags = flags(node, mode, binder)?;
    let source = binder.bind_scalar(&node.source, &input)?;
    let source = convert(source, ScalarType::String);
    let (pattern, columns) = Pattern::of(node, mode, binder, span)?;
    let regex = format!("{flags}{pattern}");
    let work = ParseRows::new(hidden_name("text"), &regex, mode, columns).map_err(|e| {
        binder.error(
            Code::ParsePattern,
            format!("the pattern is not a regular expression: {e}"),
            span,
        )
    })?;
    let input = window::absorb(binder, input, span)?;
    let relation = parsed(input, source.expr, work, span)?;
    if node.filtering {
        let matched = or_placeholder(field(&hidden_name("matched")), &relation);
        Ok(relation.filter(matched, span)?)
    } else {
        Ok(relation)
    }
    .and_then(|relation| {
        let columns = relation.columns.iter().map(pass).collect();
        relation.project(columns, span)
    })
}

/// The columns of `input` with the parsed ones; the field `matched` is true if the row matches.
fn parsed(
    input: Relation,
    text: datafusion::logical_expr::Expr,
    work: ParseRows,
    span: Span,
) -> BindResult<Relation> {
    let serialized = input.serialized;
    let own = input.columns.len();
    let mut fields: Vec<Output> = input.columns.iter().map(pass).collect();
    fields.push(Output::scratch(
        hidden_name("text"),
        ScalarType::String,
        text,
    ));
    let mut columns: Vec<Column> = fields.iter().map(Output::column).collect();
    let parsed: Vec<(String, ScalarType)> = work
        .columns()
        .iter()
        .map(|c| (c.name.clone(), c.kind))
        .collect();
    columns.extend(
        parsed
            .iter()
            .map(|(name, kind)| Column::scratch(hidden_name(&format!("parsed.{name}")), *kind)),
    );
    columns.push(Column::scratch(hidden_name("matched"), ScalarType::Bool));
    let input = input.project(fields, span)?;
    let mut relation = transform(Arc::new(work), input.plan, columns, serialized, span)?;
    relation.columns.truncate(own);
    let mut new: Vec<Output> = parsed
        .into_iter()
        .map(|(name, kind)| {
            let field = field(&hidden_name(&format!("parsed.{name}")));
            Output::visible(name, kind, field)
        })
        .collect();
    new.push(Output::scratch(
        hidden_name("matched"),
        ScalarType::Bool,
        field(&hidden_name("matched")),
    ));
    with_matched(relation, new, span)
}

/// Adds the parsed columns and keeps the field `matched` out of the columns.
fn with_matched(relation: Relation, new: Vec<Output>, span: Span) -> BindResult<Relation> {
    let mut outputs: Vec<Output> = relation.columns.iter().map(pass).collect();
    for column in new {
        match outputs.iter_mut().find(|o| o.name == column.name) {
            Some(place) => *place = column,
            None => outputs.push(column),
        }
    }
    let mut relation = relation.project(outputs, span)?;
    relation.columns.retain(|c| c.role != ColumnRole::Scratch);
    Ok(relation)
}

fn mode(node: &ParseOperator, binder: &mut dyn BindContext) -> BindResult<ParseMode> {
    let Some(expr) = parameter(&node.parameters, &["kind"]) else {
        return Ok(ParseMode::Simple);
    };
    match binder.constant_word(expr)?.as_str() {
        "simple" => Ok(ParseMode::Simple),
        "regex" => Ok(ParseMode::Regex),
        "relaxed" if node.filtering => Err(binder.error(
            Code::ParseWhereKind,
            "kind=relaxed is not allowed here",
            expr.span,
        )),
        "relaxed" => Ok(ParseMode::Relaxed),
        other => Err(binder.error(
            Code::Semantics,
            format!("unknown kind '{other}'; the kinds are simple, regex and relaxed"),
            expr.span,
        )),
    }
}

/// The flags as an inline group; only a regex has flags.
fn flags(
    node: &ParseOperator,
    mode: ParseMode,
    binder: &mut dyn BindContext,
) -> BindResult<String> {
    let Some(expr) = parameter(&node.parameters, &["flags"]) else {
        return Ok(String::new());
    };
    if mode != ParseMode::Regex {
        return Err(binder.error(
            Code::ParseFlagsWithoutRegex,
            "flags need kind=regex",
            expr.span,
        ));
    }
    let flags = binder.constant_word(expr)?;
    if flags.chars().all(|c| "ismUx".contains(c)) && !flags.is_empty() {
        Ok(format!("(?{flags})"))
    } else {
        Err(binder.error(
            Code::ParseFlag,
            format!("unknown flags '{flags}'; the flags are i, s, m, U and x"),
            expr.span,
        ))
    }
}
