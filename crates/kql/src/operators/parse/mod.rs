//! `parse` and `parse-where`: columns cut out of a text by a pattern (`semantics.md §20.1, §20.2`).

mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{ParseOperator, ParsePart};
use hindsight_kql_types::ScalarType;

use self::rows::{ParseMode, ParseRows, ParsedColumn};
use super::OfNoRows;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::convert::convert;
use crate::error::BindResult;
use crate::exec::transform;
use crate::plan::{Output, field, hidden_name, parameter, pass};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::placeholders::or_placeholder;
use crate::window;

impl TabularOperator for ParseOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            rows: match self.filtering {
                true => RowEffect::Drops,
                false => RowEffect::Keeps,
            },
            of_no_rows: OfNoRows::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
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
    let (pattern, columns) = pattern(node, mode, binder, span)?;
    let regex = format!("{flags}{pattern}");
    let work = ParseRows::new(hidden_name("text"), &regex, mode, columns).map_err(|e| {
        binder.error(
            "SEM0476",
            format!("the pattern is not a regular expression: {e}"),
            span,
        )
    })?;
    let input = window::absorb(binder, input, span)?;
    let relation = parsed(input, source.expr, work, span)?;
    match node.filtering {
        true => {
            let matched = or_placeholder(field(&hidden_name("matched")), &relation);
            Ok(relation.filter(matched, span)?)
        }
        false => Ok(relation),
    }
    .and_then(|relation| {
        let columns = relation.columns.iter().map(pass).collect();
        relation.project(columns, span)
    })
}

/// The columns of `input` with the parsed ones; the field `matched` tells whether the row fits.
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

/// Adds the parsed columns and keeps the field `matched` without naming it a column.
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
        "relaxed" if node.filtering => {
            Err(binder.error("SEM0477", "kind=relaxed is not allowed here", expr.span))
        }
        "relaxed" => Ok(ParseMode::Relaxed),
        other => Err(binder.error("SEM0001", format!("unknown kind '{other}'"), expr.span)),
    }
}

/// The flags as an inline group, only of a regex.
fn flags(
    node: &ParseOperator,
    mode: ParseMode,
    binder: &mut dyn BindContext,
) -> BindResult<String> {
    let Some(expr) = parameter(&node.parameters, &["flags"]) else {
        return Ok(String::new());
    };
    if mode != ParseMode::Regex {
        return Err(binder.error("SEM0472", "flags need kind=regex", expr.span));
    }
    let flags = binder.constant_word(expr)?;
    match flags.chars().all(|c| "ismUx".contains(c)) && !flags.is_empty() {
        true => Ok(format!("(?{flags})")),
        false => Err(binder.error("SEM0473", format!("unknown flags '{flags}'"), expr.span)),
    }
}

/// The pattern as a regular expression with a group for each column.
fn pattern(
    node: &ParseOperator,
    mode: ParseMode,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<(String, Vec<ParsedColumn>)> {
    let any = if mode == ParseMode::Regex {
        ".*?"
    } else {
        r"[\s\S]*?"
    };
    let mut regex = String::new();
    if !matches!(node.pattern.first(), Some(ParsePart::Star)) {
        regex.push('^');
    }
    let mut columns: Vec<ParsedColumn> = Vec::new();
    for (index, part) in node.pattern.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| node.pattern.get(i));
        let after = node.pattern.get(index + 1);
        match part {
            ParsePart::Star => {
                if let Some(ParsePart::Column {
                    kind: None | Some(ScalarType::String),
                    name,
                }) = before
                {
                    return Err(binder.error(
                        "SEM0476",
                        "'*' after a string column is ambiguous",
                        name.span(),
                    ));
                }
                if index > 0 && after.is_some() {
                    regex.push_str(any);
                } else if index == 0 {
                    regex.push('^');
                    regex.push_str(any);
                }
            }
            ParsePart::Literal(expr) => {
                let text = binder.constant_string(expr)?;
                if text.is_empty() {
                    return Err(binder.error(
                        "SEM0476",
                        "a literal of the pattern is empty",
                        expr.span,
                    ));
                }
                match mode {
                    ParseMode::Regex => {
                        regex.push_str("(?:");
                        regex.push_str(&text);
                        regex.push(')');
                    }
                    _ => regex.push_str(&regex::escape(&text)),
                }
            }
            ParsePart::Column { name, kind } => {
                if matches!(before, Some(ParsePart::Column { .. })) {
                    return Err(binder.error(
                        "SYN0002",
                        "a column name must follow a string literal",
                        name.span(),
                    ));
                }
                if columns.iter().any(|c| c.name == name.text) {
                    return Err(binder.error(
                        "SEM0034",
                        format!("duplicate column '{}'", name.text),
                        name.span(),
                    ));
                }
                let kind = kind.unwrap_or(ScalarType::String);
                regex.push_str(&group(kind, mode, after));
                columns.push(ParsedColumn {
                    name: name.text.clone(),
                    kind,
                    group: format!("c{}", columns.len()),
                });
                // Groups are named so that groups inside literals do not shift them.
                let group = format!("(?P<c{}>", columns.len() - 1);
                if let Some(at) = regex.rfind("(?P<>") {
                    regex.replace_range(at..at + 5, &group);
                }
            }
        }
    }
    if mode != ParseMode::Regex && matches!(node.pattern.last(), Some(ParsePart::Literal(_))) {
        regex.push('$');
    }
    match columns.is_empty() {
        true => Err(binder.error("SYN0002", "the pattern has no column", span)),
        false => Ok((regex, columns)),
    }
}

/// The group of a column; its name is filled in by the caller.
fn group(kind: ScalarType, mode: ParseMode, after: Option<&ParsePart>) -> String {
    let inside = match (mode, after) {
        (ParseMode::Regex, _) if kind == ScalarType::String => ".*",
        (ParseMode::Regex, _) => shape(kind),
        (_, Some(ParsePart::Star)) => shape(kind),
        (_, None) => r"[\s\S]*",
        _ => r"[\s\S]*?",
    };
    format!("(?P<>{inside})")
}

/// What a text of a type looks like.
fn shape(kind: ScalarType) -> &'static str {
    match kind {
        ScalarType::Int | ScalarType::Long => r"[+-]?\d+",
        ScalarType::Real | ScalarType::Decimal => r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?",
        ScalarType::Bool => "(?i:true|false)",
        ScalarType::Guid => r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}",
        ScalarType::TimeSpan => r"[+-]?(?:\d+\.)?\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d+)?)?",
        ScalarType::DateTime => r"\d[\dT:./+Z -]*(?:AM|PM|am|pm)?",
        ScalarType::String | ScalarType::Dynamic => ".*",
    }
}
