//! The row work of `parse`: matches one regular expression against each text.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::{ScalarType, Value};
use regex::Regex;

use crate::plan::array_of;
use crate::regular_expression::{IllFormed, compile};
use crate::transform::{
    MAX_BATCH_BYTES, Reads, Transform, TransformMessage, TransformState, message,
};
use crate::work::CancellationToken;

/// The `kind=` of `parse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseMode {
    /// A column that does not convert makes the whole row null.
    Simple,
    /// Each column converts independently.
    Relaxed,
    /// Literals are regular expressions.
    Regex,
}

/// A column and its group of the expression.
#[derive(Debug, Clone)]
pub(crate) struct ParsedColumn {
    pub(crate) name: String,
    pub(crate) kind: ScalarType,
    pub(crate) group: String,
}

/// Adds a field for each column, then a flag that is true if the row matches and all columns convert.
#[derive(Debug, Clone)]
pub(crate) struct ParseRows {
    text: String,
    /// The text of the expression.
    pattern: String,
    regex: Regex,
    mode: ParseMode,
    columns: Vec<ParsedColumn>,
}

impl ParseRows {
    /// Parses the field `text` by `pattern`.
    pub(crate) fn new(
        text: String,
        pattern: &str,
        mode: ParseMode,
        columns: Vec<ParsedColumn>,
    ) -> std::result::Result<ParseRows, IllFormed> {
        Ok(ParseRows {
            text,
            regex: compile(pattern)?,
            pattern: pattern.to_owned(),
            mode,
            columns,
        })
    }

    /// The columns, in order.
    pub(crate) fn columns(&self) -> &[ParsedColumn] {
        &self.columns
    }

    /// The values of a row, and whether the row matches and all of them convert.
    fn row(&self, text: &str) -> (Vec<Value>, bool) {
        let blank = || self.columns.iter().map(|c| Value::null(c.kind)).collect();
        let Some(captures) = self.regex.captures(text) else {
            return (blank(), false);
        };
        let mut all = true;
        let values = self
            .columns
            .iter()
            .map(|column| {
                let text = captures.name(&column.group).map_or("", |m| m.as_str());
                let value = Value::String(text.to_owned()).convert(column.kind);
                all &= !value.is_null();
                value
            })
            .collect();
        match (all, self.mode) {
            (false, ParseMode::Simple) => (blank(), false),
            _ => (values, all),
        }
    }
}

impl Transform for ParseRows {
    fn name(&self) -> &'static str {
        "ParseRows"
    }

    fn reads(&self) -> Reads {
        Reads::Partitions
    }

    fn is_row_wise(&self) -> bool {
        true
    }

    fn allows_predicate_pushdown(&self) -> bool {
        true
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(vec![self.text.clone()])
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        let mode = match self.mode {
            ParseMode::Simple => message::ParseMode::Simple,
            ParseMode::Relaxed => message::ParseMode::Relaxed,
            ParseMode::Regex => message::ParseMode::Regex,
        };
        let columns = self.columns.iter().map(|column| message::ParsedColumn {
            name: column.name.clone(),
            kind: column.kind.to_string(),
            group: column.group.clone(),
        });
        Ok(TransformMessage::Parse(message::Parse {
            text: self.text.clone(),
            pattern: self.pattern.clone(),
            mode: mode.into(),
            columns: columns.collect(),
        }))
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            work: self.clone(),
            schema: Arc::clone(output),
            batch: None,
            row: 0,
            cancellation: CancellationToken::current(),
        }))
    }
}

struct State {
    work: ParseRows,
    schema: SchemaRef,
    batch: Option<RecordBatch>,
    /// The next row: the parts of long texts may fill more than one batch.
    row: usize,
    cancellation: CancellationToken,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.batch = Some(batch);
        self.row = 0;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.batch.clone().filter(|b| self.row < b.num_rows()) else {
            self.batch = None;
            return Ok(None);
        };
        let texts = batch
            .column_by_name(&self.work.text)
            .and_then(|array| array.as_string_view_opt())
            .ok_or_else(|| DataFusionError::Internal("the parsed field is no string".to_owned()))?;
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); self.work.columns.len()];
        let (mut matched, mut bytes) = (Vec::new(), 0);
        let first = self.row;
        while self.row < batch.num_rows() && bytes < MAX_BATCH_BYTES {
            self.cancellation.check()?;
            let text = if texts.is_valid(self.row) {
                texts.value(self.row)
            } else {
                ""
            };
            let (values, fits) = self.work.row(text);
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
            matched.push(fits);
            bytes += text.len();
            self.row += 1;
        }
        let mut arrays = batch.slice(first, self.row - first).columns().to_vec();
        for (values, column) in columns.iter().zip(&self.work.columns) {
            let array: ArrayRef = array_of(values.iter(), column.kind)?;
            arrays.push(array);
        }
        arrays.push(Arc::new(BooleanArray::from(matched)));
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        Ok(Some(batch))
    }
}
