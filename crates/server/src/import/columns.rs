//! Lines of JSON, one item each with the columns of its table, as batches.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewBuilder, Float64Builder, Int32Builder, Int64Builder, RecordBatch,
    StringViewBuilder,
};
use arrow::error::ArrowError;
use hindsight_kql_types::dynamic::encode_json;
use hindsight_kql_types::{Encoder, ScalarType, datetime};
use hindsight_rows::AppColumns;
use hindsight_store::{Column, Table};
use serde_json::value::RawValue;

use super::line::{Fields, text};
use super::reply::item_table;

/// What an item must keep to.
pub(crate) struct ImportRules<'a> {
    /// The application that the items become part of.
    pub(crate) app: AppColumns<'a>,
    /// The oldest time that is kept in a table, in ticks.
    pub(crate) oldest: &'a (dyn Fn(Table) -> i64 + Sync),
    /// The latest time of an item, in ticks.
    pub(crate) latest: i64,
    /// Maximum bytes of a line.
    pub(crate) max_line_bytes: usize,
}

/// The items of a request.
pub(crate) struct Imported {
    /// Items of each table.
    pub(crate) batches: Vec<(Table, RecordBatch)>,
    /// Lines.
    pub(crate) received: usize,
    /// Lines that are refused, by their index, with the reason.
    pub(crate) refused: Vec<(usize, String)>,
}

/// Reads lines into columns.
pub(crate) fn decode(body: &[u8], rules: &ImportRules<'_>) -> Result<Imported, ArrowError> {
    let mut tables: Vec<Rows> = Vec::new();
    let (mut received, mut refused) = (0, Vec::new());
    let lines = body.split(|byte| *byte == b'\n');
    for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
        match values(line, rules) {
            Ok((table, values)) => {
                let known = tables.iter_mut().find(|rows| rows.table == table);
                match known {
                    Some(rows) => rows.push(values),
                    None => {
                        let mut rows = Rows::new(table);
                        rows.push(values);
                        tables.push(rows);
                    }
                }
            }
            Err(reason) => refused.push((received, reason)),
        }
        received += 1;
    }
    let batches = tables.into_iter().map(Rows::finish);
    Ok(Imported {
        batches: batches.collect::<Result<_, _>>()?,
        received,
        refused,
    })
}

/// The value of a column.
enum Cell {
    Text(String),
    Int(Option<i32>),
    Long(Option<i64>),
    Real(Option<f64>),
    Dynamic(Option<Vec<u8>>),
}

/// The table of a line and its values, in the order of the columns.
fn values(line: &[u8], rules: &ImportRules<'_>) -> Result<(Table, Vec<Cell>), String> {
    if line.len() > rules.max_line_bytes {
        let (bytes, limit) = (line.len(), rules.max_line_bytes);
        return Err(format!(
            "the item has {bytes} bytes, more than the limit of {limit}, four times `ingest.max_item_bytes`"
        ));
    }
    let mut fields: Fields<'_> = serde_json::from_slice(line)
        .map_err(|error| format!("the line is no JSON object: {error}"))?;
    let table = item_table(&fields).ok_or("`itemType` does not name a type of telemetry")?;
    fields.remove("itemType");
    let mut cells = Vec::with_capacity(table.columns().len());
    for column in table.columns() {
        let given = fields.remove(column.name);
        // The application is the one that items are imported into.
        cells.push(match column.name {
            "appId" => Cell::Text(rules.app.id.to_owned()),
            "appName" => Cell::Text(rules.app.name.to_owned()),
            "iKey" => Cell::Text(rules.app.ikey.to_owned()),
            "_ResourceId" => Cell::Text(rules.app.resource_id.to_owned()),
            "itemType" => Cell::Text(table.item_type().to_owned()),
            _ => cell(column, given)?,
        });
    }
    if let Some(name) = fields.keys().next() {
        return Err(format!("there is no column '{name}' in {table}"));
    }
    check(table, &cells, rules)?;
    Ok((table, cells))
}

/// Refuses an item without a time or an identity, and one that would not be kept.
fn check(table: Table, cells: &[Cell], rules: &ImportRules<'_>) -> Result<(), String> {
    let of = |name: &str| {
        let place = table
            .columns()
            .iter()
            .position(|column| column.name == name);
        place.and_then(|place| cells.get(place))
    };
    let Some(Cell::Long(Some(time))) = of("timestamp") else {
        return Err("the item has no `timestamp`".to_owned());
    };
    match of("itemId") {
        Some(Cell::Text(id)) if !id.is_empty() => {}
        _ => return Err("the item has no `itemId`".to_owned()),
    }
    if *time < (rules.oldest)(table) {
        let mut at = String::new();
        // Writing into a text cannot fail.
        let _ = datetime::write_trimmed(*time, &mut at);
        return Err(format!(
            "the item of {at} is older than items of {table} are kept; `hindsight retention set` keeps them longer"
        ));
    }
    if *time > rules.latest {
        return Err("the time of the item is in the future".to_owned());
    }
    Ok(())
}

/// The value of a column from its JSON; absent and null are nothing.
fn cell(column: &Column, given: Option<&RawValue>) -> Result<Cell, String> {
    let raw = given.map(RawValue::get).filter(|raw| *raw != "null");
    let bad = || {
        let shown: String = raw.unwrap_or_default().chars().take(100).collect();
        let (name, kind) = (column.name, column.scalar_type);
        format!("'{shown}' is no {kind} for the column '{name}'")
    };
    let text = || given.and_then(text);
    Ok(match column.scalar_type {
        ScalarType::String => {
            let value = match raw {
                Some(raw) if !raw.starts_with('"') => return Err(bad()),
                Some(_) => text().ok_or_else(bad)?,
                None => String::new(),
            };
            if let Some(texts) = column.texts
                && !value.is_empty()
                && !texts.contains(&value.as_str())
            {
                return Err(bad());
            }
            Cell::Text(value)
        }
        ScalarType::DateTime => Cell::Long(match raw {
            Some(raw) if raw.starts_with('"') => {
                let time = text().and_then(|text| datetime::parse(&text));
                Some(time.ok_or_else(bad)?)
            }
            Some(_) => return Err(bad()),
            None => None,
        }),
        ScalarType::Int => Cell::Int(raw.map(whole).transpose().map_err(|()| bad())?),
        ScalarType::Long => Cell::Long(raw.map(whole).transpose().map_err(|()| bad())?),
        ScalarType::Real => Cell::Real(match raw {
            Some("\"NaN\"") => Some(f64::NAN),
            Some("\"Infinity\"") => Some(f64::INFINITY),
            Some("\"-Infinity\"") => Some(f64::NEG_INFINITY),
            Some(raw) => {
                let number = raw.parse::<f64>().ok().filter(|number| number.is_finite());
                Some(number.ok_or_else(bad)?)
            }
            None => None,
        }),
        ScalarType::Dynamic => Cell::Dynamic(match raw {
            Some(raw) => Some(encoded(raw).ok_or_else(bad)?),
            None => None,
        }),
        _ => return Err(bad()),
    })
}

/// A whole number, which may be written with a fraction of zeros.
fn whole<T: std::str::FromStr>(raw: &str) -> Result<T, ()> {
    let digits = match raw.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') => digits,
        _ => raw,
    };
    digits.parse().map_err(|_| ())
}

/// A bag or an array, with numbers of the types that their texts have.
fn encoded(raw: &str) -> Option<Vec<u8>> {
    if !raw.starts_with(['{', '[']) {
        return None;
    }
    let mut encoder = Encoder::new();
    encode_json(raw, &mut encoder)?;
    Some(encoder.finish())
}

/// The rows of a table.
struct Rows {
    table: Table,
    columns: Vec<Builder>,
}

/// A column that is being filled.
enum Builder {
    Text(StringViewBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Real(Float64Builder),
    Dynamic(BinaryViewBuilder),
}

impl Rows {
    fn new(table: Table) -> Rows {
        let builder = |column: &Column| match column.scalar_type {
            ScalarType::Int => Builder::Int(Int32Builder::new()),
            ScalarType::Long | ScalarType::DateTime => Builder::Long(Int64Builder::new()),
            ScalarType::Real => Builder::Real(Float64Builder::new()),
            ScalarType::Dynamic => Builder::Dynamic(BinaryViewBuilder::new()),
            _ => Builder::Text(StringViewBuilder::new()),
        };
        Rows {
            table,
            columns: table.columns().iter().map(builder).collect(),
        }
    }

    /// Adds a row. Values and columns have the same types: both follow from the table.
    fn push(&mut self, values: Vec<Cell>) {
        for (builder, value) in self.columns.iter_mut().zip(values) {
            match (builder, value) {
                (Builder::Text(builder), Cell::Text(text)) => builder.append_value(text),
                (Builder::Int(builder), Cell::Int(value)) => builder.append_option(value),
                (Builder::Long(builder), Cell::Long(value)) => builder.append_option(value),
                (Builder::Real(builder), Cell::Real(value)) => builder.append_option(value),
                (Builder::Dynamic(builder), Cell::Dynamic(value)) => builder.append_option(value),
                (Builder::Text(builder), _) => builder.append_value(""),
                (Builder::Int(builder), _) => builder.append_null(),
                (Builder::Long(builder), _) => builder.append_null(),
                (Builder::Real(builder), _) => builder.append_null(),
                (Builder::Dynamic(builder), _) => builder.append_null(),
            }
        }
    }

    fn finish(self) -> Result<(Table, RecordBatch), ArrowError> {
        let array = |builder| -> ArrayRef {
            match builder {
                Builder::Text(mut builder) => Arc::new(builder.finish()),
                Builder::Int(mut builder) => Arc::new(builder.finish()),
                Builder::Long(mut builder) => Arc::new(builder.finish()),
                Builder::Real(mut builder) => Arc::new(builder.finish()),
                Builder::Dynamic(mut builder) => Arc::new(builder.finish()),
            }
        };
        let arrays = self.columns.into_iter().map(array).collect();
        let batch = RecordBatch::try_new(self.table.arrow_schema(), arrays)?;
        Ok((self.table, batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::Float64Type;

    fn decoded(lines: &str) -> Imported {
        let rules = ImportRules {
            app: AppColumns {
                id: "id",
                name: "shop",
                ikey: "key",
                resource_id: "/shop",
            },
            oldest: &|_| datetime::parse("2020-01-01").unwrap(),
            latest: datetime::parse("2030-01-01").unwrap(),
            max_line_bytes: 1000,
        };
        decode(lines.as_bytes(), &rules).unwrap()
    }

    #[test]
    fn values_are_read_exactly() {
        let found = decoded(concat!(
            r#"{"itemType":"request","timestamp":"2024-05-06T07:08:09.1234567Z","itemId":"a","duration":0.1,"success":"True","#,
            r#""itemCount":3,"customDimensions":{"b":"1","a":"x"},"customMeasurements":{"m":5,"n":5.0},"appId":"other"}"#,
            "\n\n",
            r#"{"itemType":"trace","timestamp":"2024-05-06T07:08:09Z","itemId":"b","message":"line\nbreak","severityLevel":2}"#,
            "\n",
        ));
        assert_eq!(
            (found.received, found.refused.len()),
            (2, 0),
            "{:?}",
            found.refused
        );
        let [(Table::Requests, requests), (Table::Traces, traces)] = found.batches.as_slice()
        else {
            panic!("two tables are expected");
        };
        let text = |batch: &RecordBatch, name: &str| {
            let column = batch.column_by_name(name).unwrap();
            column.as_string_view().value(0).to_owned()
        };
        assert_eq!(text(requests, "appId"), "id");
        assert_eq!(text(traces, "message"), "line\nbreak");
        assert_eq!(text(traces, "itemType"), "trace");
        let duration = requests.column_by_name("duration").unwrap();
        assert_eq!(duration.as_primitive::<Float64Type>().value(0), 0.1);
        let json = |name: &str| {
            let column = requests.column_by_name(name).unwrap();
            hindsight_kql_types::DynamicRef::new(column.as_binary_view().value(0)).to_json()
        };
        assert_eq!(json("customDimensions"), r#"{"b":"1","a":"x"}"#);
        assert_eq!(json("customMeasurements"), r#"{"m":5,"n":5.0}"#);
        assert!(requests.column_by_name("source").unwrap().null_count() == 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        for (fields, message) in [
            (r#""itemType":"thing""#, "`itemType` does not name"),
            (r#""itemType":"request","itemId":"a""#, "no `timestamp`"),
            (
                r#""itemType":"request","timestamp":"2024-01-01T00:00:00Z""#,
                "no `itemId`",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2019-01-01T00:00:00Z""#,
                "older than items of requests are kept",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2031-01-01T00:00:00Z""#,
                "in the future",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":5"#,
                "'5' is no datetime",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2024-01-01","duration":"x""#,
                "'\"x\"' is no real",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2024-01-01","success":"yes""#,
                "for the column 'success'",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2024-01-01","customDimensions":"x""#,
                "for the column 'customDimensions'",
            ),
            (
                r#""itemType":"request","itemId":"a","timestamp":"2024-01-01","oops":1"#,
                "no column 'oops' in requests",
            ),
        ] {
            let found = decoded(&format!("{{{fields}}}"));
            let [(0, reason)] = found.refused.as_slice() else {
                panic!("{fields} is not refused");
            };
            assert!(reason.contains(message), "{reason}");
        }
        let long = format!("{{\"itemType\":\"{}\"}}", "x".repeat(1000));
        assert!(
            decoded(&long).refused[0]
                .1
                .contains("ingest.max_item_bytes")
        );
        assert!(decoded("[1]").refused[0].1.contains("no JSON object"));
    }
}
