//! The pattern of `parse` as a regular expression.

use hindsight_kql_syntax::ast::{Expr, Name, ParseOperator, ParsePart};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::rows::{ParseMode, ParsedColumn};
use crate::context::BindContext;
use crate::error::BindResult;

/// A pattern under construction: a regular expression with a named group for each column.
pub(super) struct Pattern {
    mode: ParseMode,
    regex: String,
    columns: Vec<ParsedColumn>,
}

impl Pattern {
    /// Builds the regular expression of an operator's pattern, and its columns.
    pub(super) fn of(
        node: &ParseOperator,
        mode: ParseMode,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<(String, Vec<ParsedColumn>)> {
        let mut pattern = Pattern {
            mode,
            regex: String::new(),
            columns: Vec::new(),
        };
        if !matches!(node.pattern.first(), Some(ParsePart::Star)) {
            pattern.regex.push('^');
        }
        for (index, part) in node.pattern.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|i| node.pattern.get(i));
            let after = node.pattern.get(index + 1);
            match part {
                ParsePart::Star => pattern.star(before, after, binder)?,
                ParsePart::Literal(expr) => pattern.literal(expr, binder)?,
                ParsePart::Column { name, kind } => {
                    pattern.column(name, *kind, before, after, binder)?;
                }
            }
        }
        let ends = matches!(node.pattern.last(), Some(ParsePart::Literal(_)));
        if mode != ParseMode::Regex && ends {
            pattern.regex.push('$');
        }
        if pattern.columns.is_empty() {
            Err(binder.error(Code::Syntax, "the pattern has no column", span))
        } else {
            Ok((pattern.regex, pattern.columns))
        }
    }

    /// `*`: any text at the start and between parts; at the end it only permits trailing text.
    fn star(
        &mut self,
        before: Option<&ParsePart>,
        after: Option<&ParsePart>,
        binder: &dyn BindContext,
    ) -> BindResult<()> {
        if let Some(ParsePart::Column {
            kind: None | Some(ScalarType::String),
            name,
        }) = before
        {
            let message = "'*' after a string column is ambiguous";
            return Err(binder.error(Code::ParsePattern, message, name.span()));
        }
        let any = match self.mode {
            ParseMode::Regex => ".*?",
            ParseMode::Simple | ParseMode::Relaxed => r"[\s\S]*?",
        };
        match (before, after) {
            (None, _) => {
                self.regex.push('^');
                self.regex.push_str(any);
            }
            (Some(_), Some(_)) => self.regex.push_str(any),
            (Some(_), None) => {}
        }
        Ok(())
    }

    /// A literal text, or a part of a regular expression.
    fn literal(&mut self, expr: &Expr, binder: &mut dyn BindContext) -> BindResult<()> {
        let text = binder.constant_string(expr)?;
        if text.is_empty() {
            let message = "the pattern contains an empty string literal";
            return Err(binder.error(Code::ParsePattern, message, expr.span));
        }
        match self.mode {
            ParseMode::Regex => self.regex.push_str(&format!("(?:{text})")),
            ParseMode::Simple | ParseMode::Relaxed => self.regex.push_str(&regex::escape(&text)),
        }
        Ok(())
    }

    /// A column. Its group is named, so that groups inside literals do not change its position.
    fn column(
        &mut self,
        name: &Name,
        kind: Option<ScalarType>,
        before: Option<&ParsePart>,
        after: Option<&ParsePart>,
        binder: &dyn BindContext,
    ) -> BindResult<()> {
        if matches!(before, Some(ParsePart::Column { .. })) {
            let message = "a column name must follow a string literal";
            return Err(binder.error(Code::Syntax, message, name.span()));
        }
        if self.columns.iter().any(|c| c.name == name.text) {
            let message = format!("duplicate column '{}'", name.text);
            return Err(binder.error(Code::DuplicateColumn, message, name.span()));
        }
        let kind = kind.unwrap_or(ScalarType::String);
        let group = format!("c{}", self.columns.len());
        let inside = inside(kind, self.mode, after);
        self.regex.push_str(&format!("(?P<{group}>{inside})"));
        self.columns.push(ParsedColumn {
            name: name.text.clone(),
            kind,
            group,
        });
        Ok(())
    }
}

/// The expression of a column's group.
fn inside(kind: ScalarType, mode: ParseMode, after: Option<&ParsePart>) -> &'static str {
    match (mode, after) {
        (ParseMode::Regex, _) if kind == ScalarType::String => ".*",
        (ParseMode::Regex, _) => shape(kind),
        (_, Some(ParsePart::Star)) => shape(kind),
        (_, None) => r"[\s\S]*",
        _ => r"[\s\S]*?",
    }
}

/// The expression that matches the text of a type.
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
