//! The files of an export: lines of JSON, CSV or Parquet, one table each.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow::array::{
    ArrayRef, Float64Builder, Int32Builder, Int64Builder, RecordBatch, StringBuilder,
    TimestampNanosecondBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use hindsight_kql_types::{ScalarType, datetime};
use hindsight_store::{Column, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::value::RawValue;

use crate::import::ReplyTable;
use crate::wire::json;

/// Ticks of 100 ns from the year 1 to 1970.
const EPOCH: i64 = 621_355_968_000_000_000;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Lines of JSON. Bags are objects.
    Ndjson,
    /// RFC 4180 with lines that end in LF. Bags are JSON.
    Csv,
    /// Times are nanoseconds since 1970 in UTC, bags JSON.
    Parquet,
}

/// A file that is being written. It gets its name when it is finished, and is removed if it is not.
pub(super) struct TableFile {
    path: PathBuf,
    temporary: PathBuf,
    table: Table,
    writer: Option<Writer>,
    items: u64,
}

enum Writer {
    Ndjson(BufWriter<File>),
    Csv(BufWriter<File>),
    Parquet(Box<ArrowWriter<File>>, SchemaRef),
}

impl TableFile {
    /// Begins a file with the columns of a table.
    pub(super) fn create(path: &Path, table: Table, format: Format) -> anyhow::Result<TableFile> {
        let mut name = path.as_os_str().to_owned();
        name.push(".tmp");
        let temporary = PathBuf::from(name);
        let file = File::create(&temporary)
            .with_context(|| format!("cannot create {}", temporary.display()))?;
        let writer = match format {
            Format::Ndjson => Writer::Ndjson(BufWriter::new(file)),
            Format::Csv => {
                let mut file = BufWriter::new(file);
                let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
                writeln!(file, "{}", names.join(","))?;
                Writer::Csv(file)
            }
            Format::Parquet => {
                let fields = table.columns().iter().map(field);
                let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression);
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties.build()))?;
                Writer::Parquet(Box::new(writer), schema)
            }
        };
        Ok(TableFile {
            path: path.to_owned(),
            temporary,
            table,
            writer: Some(writer),
            items: 0,
        })
    }

    /// Items that were written.
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    /// Writes the rows of a page.
    pub(super) fn write(&mut self, page: &ReplyTable) -> anyhow::Result<()> {
        let columns = self.table.columns();
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            let place = page.index(column.name);
            places.push(place.with_context(|| {
                format!(
                    "the reply has no column '{}' of {}",
                    column.name, self.table
                )
            })?);
        }
        if page.columns.len() > columns.len() {
            let known = |name: &str| columns.iter().any(|column| column.name == name);
            let other = page.columns.iter().find(|column| !known(&column.name));
            let name = other.map_or("?", |column| column.name.as_str());
            bail!("the column '{name}' of {} is not known", self.table);
        }
        let rows = Rows {
            columns,
            places,
            page,
        };
        match self.writer.as_mut().context("the file is finished")? {
            Writer::Ndjson(file) => rows.ndjson(file)?,
            Writer::Csv(file) => rows.csv(file)?,
            Writer::Parquet(writer, schema) => writer.write(&rows.batch(schema)?)?,
        }
        self.items += page.rows.len() as u64;
        Ok(())
    }

    /// Gives the file its name; returns the number of items.
    pub(super) fn finish(mut self) -> anyhow::Result<u64> {
        let file = match self.writer.take().context("the file is finished")? {
            Writer::Ndjson(file) | Writer::Csv(file) => file.into_inner()?,
            Writer::Parquet(writer, _) => writer.into_inner()?,
        };
        file.sync_all()?;
        std::fs::rename(&self.temporary, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.items)
    }
}

impl Drop for TableFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // An unfinished file is of no use.
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// The rows of a page.
struct Rows<'p> {
    columns: &'static [Column],
    /// The place of each column in a row.
    places: Vec<usize>,
    page: &'p ReplyTable,
}

impl Rows<'_> {
    /// The value of a column as JSON; bags are objects. `null` where there is none.
    fn value(&self, column: usize, row: &[Box<RawValue>]) -> anyhow::Result<String> {
        let place = self.places.get(column);
        let value = place.and_then(|place| row.get(*place));
        let raw = value.map_or("null", |value| value.get());
        let kind = self.columns.get(column).map(|column| column.scalar_type);
        if kind != Some(ScalarType::Dynamic) || !raw.starts_with('"') {
            return Ok(raw.to_owned());
        }
        let text: String = serde_json::from_str(raw)?;
        Ok(if text.is_empty() {
            "null".to_owned()
        } else {
            text
        })
    }

    /// The value of a column as text; nothing for null.
    fn text(&self, column: usize, row: &[Box<RawValue>]) -> anyhow::Result<Option<String>> {
        let value = self.value(column, row)?;
        Ok(match value.as_bytes().first() {
            _ if value == "null" => None,
            Some(b'"') => Some(serde_json::from_str(&value)?),
            _ => Some(value),
        })
    }

    fn ndjson(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut line = String::new();
        for row in &self.page.rows {
            line.clear();
            for (index, column) in self.columns.iter().enumerate() {
                line.push(if index == 0 { '{' } else { ',' });
                json::key(column.name, &mut line);
                line += &self.value(index, row)?;
            }
            line += "}\n";
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn csv(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut line = String::new();
        for row in &self.page.rows {
            line.clear();
            for index in 0..self.columns.len() {
                if index > 0 {
                    line.push(',');
                }
                let text = self.text(index, row)?.unwrap_or_default();
                if text.contains([',', '"', '\n', '\r']) {
                    line.push('"');
                    line += &text.replace('"', "\"\"");
                    line.push('"');
                } else {
                    line += &text;
                }
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn batch(&self, schema: &SchemaRef) -> anyhow::Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            arrays.push(self.array(index, column)?);
        }
        Ok(RecordBatch::try_new(schema.clone(), arrays)?)
    }

    fn array(&self, index: usize, column: &Column) -> anyhow::Result<ArrayRef> {
        let bad =
            |text: &str| format!("'{text}' is no {} of '{}'", column.scalar_type, column.name);
        macro_rules! filled {
            ($builder:expr, $parse:expr) => {{
                let mut builder = $builder;
                for row in &self.page.rows {
                    let text = self.text(index, row)?;
                    let value = text.map(|text| $parse(&text).with_context(|| bad(&text)));
                    builder.append_option(value.transpose()?);
                }
                Arc::new(builder.finish())
            }};
        }
        Ok(match column.scalar_type {
            ScalarType::DateTime => filled!(
                TimestampNanosecondBuilder::new().with_timezone("UTC"),
                |text: &str| datetime::parse(text)?.checked_sub(EPOCH)?.checked_mul(100)
            ),
            ScalarType::Int => filled!(Int32Builder::new(), |text: &str| text.parse().ok()),
            ScalarType::Long => filled!(Int64Builder::new(), |text: &str| text.parse().ok()),
            ScalarType::Real => filled!(Float64Builder::new(), |text: &str| match text {
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                text => text.parse().ok(),
            }),
            _ => filled!(StringBuilder::new(), |text: &str| Some(text.to_owned())),
        })
    }
}

/// The field of a column in a Parquet file.
fn field(column: &Column) -> Field {
    let kind = match column.scalar_type {
        ScalarType::DateTime => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        ScalarType::Int => DataType::Int32,
        ScalarType::Long => DataType::Int64,
        ScalarType::Real => DataType::Float64,
        _ => DataType::Utf8,
    };
    Field::new(column.name, kind, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{Float64Type, Int32Type, TimestampNanosecondType};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::{Value, json};

    /// A page with two requests: one with values, and one without.
    fn page() -> ReplyTable {
        let columns = Table::Requests.columns();
        let names = columns.iter().map(|column| json!({ "name": column.name }));
        let value = |name: &str, row: usize| match (name, row) {
            ("timestamp", 0) => json!("2024-05-06T07:08:09.1234567Z"),
            ("timestamp", _) => json!("2024-05-06T07:08:09Z"),
            ("name", 0) => json!("GET \"/\", twice\n"),
            ("duration", 0) => json!(0.1),
            ("itemCount", 0) => json!(3),
            ("customDimensions", 0) => json!("{\"b\":\"1\",\"a\":\"x\"}"),
            ("duration" | "itemCount", _) => Value::Null,
            _ => json!(""),
        };
        let row = |row| columns.iter().map(move |column| value(column.name, row));
        let rows = [row(0).collect::<Value>(), row(1).collect()];
        let table = json!({ "name": "t", "columns": names.collect::<Value>(), "rows": rows });
        // From a text: values in their raw form are not made of others.
        serde_json::from_str(&table.to_string()).unwrap()
    }

    fn written(folder: &Path, format: Format) -> PathBuf {
        let path = folder.join("out");
        let mut file = TableFile::create(&path, Table::Requests, format).unwrap();
        file.write(&page()).unwrap();
        assert!(!path.exists(), "a file has its name when it is whole");
        assert_eq!(file.finish().unwrap(), 2);
        path
    }

    #[test]
    fn lines_have_exact_values() {
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(written(folder.path(), Format::Ndjson)).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert!(!text.contains('\r'));
        assert_eq!(lines[0]["timestamp"], "2024-05-06T07:08:09.1234567Z");
        assert_eq!(lines[0]["customDimensions"], json!({"b": "1", "a": "x"}));
        assert_eq!(lines[1]["customDimensions"], Value::Null);
        assert_eq!(
            (&lines[0]["duration"], &lines[1]["duration"]),
            (&json!(0.1), &Value::Null)
        );
    }

    #[test]
    fn csv_quotes_what_needs_it_and_ends_lines_with_lf() {
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read_to_string(written(folder.path(), Format::Csv)).unwrap();
        assert!(text.starts_with("timestamp,id,source,name,url,"));
        assert!(text.contains("2024-05-06T07:08:09.1234567Z,,,\"GET \"\"/\"\", twice\n\",,,,0.1,"));
        assert!(text.contains(",\"{\"\"b\"\":\"\"1\"\",\"\"a\"\":\"\"x\"\"}\","));
        assert!(!text.contains('\r') && text.ends_with('\n'));
    }

    #[test]
    fn parquet_has_times_in_utc_and_numbers_of_their_types() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::open(written(folder.path(), Format::Parquet)).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap();
        let times = column("timestamp").as_primitive::<TimestampNanosecondType>();
        assert_eq!(times.timezone(), Some("UTC"));
        assert_eq!(times.value(0), 1_714_979_289_123_456_700);
        let durations = column("duration").as_primitive::<Float64Type>();
        assert_eq!((durations.value(0), durations.is_null(1)), (0.1, true));
        let counts = column("itemCount").as_primitive::<Int32Type>();
        assert_eq!((counts.value(0), counts.is_null(1)), (3, true));
        let bags = column("customDimensions").as_string::<i32>();
        assert_eq!(bags.value(0), "{\"b\":\"1\",\"a\":\"x\"}");
        assert!(bags.is_null(1));
    }

    #[test]
    fn an_unfinished_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        drop(TableFile::create(&path, Table::Requests, Format::Csv).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
