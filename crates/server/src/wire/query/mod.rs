//! The two spellings of a query's result (`D1`), written while its rows are read.

mod extras;
mod full;

use arrow::record_batch::RecordBatch;
use hindsight_engine::{ResultColumn, Summary};
use serde_json::Value;

use super::cell::{Cells, DynamicForm};
use super::json;
use super::result::{Failure, ResultWriter};

use extras::failed;
pub(crate) use extras::{Extras, Problem, TOO_LARGE, not_whole, problems};
pub(crate) use full::Stamp;

/// How a result is spelt.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// The lower-case form: the tables of the query alone.
    Thin(Extras),
    /// The capitalised form: result, visualization, status and index.
    Full(Stamp),
}

/// Writes a result part by part, in the order of the calls: tables with their rows, then the end.
#[derive(Debug)]
pub(crate) struct Writer {
    form: Form,
    /// The columns of the table that is open.
    open: Option<Vec<ResultColumn>>,
    /// Tables that were begun.
    tables: usize,
    /// Rows of the open table that were written.
    rows: usize,
}

impl Writer {
    /// A writer of this form, which has written the beginning to `out`.
    pub(crate) fn begin(form: Form, out: &mut String) -> Writer {
        out.push_str(match form {
            Form::Thin(_) => "{\"tables\":[",
            Form::Full(_) => "{\"Tables\":[",
        });
        Writer {
            form,
            open: None,
            tables: 0,
            rows: 0,
        }
    }

    /// Begins a table.
    pub(crate) fn table(&mut self, name: &str, columns: Vec<ResultColumn>, out: &mut String) {
        self.close_table(out);
        if self.tables > 0 {
            out.push(',');
        }
        match self.form {
            Form::Thin(_) => thin_table(name, &columns, out),
            Form::Full(_) => {
                let columns = columns.iter().map(|c| (c.name.as_str(), c.kind));
                full::open_table(self.tables, columns, out);
            }
        }
        out.push('[');
        self.open = Some(columns);
        self.tables += 1;
        self.rows = 0;
    }

    /// Writes rows of `batch` from the one at `from` on, until `out` has `enough` bytes. Says where it stopped.
    pub(crate) fn rows(
        &mut self,
        batch: &RecordBatch,
        from: usize,
        enough: usize,
        out: &mut String,
    ) -> usize {
        let columns = self.open.as_deref().unwrap_or_default();
        let cells: Vec<Cells<'_>> = columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| Cells::new(column.kind, array))
            .collect();
        let mut row = from;
        while row < batch.num_rows() && out.len() < enough {
            out.push_str(if self.rows == 0 { "[" } else { ",[" });
            self.rows += 1;
            json::list(&cells, out, |cell, out| {
                cell.write(row, DynamicForm::Text, out)
            });
            out.push(']');
            row += 1;
        }
        row
    }

    /// Writes what comes after the rows: `error` says what is missing from them.
    pub(crate) fn end(mut self, summary: &Summary, error: Option<&Value>, out: &mut String) {
        self.close_table(out);
        match &self.form {
            Form::Thin(extras) => {
                out.push(']');
                extras.write(summary, out);
            }
            Form::Full(stamp) => {
                if self.tables > 0 {
                    out.push(',');
                }
                full::closing_tables(self.tables, summary, error, stamp, out);
                out.push(']');
            }
        }
        if let Some(error) = error {
            out.push_str(",\"error\":");
            out.push_str(&error.to_string());
        }
        out.push('}');
    }

    fn close_table(&mut self, out: &mut String) {
        if self.open.take().is_some() {
            out.push_str("]}");
        }
    }
}

impl ResultWriter for Writer {
    fn table(&mut self, name: &str, columns: Vec<ResultColumn>, out: &mut String) {
        Writer::table(self, name, columns, out);
    }

    fn rows(&mut self, batch: &RecordBatch, from: usize, enough: usize, out: &mut String) -> usize {
        Writer::rows(self, batch, from, enough, out)
    }

    fn end(self: Box<Self>, summary: &Summary, failure: Option<Failure<'_>>, out: &mut String) {
        let error = match failure {
            Some(failure) => Some(reported(failure)),
            None => not_whole(summary),
        };
        Writer::end(*self, summary, error.as_ref(), out);
    }
}

/// The failure as the error object of a partial result: the status was sent long ago.
fn reported(failure: Failure<'_>) -> Value {
    let mut body = failure.error.body(None);
    // What is no failure of the query, such as the end of the server, has no inner error: it is its own.
    let place = match body.pointer("/error/innererror") {
        Some(_) => "/error/innererror",
        None => "/error",
    };
    let inner = body.pointer_mut(place).map(Value::take);
    failed(failure.request_id, inner.unwrap_or_default())
}

fn thin_table(name: &str, columns: &[ResultColumn], out: &mut String) {
    out.push_str("{\"name\":");
    json::string(name, out);
    out.push_str(",\"columns\":[");
    json::list(columns, out, |column, out| {
        out.push_str("{\"name\":");
        json::string(&column.name, out);
        out.push_str(",\"type\":");
        json::string(column.kind.name(), out);
        out.push('}');
    });
    out.push_str("],\"rows\":");
}

#[cfg(test)]
mod tests;
