//! Data sets of version 2: an array of frames.
//!
//! A table is one frame `DataTable`. In progressive and fragmented data sets a result of the query is a `TableHeader`, a
//! `TableFragment` for each part that is sent, and a `TableCompletion`.

use arrow::record_batch::RecordBatch;
use hindsight_engine::{RenderInfo, ResultColumn, Summary};
use hindsight_kql_types::ScalarType;
use serde_json::{Value, json};

use super::super::json;
use super::super::query::{Problem, problems};
use super::super::result::{Failure, ResultWriter};
use super::small::SmallTable;
use super::{Stamp, completion, error, rows, visualization};

/// The columns of the table of properties.
const PROPERTIES: &[(&str, ScalarType)] = &[
    ("TableId", ScalarType::Int),
    ("Key", ScalarType::String),
    ("Value", ScalarType::Dynamic),
];
/// The columns of the table that says how the query went.
const COMPLETION: &[(&str, ScalarType)] = &[
    ("Timestamp", ScalarType::DateTime),
    ("ClientRequestId", ScalarType::String),
    ("ActivityId", ScalarType::Guid),
    ("SubActivityId", ScalarType::Guid),
    ("ParentActivityId", ScalarType::Guid),
    ("Level", ScalarType::Int),
    ("LevelName", ScalarType::String),
    ("StatusCode", ScalarType::Int),
    ("StatusCodeName", ScalarType::String),
    ("EventType", ScalarType::Int),
    ("EventTypeName", ScalarType::String),
    ("Payload", ScalarType::String),
];

/// Where the errors of a query that fails late stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ErrorPlacement {
    /// In the place of further rows.
    #[default]
    InData,
    /// In the `TableCompletion`.
    EndOfTable,
    /// In the `DataSetCompletion` alone.
    EndOfDataSet,
}

impl ErrorPlacement {
    /// The name that the protocol has for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ErrorPlacement::InData => "in_data",
            ErrorPlacement::EndOfTable => "end_of_table",
            ErrorPlacement::EndOfDataSet => "end_of_dataset",
        }
    }
}

/// The form of a data set, as the client chose it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    /// `results_progressive_enabled`
    pub(crate) progressive: bool,
    /// `results_v2_fragment_primary_tables`
    pub(crate) fragmented: bool,
    /// `results_v2_newlines_between_frames`
    pub(crate) newlines: bool,
    /// `results_error_reporting_placement`
    pub(crate) placement: ErrorPlacement,
    /// `deferpartialqueryfailures`: a result that is not whole is one with a message, not a failed query.
    pub(crate) deferred: bool,
}

impl Frames {
    /// Whether results are sent in fragments.
    fn in_fragments(self) -> bool {
        self.progressive || self.fragmented
    }

    fn header(self) -> Value {
        let mut header = json!({
            "FrameType": "DataSetHeader",
            "IsProgressive": self.progressive,
            "Version": "v2.0",
        });
        let chosen = self.fragmented || self.placement != ErrorPlacement::InData;
        if let (true, Some(members)) = (chosen, header.as_object_mut()) {
            members.insert("IsFragmented".to_owned(), self.fragmented.into());
            let placement = self.placement.name();
            members.insert("ErrorReportingPlacement".to_owned(), placement.into());
        }
        header
    }
}

/// Writes the result of a query.
pub(crate) struct Writer {
    frames: Frames,
    stamp: Stamp,
    /// The columns of the table that is open.
    open: Option<Vec<ResultColumn>>,
    /// Tables that were begun. The first has the id 1.
    tables: usize,
    /// Rows of the open table that were written.
    rows: usize,
}

impl Writer {
    /// A writer that has written the header and the properties to `out`. `renders`: how each result is rendered.
    pub(crate) fn begin(
        frames: Frames,
        stamp: Stamp,
        renders: &[RenderInfo],
        out: &mut String,
    ) -> Writer {
        let writer = Writer {
            frames,
            stamp,
            open: None,
            tables: 0,
            rows: 0,
        };
        out.push('[');
        out.push_str(&frames.header().to_string());
        let shown = (1_usize..).zip(renders.iter().map(visualization::of));
        let shown = shown.map(|(id, shown)| json!([id, "Visualization", shown.to_string()]));
        let properties = SmallTable::new(PROPERTIES).with_all(shown);
        writer.frame(
            &properties.v2(0, "QueryProperties", "@ExtendedProperties"),
            out,
        );
        writer
    }

    /// Separates a frame from the one before.
    fn separate(&self, out: &mut String) {
        out.push_str(if self.frames.newlines { "\n," } else { "," });
    }

    fn frame(&self, frame: &Value, out: &mut String) {
        self.separate(out);
        out.push_str(&frame.to_string());
    }

    /// Begins a fragment of the open table, up to its rows.
    fn open_fragment(&self, out: &mut String) {
        self.separate(out);
        let fields = self.open.as_ref().map_or(0, Vec::len);
        out.push_str(&format!(
            "{{\"FrameType\":\"TableFragment\",\"TableFragmentType\":\"DataAppend\",\"TableId\":{},\"FieldCount\":{fields},\"Rows\":[",
            self.tables
        ));
    }

    /// Ends the open table. `errors`: why it has no more rows.
    fn close_table(&mut self, errors: &[Value], out: &mut String) {
        if self.open.is_none() {
            return;
        }
        let in_rows = !errors.is_empty() && self.frames.placement == ErrorPlacement::InData;
        let row = json!({ "OneApiErrors": errors }).to_string();
        if self.frames.in_fragments() {
            if in_rows {
                self.open_fragment(out);
                out.push_str(&row);
                out.push_str("]}");
            }
            self.complete_table(errors, out);
        } else {
            if in_rows {
                out.push_str(if self.rows > 0 { "," } else { "" });
                out.push_str(&row);
            }
            out.push_str("]}");
        }
        self.open = None;
    }

    /// The last frames of a table that is sent in fragments.
    fn complete_table(&self, errors: &[Value], out: &mut String) {
        let id = self.tables;
        if self.frames.progressive && errors.is_empty() {
            let progress =
                json!({ "FrameType": "TableProgress", "TableId": id, "TableProgress": 100.0 });
            self.frame(&progress, out);
        }
        let mut completion =
            json!({ "FrameType": "TableCompletion", "TableId": id, "RowCount": self.rows });
        let here = self.frames.placement == ErrorPlacement::EndOfTable;
        if let (true, Some(members)) = (here, completion.as_object_mut()) {
            members.insert("OneApiErrors".to_owned(), errors.into());
        }
        self.frame(&completion, out);
    }

    /// The table that says how the query went.
    fn completion(&self, summary: &Summary, problems: &[Problem]) -> SmallTable {
        let Stamp {
            now,
            request_id: id,
            client_id,
        } = &self.stamp;
        let time = json::time_text(*now);
        let rows = completion::statuses(summary, problems).into_iter();
        let rows = rows.map(|status| {
            // Statistics are the payload itself; a sentence has a count beside it.
            let payload = if status.level_name == "Stats" {
                status.text
            } else {
                json!({ "Count": 1, "Text": status.text }).to_string()
            };
            json!([
                time,
                client_id,
                id,
                id,
                id,
                status.level,
                status.level_name,
                status.code,
                status.code_name,
                status.event,
                status.event_name,
                payload
            ])
        });
        SmallTable::new(COMPLETION).with_all(rows)
    }
}

impl ResultWriter for Writer {
    fn table(&mut self, name: &str, columns: Vec<ResultColumn>, out: &mut String) {
        self.close_table(&[], out);
        self.tables += 1;
        self.rows = 0;
        let in_fragments = self.frames.in_fragments();
        let frame_type = if in_fragments {
            "TableHeader"
        } else {
            "DataTable"
        };
        self.separate(out);
        out.push_str(&format!(
            "{{\"FrameType\":\"{frame_type}\",\"TableId\":{},\"TableKind\":\"PrimaryResult\",\"TableName\":",
            self.tables
        ));
        json::string(name, out);
        out.push_str(",\"Columns\":[");
        json::list(&columns, out, |column, out| {
            let column = json!({ "ColumnName": column.name, "ColumnType": column.kind.name() });
            out.push_str(&column.to_string());
        });
        out.push_str(if in_fragments { "]}" } else { "],\"Rows\":[" });
        self.open = Some(columns);
    }

    fn rows(&mut self, batch: &RecordBatch, from: usize, enough: usize, out: &mut String) -> usize {
        let cells = rows::cells(self.open.as_deref().unwrap_or_default(), batch);
        let in_fragments = self.frames.in_fragments();
        if in_fragments {
            self.open_fragment(out);
        }
        let mut row = from;
        // At least one row: a fragment is never empty.
        while row < batch.num_rows() && (row == from || out.len() < enough) {
            let is_first = if in_fragments {
                row == from
            } else {
                self.rows == 0
            };
            if !is_first {
                out.push(',');
            }
            rows::write(&cells, row, out);
            self.rows += 1;
            row += 1;
        }
        if in_fragments {
            out.push_str("]}");
        }
        row
    }

    fn end(mut self: Box<Self>, summary: &Summary, failure: Option<Failure<'_>>, out: &mut String) {
        let problems = problems(summary);
        let errors: Vec<Value> = match failure {
            Some(failure) => vec![error::in_data_set(failure.error, &self.stamp)],
            None if self.frames.deferred => Vec::new(),
            None => {
                let problems = problems.iter();
                problems
                    .map(|one| error::not_whole(one, &self.stamp))
                    .collect()
            }
        };
        self.close_table(&errors, out);
        let has_errors = !errors.is_empty();
        let mut completion = json!({
            "FrameType": "DataSetCompletion",
            "HasErrors": has_errors,
            "Cancelled": false,
        });
        if has_errors {
            if let Some(members) = completion.as_object_mut() {
                members.insert("OneApiErrors".to_owned(), errors.into());
            }
        } else {
            let table = self.completion(summary, &problems);
            let kind = "QueryCompletionInformation";
            self.frame(&table.v2(self.tables + 1, kind, kind), out);
        }
        self.frame(&completion, out);
        out.push_str(if self.frames.newlines { "\n]" } else { "]" });
    }
}
