use std::sync::Arc;

use arrow::array::{Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use hindsight_engine::{Notice, PartialError, RenderInfo, Statistics, TableSize};
use hindsight_kql_types::ScalarType;

use super::*;

fn summary() -> Summary {
    Summary {
        renders: Vec::new(),
        render: RenderInfo::default(),
        statistics: Statistics::default(),
        tables: vec![TableSize { rows: 2, bytes: 24 }],
        data_sources: vec![],
        partial: None,
        missing: vec![],
        notices: vec![],
    }
}

/// Two cities, written a row at a time.
fn sample(form: Form, summary: &Summary) -> String {
    let schema = Schema::new(vec![
        Field::new("city", DataType::Utf8View, true),
        Field::new("n", DataType::Int64, true),
    ]);
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(StringViewArray::from(vec!["Oslo", "Bern"])),
        Arc::new(Int64Array::from(vec![Some(3), None])),
    ];
    let batch = RecordBatch::try_new(schema.into(), columns).unwrap();
    let column = |name: &str, kind| ResultColumn {
        name: name.to_owned(),
        kind,
    };
    let columns = vec![
        column("city", ScalarType::String),
        column("n", ScalarType::Long),
    ];
    let mut out = String::new();
    let mut writer = Writer::begin(form, &mut out);
    writer.table("PrimaryResult", columns, &mut out);
    let mut row = 0;
    while row < batch.num_rows() {
        let enough = out.len() + 1;
        row = writer.rows(&batch, row, enough, &mut out);
    }
    let error = not_whole(summary);
    writer.end(summary, error.as_ref(), &mut out);
    out
}

#[test]
fn the_thin_form_has_lower_case_keys() {
    assert_eq!(
        sample(Form::Thin(Extras::default()), &summary()),
        concat!(
            r#"{"tables":[{"name":"PrimaryResult","columns":[{"name":"city","type":"string"},"#,
            r#"{"name":"n","type":"long"}],"rows":[["Oslo",3],["Bern",null]]}]}"#
        )
    );
}

#[test]
fn render_and_statistics_come_when_asked_for() {
    let extras = Extras {
        render: true,
        statistics: true,
        data_sources: false,
    };
    let text = sample(Form::Thin(extras), &summary());
    let value: Value = serde_json::from_str(&text).unwrap();
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
        request_id: "11111111-1111-1111-1111-111111111111".to_owned(),
        client_id: String::new(),
    };
    let text = sample(Form::Full(stamp), &summary());
    let value: Value = serde_json::from_str(&text).unwrap();
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
fn a_result_that_lacks_hours_says_so_beside_what_was_cut() {
    let hour = |hour: i64| {
        hindsight_kql_types::datetime::parse("2026-11-21T00:00:00Z").unwrap()
            + hour * 36_000_000_000
    };
    let missing = |app, table, from, to| hindsight_store::MissingData {
        app: hindsight_store::AppId(uuid::Uuid::from_u128(app)),
        table,
        from: hour(from),
        to: hour(to),
    };
    let lacking = Summary {
        partial: Some(PartialError {
            message: "cut at 2 rows".to_owned(),
        }),
        missing: vec![
            missing(1, hindsight_store::Table::Requests, 0, 2),
            missing(1, hindsight_store::Table::Traces, 0, 2),
            missing(2, hindsight_store::Table::Requests, 0, 2),
        ],
        ..summary()
    };
    let text = sample(Form::Thin(Extras::default()), &lacking);
    let value: Value = serde_json::from_str(&text).unwrap();
    let details = &value["error"]["details"];
    assert_eq!(details[0]["innererror"]["message"], "cut at 2 rows");
    assert_eq!(details[1]["innererror"]["code"], "DamagedData");
    let message = details[1]["innererror"]["message"].as_str().unwrap();
    assert!(
        message.ends_with(": requests 2026-11-21T00:00:00Z/2026-11-21T02:00:00Z, traces 2026-11-21T00:00:00Z/2026-11-21T02:00:00Z"),
        "{message}"
    );
}

#[test]
fn a_cut_result_says_so() {
    let cut = Summary {
        partial: Some(PartialError {
            message: "cut at 2 rows".to_owned(),
        }),
        ..summary()
    };
    let stamp = Stamp {
        now: 0,
        request_id: String::new(),
        client_id: String::new(),
    };
    for form in [Form::Thin(Extras::default()), Form::Full(stamp)] {
        let value: Value = serde_json::from_str(&sample(form, &cut)).unwrap();
        assert_eq!(value["error"]["code"], "PartialError");
        assert_eq!(
            value["error"]["details"][0]["innererror"]["message"],
            "cut at 2 rows"
        );
        if let Some(status) = value.pointer("/Tables/2/Rows/0") {
            assert_eq!(
                (&status[2], &status[4]),
                (&"Error".into(), &"cut at 2 rows".into())
            );
        }
    }
}

#[test]
fn a_result_that_lacked_a_database_says_so_once() {
    let lacking = Summary {
        notices: vec![Notice::NoAddressDatabase],
        ..summary()
    };
    let text = sample(Form::Thin(Extras::default()), &lacking);
    let value: Value = serde_json::from_str(&text).unwrap();
    let details = value["error"]["details"].as_array().unwrap();
    assert_eq!(details.len(), 1);
    assert_eq!(details[0]["innererror"]["code"], "NoAddressDatabase");
    let message = details[0]["innererror"]["message"].as_str().unwrap();
    assert!(message.contains("`geo.database`"), "{message}");
}
