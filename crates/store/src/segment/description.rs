//! What the footer of a segment's file says of the segment.

use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;

use super::Covers;
use crate::app_id::AppId;
use crate::catalogue::SegmentRecord;
use crate::clock::hour_of;
use crate::schema::Table;
use crate::store_id::StoreId;

/// What a footer says. It is enough to list the segment in a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    /// `None` in segments of before stores had identities.
    pub(crate) store: Option<StoreId>,
    pub(crate) app: AppId,
    pub(crate) table: Table,
    pub(crate) level: u32,
    pub(crate) rows: u64,
    pub(crate) min_ts: i64,
    pub(crate) max_ts: i64,
    pub(crate) min_seq: u64,
    pub(crate) max_seq: u64,
    pub(crate) created: i64,
    pub(crate) promoted: Vec<String>,
    /// `None` in merged segments of before footers said so.
    pub(crate) covers: Option<Covers>,
}

impl Description {
    /// Reads a footer.
    ///
    /// # Errors
    /// A sentence that says what is missing: it is not the footer of a segment.
    pub(crate) fn of(footer: &ParquetMetaData) -> Result<Description, String> {
        let number = |key: &str| parsed::<u64>(footer, key);
        let (min_ts, max_ts) = time_range(footer)?;
        let (level, min_seq, max_seq) = (
            parsed(footer, "level")?,
            number("min_seq")?,
            number("max_seq")?,
        );
        let promoted: serde_json::Value = parsed(footer, "promoted")?;
        let promoted = promoted.as_array().into_iter().flatten();
        let table: String = parsed(footer, "table")?;
        Ok(Description {
            store: entry(footer, "store")
                .map(|id| id.parse().map_err(|_| unreadable("store")))
                .transpose()?,
            app: parsed(footer, "app")?,
            table: Table::from_name(&table).ok_or_else(|| unreadable("table"))?,
            level,
            rows: u64::try_from(footer.file_metadata().num_rows())
                .map_err(|_| "its footer has a negative number of rows".to_owned())?,
            min_ts,
            max_ts,
            min_seq,
            max_seq,
            created: parsed(footer, "created")?,
            promoted: promoted
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            covers: covers(footer, level, (min_ts, max_ts), (min_seq, max_seq)),
        })
    }

    /// The first difference from what the catalogue says of the segment.
    pub(crate) fn difference(&self, record: &SegmentRecord) -> Option<&'static str> {
        let same = [
            ("application", self.app == record.app),
            ("table", self.table == record.table),
            ("level", self.level == record.level),
            ("number of rows", self.rows == record.rows),
            (
                "range of times",
                (self.min_ts, self.max_ts) == (record.min_ts, record.max_ts),
            ),
            (
                "range of sequence numbers",
                (self.min_seq, self.max_seq) == (record.min_seq, record.max_seq),
            ),
            ("time of creation", self.created == record.created),
            ("list of promoted columns", self.promoted == record.promoted),
        ];
        same.into_iter()
            .find(|(_, same)| !same)
            .map(|(what, _)| what)
    }
}

/// Which rows the segment of a footer holds; `None` for a merged segment of before footers said so.
pub(super) fn covers_in(footer: &ParquetMetaData, record: &SegmentRecord) -> Option<Covers> {
    let times = (record.min_ts, record.max_ts);
    covers(
        footer,
        record.level,
        times,
        (record.min_seq, record.max_seq),
    )
}

/// What the entry says; a sealed segment without it is of one hour and has all rows of its sequence numbers.
fn covers(
    footer: &ParquetMetaData,
    level: u32,
    (min_ts, max_ts): (i64, i64),
    (min_seq, max_seq): (u64, u64),
) -> Option<Covers> {
    if let Some(text) = entry(footer, "covers") {
        return Covers::from_json(text);
    }
    let hour = hour_of(min_ts);
    (level == 0 && hour == hour_of(max_ts)).then(|| Covers::of(hour, min_seq, max_seq))
}

/// An entry of the file's metadata.
pub(super) fn entry<'a>(footer: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let entries = footer.file_metadata().key_value_metadata()?;
    let entry = entries
        .iter()
        .find(|entry| entry.key.strip_prefix("hindsight.") == Some(key))?;
    entry.value.as_deref()
}

fn parsed<T: std::str::FromStr>(footer: &ParquetMetaData, key: &str) -> Result<T, String> {
    let text = entry(footer, key).ok_or_else(|| format!("its footer has no 'hindsight.{key}'"))?;
    text.parse().map_err(|_| unreadable(key))
}

fn unreadable(key: &str) -> String {
    format!("its footer has a 'hindsight.{key}' that cannot be read")
}

/// The smallest and largest timestamp, from the statistics of the first column.
fn time_range(footer: &ParquetMetaData) -> Result<(i64, i64), String> {
    let missing = || "its footer has no statistics of timestamps".to_owned();
    let (mut from, mut to) = (i64::MAX, i64::MIN);
    for group in footer.row_groups() {
        let column = group.columns().first().ok_or_else(missing)?;
        let Some(Statistics::Int64(times)) = column.statistics() else {
            return Err(missing());
        };
        from = from.min(*times.min_opt().ok_or_else(missing)?);
        to = to.max(*times.max_opt().ok_or_else(missing)?);
    }
    Ok((from, to))
}
