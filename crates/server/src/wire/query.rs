//! The two spellings of a query's result (`D1`).

use arrow::record_batch::RecordBatch;
use hindsight_engine::{
    PartialError, QueryResult, RenderInfo, ResultColumn, ResultTable, Statistics,
};
use hindsight_kql_types::{ScalarType, timespan};

use super::cell::{Cells, DynamicForm};
use super::json;

/// What of a result is shown beside its tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extras {
    /// `Prefer: include-render=true`
    pub(crate) render: bool,
    /// `Prefer: include-statistics=true`
    pub(crate) statistics: bool,
    /// `Prefer: include-dataSources=true`
    pub(crate) data_sources: bool,
}

/// The lower-case form: the tables of the query alone.
pub(crate) fn thin(result: &QueryResult, extras: Extras) -> String {
    let mut out = String::with_capacity(estimate(result));
    out.push_str("{\"tables\":[");
    json::list(&result.tables, &mut out, thin_table);
    out.push(']');
    if extras.render {
        out.push_str(",\"render\":");
        render(&result.render, &mut out);
    }
    if extras.statistics {
        out.push_str(",\"statistics\":");
        statistics(result, &mut out);
    }
    if extras.data_sources {
        out.push_str(",\"dataSources\":[]");
    }
    if let Some(error) = &result.partial {
        partial(error, &mut out);
    }
    out.push('}');
    out
}

fn estimate(result: &QueryResult) -> usize {
    let cells: usize = result
        .tables
        .iter()
        .map(|table| table.rows() * table.columns.len())
        .sum();
    256 + cells.saturating_mul(12).min(64 << 20)
}

fn thin_table(table: &ResultTable, out: &mut String) {
    out.push_str("{\"name\":");
    json::string(&table.name, out);
    out.push_str(",\"columns\":[");
    json::list(&table.columns, out, |column, out| {
        out.push_str("{\"name\":");
        json::string(&column.name, out);
        out.push_str(",\"type\":");
        json::string(column.kind.name(), out);
        out.push('}');
    });
    out.push_str("],\"rows\":");
    rows(table, out);
    out.push('}');
}

/// The rows as an array of arrays.
fn rows(table: &ResultTable, out: &mut String) {
    out.push('[');
    let mut first = true;
    for batch in &table.batches {
        let cells = columns(&table.columns, batch);
        for row in 0..batch.num_rows() {
            out.push_str(if first { "[" } else { ",[" });
            first = false;
            json::list(&cells, out, |cell, out| {
                cell.write(row, DynamicForm::Text, out)
            });
            out.push(']');
        }
    }
    out.push(']');
}

fn columns<'b>(columns: &[ResultColumn], batch: &'b RecordBatch) -> Vec<Cells<'b>> {
    columns
        .iter()
        .zip(batch.columns())
        .map(|(column, array)| Cells::new(column.kind, array))
        .collect()
}

/// What a partial result says (`api-facts.md §2`).
fn partial(error: &PartialError, out: &mut String) {
    let value = serde_json::json!({
        "code": "PartialError",
        "message": "There were some errors when processing your query.",
        "details": [{
            "code": "EngineError",
            "message": "Something went wrong processing your query on the server.",
            "innererror": {
                "code": "-2133196797",
                "message": error.message,
                "severity": 2,
                "severityName": "Error",
            },
        }],
    });
    out.push_str(",\"error\":");
    out.push_str(&value.to_string());
}

/// The wire's spelling of render properties.
fn property(name: &str) -> &str {
    match name {
        "xcolumn" => "xColumn",
        "ycolumns" => "yColumns",
        "anomalycolumns" => "anomalyColumns",
        "xtitle" => "xTitle",
        "ytitle" => "yTitle",
        "xaxis" => "xAxis",
        "yaxis" => "yAxis",
        "ysplit" => "ySplit",
        "xmin" => "xMin",
        "xmax" => "xMax",
        "ymin" => "yMin",
        "ymax" => "yMax",
        other => other,
    }
}

/// The recorded keys come first and always; further properties follow where the query wrote them.
fn render(render: &RenderInfo, out: &mut String) {
    const FIXED: [&str; 5] = ["title", "accumulate", "kind", "annotation", "by"];
    let given = |name: &str| {
        render
            .properties
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let visualization = if render.visualization.is_empty() {
        "table"
    } else {
        &render.visualization
    };
    let mut value = serde_json::json!({
        "visualization": visualization,
        "title": given("title").unwrap_or_default(),
        "accumulate": given("accumulate") == Some("true"),
        "isQuerySorted": render.is_query_sorted,
        "kind": given("kind").unwrap_or_default(),
        "annotation": given("annotation").unwrap_or_default(),
        "by": given("by"),
    });
    if let Some(object) = value.as_object_mut() {
        let more = render
            .properties
            .iter()
            .filter(|(name, _)| !FIXED.contains(&name.as_str()));
        object.extend(more.map(|(name, value)| (property(name).to_owned(), value.as_str().into())));
    }
    out.push_str(&value.to_string());
}

fn statistics(result: &QueryResult, out: &mut String) {
    let tables: Vec<_> = result
        .tables
        .iter()
        .map(|table| {
            let bytes: usize = table
                .batches
                .iter()
                .map(RecordBatch::get_array_memory_size)
                .sum();
            serde_json::json!({ "tableRowCount": table.rows(), "tableSize": bytes })
        })
        .collect();
    let value = serde_json::json!({ "query": {
        "executionTime": result.statistics.execution_time.as_secs_f64(),
        "resourceUsage": resource_usage(&result.statistics),
        "inputDatasetStatistics": {
            "rows": { "scanned": result.statistics.rows_scanned },
            "bytes": { "scanned": result.statistics.bytes_scanned },
        },
        "datasetStatistics": tables,
    }});
    out.push_str(&value.to_string());
}

fn resource_usage(statistics: &Statistics) -> serde_json::Value {
    let mut total = String::new();
    let ticks = i64::try_from(statistics.execution_time.as_nanos() / 100).unwrap_or(i64::MAX);
    // Writing into a text cannot fail.
    let _ = timespan::write(ticks, &mut total);
    serde_json::json!({
        "cache": {
            "memory": { "hits": 0, "misses": 0, "total": 0 },
            "disk": { "hits": 0, "misses": 0, "total": 0 },
        },
        "cpu": { "user": total, "kernel": "00:00:00", "totalCpu": total },
        "memory": { "peakPerNode": statistics.memory_peak },
    })
}

/// What the four-table form says of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp<'a> {
    /// Now, ticks.
    pub(crate) now: i64,
    /// The request's id.
    pub(crate) request_id: &'a str,
    /// What the client called the request.
    pub(crate) client_id: &'a str,
}

/// The capitalised form: result, visualization, status and index.
pub(crate) fn full(result: &QueryResult, stamp: Stamp<'_>) -> String {
    let mut out = String::with_capacity(estimate(result) + 4096);
    out.push_str("{\"Tables\":[");
    for (index, table) in result.tables.iter().enumerate() {
        open_table(
            index,
            table
                .columns
                .iter()
                .map(|column| (column.name.as_str(), column.kind)),
            &mut out,
        );
        rows(table, &mut out);
        out.push_str("},");
    }
    let results = result.tables.len();
    properties_table(results, &result.render, &mut out);
    out.push(',');
    status_table(results + 1, result, stamp, &mut out);
    out.push(',');
    index_table(results, stamp, &mut out);
    out.push(']');
    if let Some(error) = &result.partial {
        partial(error, &mut out);
    }
    out.push('}');
    out
}

fn open_table<'c>(
    index: usize,
    columns: impl Iterator<Item = (&'c str, ScalarType)>,
    out: &mut String,
) {
    out.push_str(&format!("{{\"TableName\":\"Table_{index}\",\"Columns\":["));
    json::list(columns, out, |(name, kind), out| {
        out.push_str("{\"ColumnName\":");
        json::string(name, out);
        out.push_str(",\"DataType\":");
        json::string(kind.clr_name().rsplit('.').next().unwrap_or_default(), out);
        out.push_str(",\"ColumnType\":");
        json::string(kind.name(), out);
        out.push('}');
    });
    out.push_str("],\"Rows\":");
}

fn properties_table(index: usize, render: &RenderInfo, out: &mut String) {
    let given = |name: &str| {
        render
            .properties
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let value = serde_json::json!({
        "Visualization": if render.visualization.is_empty() { "table" } else { &render.visualization },
        "Title": given("title"),
        "XColumn": given("xcolumn"),
        "Series": given("series"),
        "YColumns": given("ycolumns"),
        "AnomalyColumns": given("anomalycolumns"),
        "XTitle": given("xtitle"),
        "YTitle": given("ytitle"),
        "XAxis": given("xaxis"),
        "YAxis": given("yaxis"),
        "Legend": given("legend"),
        "YSplit": given("ysplit"),
        "Accumulate": given("accumulate") == Some("true"),
        "IsQuerySorted": render.is_query_sorted,
        "Kind": given("kind"),
        "Annotation": given("annotation").unwrap_or_default(),
        "Ymin": given("ymin"),
        "Ymax": given("ymax"),
        "Xmin": given("xmin"),
        "Xmax": given("xmax"),
    });
    open_table(index, [("Value", ScalarType::String)].into_iter(), out);
    out.push_str("[[");
    json::string(&value.to_string(), out);
    out.push_str("]]}");
}

fn status_table(index: usize, result: &QueryResult, stamp: Stamp<'_>, out: &mut String) {
    use ScalarType::{DateTime, Guid, Int, String as Text};
    let columns = [
        ("Timestamp", DateTime),
        ("Severity", Int),
        ("SeverityName", Text),
        ("StatusCode", Int),
        ("StatusDescription", Text),
        ("Count", Int),
        ("RequestId", Guid),
        ("ActivityId", Guid),
        ("SubActivityId", Guid),
        ("ClientActivityId", Text),
    ];
    open_table(index, columns.into_iter(), out);
    let stats = serde_json::json!({
        "ExecutionTime": result.statistics.execution_time.as_secs_f64(),
        "resource_usage": resource_usage(&result.statistics),
    });
    out.push('[');
    status_row(4, "Info", "Query completed successfully", stamp, out);
    out.push(',');
    status_row(6, "Stats", &stats.to_string(), stamp, out);
    out.push_str("]}");
}

fn status_row(severity: i64, name: &str, description: &str, stamp: Stamp<'_>, out: &mut String) {
    out.push('[');
    json::time(stamp.now, out);
    out.push(',');
    json::integer(severity, out);
    out.push(',');
    json::string(name, out);
    out.push_str(",0,");
    json::string(description, out);
    out.push_str(",1,");
    for _ in 0..3 {
        json::string(stamp.request_id, out);
        out.push(',');
    }
    json::string(stamp.client_id, out);
    out.push(']');
}

fn index_table(results: usize, stamp: Stamp<'_>, out: &mut String) {
    use ScalarType::{Long, String as Text};
    let columns = [
        ("Ordinal", Long),
        ("Kind", Text),
        ("Name", Text),
        ("Id", Text),
    ];
    open_table(results + 2, columns.into_iter(), out);
    let primary = (0..results).map(|_| ("QueryResult", "PrimaryResult"));
    let others = [
        ("QueryProperties", "@ExtendedProperties"),
        ("QueryStatus", "QueryStatus"),
    ];
    out.push('[');
    json::list(
        primary.chain(others).enumerate(),
        out,
        |(ordinal, (kind, name)), out| {
            out.push_str(&format!("[{ordinal},\"{kind}\",\"{name}\","));
            json::string(&format!("{}-{ordinal}", stamp.request_id), out);
            out.push(']');
        },
    );
    out.push_str("]}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringViewArray};
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    fn sample() -> QueryResult {
        let schema = Schema::new(vec![
            Field::new("city", DataType::Utf8View, true),
            Field::new("n", DataType::Int64, true),
        ]);
        let columns: Vec<arrow::array::ArrayRef> = vec![
            Arc::new(StringViewArray::from(vec!["Oslo", "Bern"])),
            Arc::new(Int64Array::from(vec![Some(3), None])),
        ];
        let column = |name: &str, kind| ResultColumn {
            name: name.to_owned(),
            kind,
        };
        QueryResult {
            tables: vec![ResultTable {
                name: "PrimaryResult".to_owned(),
                columns: vec![
                    column("city", ScalarType::String),
                    column("n", ScalarType::Long),
                ],
                batches: vec![RecordBatch::try_new(schema.into(), columns).unwrap()],
            }],
            render: RenderInfo::default(),
            statistics: Statistics::default(),
            partial: None,
        }
    }

    #[test]
    fn the_thin_form_has_lower_case_keys() {
        assert_eq!(
            thin(&sample(), Extras::default()),
            concat!(
                r#"{"tables":[{"name":"PrimaryResult","columns":[{"name":"city","type":"string"},"#,
                r#"{"name":"n","type":"long"}],"rows":[["Oslo",3],["Bern",null]]}]}"#
            )
        );
    }

    #[test]
    fn render_and_statistics_come_when_asked_for() {
        let text = thin(
            &sample(),
            Extras {
                render: true,
                statistics: true,
                data_sources: false,
            },
        );
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value["render"].to_string(),
            r#"{"visualization":"table","title":"","accumulate":false,"isQuerySorted":false,"kind":"","annotation":"","by":null}"#
        );
        assert_eq!(
            value["statistics"]["query"]["datasetStatistics"][0]["tableRowCount"],
            2
        );
    }

    #[test]
    fn the_full_form_has_four_tables() {
        let stamp = Stamp {
            now: 0,
            request_id: "11111111-1111-1111-1111-111111111111",
            client_id: "",
        };
        let value: serde_json::Value = serde_json::from_str(&full(&sample(), stamp)).unwrap();
        let names: Vec<_> = value["Tables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["TableName"].clone())
            .collect();
        assert_eq!(names, ["Table_0", "Table_1", "Table_2", "Table_3"]);
        assert_eq!(
            value["Tables"][0]["Columns"][1].to_string(),
            r#"{"ColumnName":"n","DataType":"Int64","ColumnType":"long"}"#
        );
        assert_eq!(
            value["Tables"][0]["Rows"].to_string(),
            r#"[["Oslo",3],["Bern",null]]"#
        );
        assert_eq!(value["Tables"][1]["Columns"][0]["ColumnName"], "Value");
        let kinds: Vec<_> = value["Tables"][3]["Rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[1].clone())
            .collect();
        assert_eq!(kinds, ["QueryResult", "QueryProperties", "QueryStatus"]);
        for table in value["Tables"].as_array().unwrap() {
            let width = table["Columns"].as_array().unwrap().len();
            assert!(
                table["Rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|row| row.as_array().unwrap().len() == width)
            );
        }
    }

    #[test]
    fn a_cut_result_says_so() {
        let mut result = sample();
        result.partial = Some(PartialError {
            message: "cut at 2 rows".to_owned(),
        });
        let value: serde_json::Value =
            serde_json::from_str(&thin(&result, Extras::default())).unwrap();
        assert_eq!(value["error"]["code"], "PartialError");
        assert_eq!(
            value["error"]["details"][0]["innererror"]["message"],
            "cut at 2 rows"
        );
    }
}
