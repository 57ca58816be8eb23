//! Data sets of version 1: the tables of the query, its properties, its status and an index of them.

use arrow::record_batch::RecordBatch;
use hindsight_engine::{ResultColumn, Summary};
use hindsight_kql_types::ScalarType;
use serde_json::{Value, json};

use super::super::json;
use super::super::query::problems;
use super::super::result::{Failure, ResultWriter};
use super::small::{SmallTable, data_type};
use super::{Stamp, completion, error, rows, visualization};

/// The columns of the table that says how the query went.
const STATUS: &[(&str, ScalarType)] = &[
    ("Timestamp", ScalarType::DateTime),
    ("Severity", ScalarType::Int),
    ("SeverityName", ScalarType::String),
    ("StatusCode", ScalarType::Int),
    ("StatusDescription", ScalarType::String),
    ("Count", ScalarType::Int),
    ("RequestId", ScalarType::Guid),
    ("ActivityId", ScalarType::Guid),
    ("SubActivityId", ScalarType::Guid),
    ("ClientActivityId", ScalarType::String),
];
/// The columns of the index.
const INDEX: &[(&str, ScalarType)] = &[
    ("Ordinal", ScalarType::Long),
    ("Kind", ScalarType::String),
    ("Name", ScalarType::String),
    ("Id", ScalarType::String),
    ("PrettyName", ScalarType::String),
];

/// The data set of a management command.
pub(crate) fn data_set(table: &SmallTable) -> String {
    json!({ "Tables": [table.v1(0)] }).to_string()
}

/// Writes the result of a query.
pub(crate) struct Writer {
    stamp: Stamp,
    /// Whether a result that is not whole is one with a message, not a failed query.
    deferred: bool,
    /// The columns of the table that is open.
    open: Option<Vec<ResultColumn>>,
    /// The names of the tables that were begun.
    names: Vec<String>,
    /// Rows of the open table that were written.
    rows: usize,
}

impl Writer {
    /// A writer that has written the beginning to `out`.
    pub(crate) fn begin(stamp: Stamp, deferred: bool, out: &mut String) -> Writer {
        out.push_str("{\"Tables\":[");
        Writer {
            stamp,
            deferred,
            open: None,
            names: Vec::new(),
            rows: 0,
        }
    }

    fn close_table(&mut self, out: &mut String) {
        if self.open.take().is_some() {
            out.push_str("]}");
        }
    }

    /// The end of a query that failed: the sentences are in the place of further rows, and beside the tables.
    fn fail(mut self, errors: &[Value], out: &mut String) {
        let sentences = errors
            .iter()
            .filter_map(|error| error.pointer("/error/@message"));
        let sentences: Vec<&Value> = sentences.collect();
        if self.open.is_some() {
            if self.rows > 0 {
                out.push(',');
            }
            out.push_str(&json!({ "Exceptions": sentences, "OneApiErrors": errors }).to_string());
        }
        self.close_table(out);
        out.push_str("],\"Exceptions\":");
        out.push_str(&json!(sentences).to_string());
        out.push('}');
    }

    /// The tables that follow the query's own.
    fn closing(&self, summary: &Summary, statuses: Vec<completion::Status>) -> [SmallTable; 3] {
        let properties = SmallTable::new(&[("Value", ScalarType::String)]);
        let shown = summary.renders.iter().map(visualization::of);
        let properties = properties.with_all(shown.map(|shown| json!([shown.to_string()])));
        let status = SmallTable::new(STATUS);
        let status = status.with_all(statuses.into_iter().map(|status| self.status(status)));
        let results = self.names.iter();
        let results = results.map(|name| ("QueryResult", name.as_str()));
        let index = results.chain([
            ("QueryProperties", "@ExtendedProperties"),
            ("QueryStatus", "QueryStatus"),
        ]);
        let index = index.enumerate().map(|(ordinal, (kind, name))| {
            let id = format!("{}-{ordinal}", self.stamp.request_id);
            json!([ordinal, kind, name, id, ""])
        });
        [properties, status, SmallTable::new(INDEX).with_all(index)]
    }

    fn status(&self, status: completion::Status) -> Value {
        let Stamp {
            now,
            request_id: id,
            client_id,
        } = &self.stamp;
        json!([
            json::time_text(*now),
            status.level,
            status.level_name,
            status.code,
            status.text,
            1,
            id,
            id,
            id,
            client_id
        ])
    }
}

impl ResultWriter for Writer {
    fn table(&mut self, name: &str, columns: Vec<ResultColumn>, out: &mut String) {
        self.close_table(out);
        if !self.names.is_empty() {
            out.push(',');
        }
        out.push_str(&format!(
            "{{\"TableName\":\"Table_{}\",\"Columns\":[",
            self.names.len()
        ));
        json::list(&columns, out, |column, out| {
            let ResultColumn { name, kind } = column;
            let column = json!({ "ColumnName": name, "DataType": data_type(*kind), "ColumnType": kind.name() });
            out.push_str(&column.to_string());
        });
        out.push_str("],\"Rows\":[");
        self.open = Some(columns);
        self.names.push(name.to_owned());
        self.rows = 0;
    }

    fn rows(&mut self, batch: &RecordBatch, from: usize, enough: usize, out: &mut String) -> usize {
        let cells = rows::cells(self.open.as_deref().unwrap_or_default(), batch);
        let mut row = from;
        while row < batch.num_rows() && out.len() < enough {
            if self.rows > 0 {
                out.push(',');
            }
            rows::write(&cells, row, out);
            self.rows += 1;
            row += 1;
        }
        row
    }

    fn end(mut self: Box<Self>, summary: &Summary, failure: Option<Failure<'_>>, out: &mut String) {
        if let Some(failure) = failure {
            let error = error::in_data_set(failure.error, &self.stamp);
            return self.fail(&[error], out);
        }
        let problems = problems(summary);
        if !problems.is_empty() && !self.deferred {
            let errors = problems
                .iter()
                .map(|one| error::not_whole(one, &self.stamp));
            let errors: Vec<Value> = errors.collect();
            return self.fail(&errors, out);
        }
        self.close_table(out);
        let tables = self.closing(summary, completion::statuses(summary, &problems));
        for (index, table) in (self.names.len()..).zip(tables) {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&table.v1(index).to_string());
        }
        out.push_str("]}");
    }
}
