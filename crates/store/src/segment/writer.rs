//! Writes one segment: a temporary file, synced, then renamed.
//!
//! `timestamp` is stored as plain 64-bit ticks, not as a Parquet TIMESTAMP: a scan then converts nothing, filters in
//! ticks prune row groups and pages directly, and years 1 to 9999 fit (nanoseconds reach 1677 to 2262 only). Other
//! readers subtract 621,355,968,000,000,000 and divide by 10 to get microseconds since 1970.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use parking_lot::Mutex;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::block_filters::BlockFiltersBuilder;
use super::checksums::ChecksumWriter;
use super::covers::Covers;
use super::{LOOKUP_COLUMNS, PAGE_ROWS, text_index, value_index};
use crate::app_id::AppId;
use crate::batch::time_range;
use crate::catalogue::SegmentRecord;
use crate::error::{Result, StoreError};
use crate::ids::time_ordered_id;
use crate::objects::SegmentObjects;
use crate::promote::{PromotionRule, Shredder};
use crate::schema::{TIMESTAMP, Table};
use crate::store_id::StoreId;
use crate::vfs::{Vfs, WriteFile};

/// Columns whose values hardly ever repeat, or in neighbouring rows only: to read one row would take a dictionary that is as large as the values.
const UNIQUE_COLUMNS: [&str; 4] = ["id", "itemId", "operation_Id", "operation_ParentId"];
/// Columns of which neighbouring rows have the same few values. Their pages are a few hundred bytes, which zstd makes little smaller than LZ4, and
/// to read a page of one takes less time than to create a context of zstd.
const FEW_VALUES: [&str; 24] = [
    "_ResourceId",
    "appId",
    "appName",
    "application_Version",
    "client_Browser",
    "client_City",
    "client_CountryOrRegion",
    "client_Model",
    "client_OS",
    "client_StateOrProvince",
    "client_Type",
    "cloud_RoleInstance",
    "cloud_RoleName",
    "iKey",
    "itemCount",
    "itemType",
    "operation_SyntheticSource",
    "performanceBucket",
    "resultCode",
    "sdkVersion",
    "source",
    "success",
    "user_AccountId",
    "user_AuthenticatedId",
];
/// Columns of long texts. Where these repeat little, their dictionaries would be large, and to read one row takes the whole dictionary.
const LONG_TEXT_COLUMNS: [&str; 3] = ["url", "data", "message"];
/// Bytes of the dictionary of a column of long texts, beyond which its values are written as they are.
const LONG_TEXT_DICTIONARY: usize = 128 << 10;
/// Bytes of the dictionary of a column of numbers, likewise. Durations hardly ever repeat.
const NUMBER_DICTIONARY: usize = 32 << 10;
/// Bytes of a page of a column with an index of terms, before compression.
const TEXT_PAGE_BYTES: usize = 64 << 10;
/// What ends the name of a file that is being written.
pub(crate) const TEMPORARY: &str = "tmp";

/// How segments are written.
#[derive(Debug, Clone)]
pub(crate) struct SegmentSettings {
    /// The store that they belong to.
    pub(crate) store: StoreId,
    /// The folder of all segments.
    pub(crate) folder: PathBuf,
    pub(crate) vfs: Arc<dyn Vfs>,
    /// Where finished segments are uploaded to; `folder` is a cache then.
    pub(crate) objects: Option<Arc<SegmentObjects>>,
    pub(crate) row_group_rows: usize,
    pub(crate) zstd_level: i32,
    pub(crate) promotion: PromotionRule,
    /// Whether they get an index of terms.
    pub(crate) text_index: bool,
    /// Whether they get an index of values.
    pub(crate) value_index: bool,
    /// The folders of tables that survive a power failure.
    pub(crate) durable_folders: Arc<Mutex<HashSet<PathBuf>>>,
}

impl SegmentSettings {
    /// Makes finished segments durable where they belong, before the catalogue lists them: in an object store they are uploaded. Blocks.
    ///
    /// # Errors
    /// As [`SegmentObjects::upload`].
    pub(crate) fn publish(&self, records: &[SegmentRecord]) -> Result<()> {
        let Some(objects) = &self.objects else {
            return Ok(());
        };
        records.iter().try_for_each(|record| objects.upload(record))
    }

    /// Removes finished segments that the catalogue does not list: the disk may be full, and they are written again. Blocks.
    pub(crate) fn discard(&self, records: &[SegmentRecord]) {
        for record in records {
            match &self.objects {
                Some(objects) => objects.discard(record),
                None => self.remove_file(record),
            }
        }
    }

    /// As [`SegmentSettings::discard`], without a wait for the object store: objects are deleted later.
    pub(crate) fn remove_unlisted(&self, records: &[SegmentRecord]) {
        for record in records {
            match &self.objects {
                Some(objects) => objects.retire(record),
                None => self.remove_file(record),
            }
        }
    }

    fn remove_file(&self, record: &SegmentRecord) {
        let file = self.folder.join(&record.path);
        if let Err(error) = self.vfs.remove(&file) {
            tracing::warn!(file = %file.display(), %error, "a segment that is not listed stays, and the next start moves it to the quarantine");
        }
    }
}

/// Finished segments that the catalogue does not list. They are removed if this is dropped.
#[derive(Debug)]
pub(crate) struct Unlisted {
    settings: SegmentSettings,
    records: Vec<SegmentRecord>,
}

impl Unlisted {
    pub(crate) fn new(settings: SegmentSettings, records: Vec<SegmentRecord>) -> Unlisted {
        Unlisted { settings, records }
    }

    /// The segments, which the catalogue is about to list.
    pub(crate) fn into_records(mut self) -> Vec<SegmentRecord> {
        std::mem::take(&mut self.records)
    }
}

impl Drop for Unlisted {
    fn drop(&mut self) {
        self.settings.remove_unlisted(&self.records);
    }
}

/// What a new segment is of.
#[derive(Debug, Clone)]
pub(crate) struct SegmentFile {
    pub(crate) app: AppId,
    pub(crate) table: Table,
    /// Where its time begins, in hours since 0001-01-01; it only makes the file's name readable.
    pub(crate) hour: i64,
    pub(crate) level: u32,
    pub(crate) min_seq: u64,
    pub(crate) max_seq: u64,
    /// Which rows it holds; `None` if a source is of before segments said so.
    pub(crate) covers: Option<Covers>,
    /// Rows, as far as known: the bloom filters are sized by it.
    pub(crate) rows: usize,
    pub(crate) created: i64,
}

/// A segment that is being written. Batches must come in descending order of `timestamp`.
pub(crate) struct SegmentWriter {
    /// The folder of all segments.
    folder: PathBuf,
    writer: ArrowWriter<Output>,
    shredder: Shredder,
    /// The indexes, by the entry of the footer that says where they are.
    indexes: Vec<(&'static str, BlockFiltersBuilder)>,
    unfinished: Unfinished,
    record: SegmentRecord,
}

/// The file of a segment until it is durable: what is given up before is removed, because the disk may be full.
struct Unfinished {
    vfs: Arc<dyn Vfs>,
    temporary: PathBuf,
    /// Its final name, once it may be there.
    path: Option<PathBuf>,
    done: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.done {
            // The next start removes what is left.
            let _ = self.vfs.remove(&self.temporary);
            if let Some(path) = &self.path {
                let _ = self.vfs.remove(path);
            }
        }
    }
}

impl SegmentWriter {
    pub(crate) fn create(
        settings: &SegmentSettings,
        file: SegmentFile,
        shredder: Shredder,
    ) -> Result<SegmentWriter> {
        let below = format!("{}/{}", file.app, file.table.name());
        let folder = settings.folder.join(&below);
        create_folder(settings, &folder)?;
        let id = time_ordered_id(file.created);
        let name = format!("h{:08}-{}", file.hour, id.simple());
        let unfinished = Unfinished {
            vfs: settings.vfs.clone(),
            temporary: folder.join(format!("{name}.{TEMPORARY}")),
            path: None,
            done: false,
        };
        let temporary = &unfinished.temporary;
        let output = Output {
            file: settings
                .vfs
                .create(temporary)
                .map_err(StoreError::io("create", temporary))?,
            bytes: 0,
            checksums: ChecksumWriter::default(),
        };
        let text_index = settings.text_index.then(|| text_index::builder(file.table));
        let value_index = settings
            .value_index
            .then(|| value_index::builder(file.table));
        let indexes = [
            (text_index::ENTRY, text_index),
            (value_index::ENTRY, value_index),
        ];
        let indexes = indexes.into_iter();
        let indexes = indexes.filter_map(|(entry, index)| Some((entry, index.flatten()?)));
        let properties = properties(settings, &file, &shredder)?;
        let writer = ArrowWriter::try_new(output, shredder.schema(), Some(properties))?;
        let record = SegmentRecord {
            id: 0,
            app: file.app,
            table: file.table,
            path: format!("{below}/{name}"),
            rows: 0,
            bytes: 0,
            min_ts: i64::MAX,
            max_ts: i64::MIN,
            min_seq: file.min_seq,
            max_seq: file.max_seq,
            level: file.level,
            promoted: shredder.names(),
            created: file.created,
            checksums: None,
            damage: None,
            expired: None,
        };
        Ok(SegmentWriter {
            folder: settings.folder.clone(),
            writer,
            shredder,
            indexes: indexes.collect(),
            unfinished,
            record,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let (min, max) = time_range(batch);
        self.record.min_ts = self.record.min_ts.min(min);
        self.record.max_ts = self.record.max_ts.max(max);
        self.record.rows += batch.num_rows() as u64;
        for (_, index) in &mut self.indexes {
            index.add(batch);
        }
        Ok(self.writer.write(&self.shredder.shred(batch)?)?)
    }

    /// Makes the segment durable under its final name. The catalogue does not know it yet.
    pub(crate) fn finish(mut self) -> Result<SegmentRecord> {
        let mut record = self.record;
        if !self.indexes.is_empty() {
            // They lie behind the last row group.
            self.writer.flush()?;
        }
        for (name, index) in self.indexes {
            let offset = self.writer.bytes_written() as u64;
            let places = index
                .finish(offset, |bytes| self.writer.write_all(bytes))
                .map_err(ParquetError::from)?;
            self.writer.append_key_value_metadata(entry(name, places));
        }
        let mut output = self.writer.into_inner()?;
        output
            .file
            .sync()
            .map_err(StoreError::io("sync", &self.unfinished.temporary))?;
        record.bytes = output.bytes;
        let checksums = output.checksums.finish();
        // The name has the checksum of the whole file, so that a file can be verified without the catalogue.
        let ending = format!("-{:08x}.parquet", checksums.of_file(record.bytes));
        record.path.push_str(&ending);
        record.checksums = Some(checksums);
        drop(output.file);
        let path = self.folder.join(&record.path);
        self.unfinished.path = Some(path.clone());
        let Unfinished { vfs, temporary, .. } = &self.unfinished;
        vfs.rename(temporary, &path)
            .map_err(StoreError::io("rename", &path))?;
        if let Some(folder) = path.parent() {
            vfs.sync_dir(folder)
                .map_err(StoreError::io("sync", folder))?;
        }
        self.unfinished.done = true;
        Ok(record)
    }
}

/// Creates the folder of an application's table, and makes its name and those above it survive a power failure: a process that was
/// killed may have created them without that.
fn create_folder(settings: &SegmentSettings, folder: &Path) -> Result<()> {
    if settings.durable_folders.lock().contains(folder) {
        return Ok(());
    }
    let vfs = &settings.vfs;
    vfs.create_dir(folder)
        .map_err(StoreError::io("create", folder))?;
    for made in folder
        .ancestors()
        .skip(1)
        .take_while(|dir| dir.starts_with(&settings.folder))
    {
        vfs.sync_dir(made).map_err(StoreError::io("sync", made))?;
    }
    settings.durable_folders.lock().insert(folder.to_owned());
    Ok(())
}

fn properties(
    settings: &SegmentSettings,
    file: &SegmentFile,
    shredder: &Shredder,
) -> Result<WriterProperties> {
    let descending = SortingColumn {
        column_idx: 0,
        descending: true,
        nulls_first: false,
    };
    let promoted = serde_json::Value::from(shredder.names()).to_string();
    let mut metadata = vec![
        entry("store", settings.store.to_string()),
        entry("app", file.app.to_string()),
        entry("table", file.table.name().to_owned()),
        entry("level", file.level.to_string()),
        entry("min_seq", file.min_seq.to_string()),
        entry("max_seq", file.max_seq.to_string()),
        entry("created", file.created.to_string()),
        entry("promoted", promoted),
    ];
    metadata.extend(
        file.covers
            .as_ref()
            .map(|covers| entry("covers", covers.to_json())),
    );
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(settings.zstd_level)?))
        .set_max_row_group_row_count(Some(settings.row_group_rows))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_enabled(true)
        .set_sorting_columns(Some(vec![descending]))
        .set_key_value_metadata(Some(metadata));
    let timestamp = ColumnPath::from(TIMESTAMP);
    builder = builder
        .set_column_dictionary_enabled(timestamp.clone(), false)
        .set_column_encoding(timestamp, Encoding::DELTA_BINARY_PACKED);
    for bag in ["customDimensions", "customMeasurements", "details"] {
        // The smallest and largest byte string of a bag prune nothing.
        builder =
            builder.set_column_statistics_enabled(ColumnPath::from(bag), EnabledStatistics::None);
    }
    for field in shredder.schema().fields() {
        let name = ColumnPath::new(vec![field.name().clone()]);
        if *field.data_type() == DataType::Utf8View {
            // Rows are in the order of time, so the bounds of the texts of a page exclude next to nothing.
            builder = builder.set_column_statistics_enabled(name, EnabledStatistics::Chunk);
        } else if field.data_type().is_primitive() {
            builder = builder.set_column_dictionary_page_size_limit(name, NUMBER_DICTIONARY);
        }
    }
    for name in text_index::columns(file.table) {
        let name = ColumnPath::from(*name);
        builder = builder.set_column_data_page_size_limit(name, TEXT_PAGE_BYTES);
    }
    for name in LONG_TEXT_COLUMNS {
        let name = ColumnPath::from(name);
        builder = builder.set_column_dictionary_page_size_limit(name, LONG_TEXT_DICTIONARY);
    }
    for name in FEW_VALUES {
        let name = ColumnPath::from(name);
        builder = builder.set_column_compression(name, Compression::LZ4_RAW);
    }
    for name in UNIQUE_COLUMNS {
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(name), false);
    }
    let distinct = file.rows.clamp(1, settings.row_group_rows.max(1)) as u64;
    for name in LOOKUP_COLUMNS
        .iter()
        .filter(|name| file.table.column(name).is_some())
    {
        builder = builder
            .set_column_bloom_filter_enabled(ColumnPath::from(*name), true)
            .set_column_bloom_filter_fpp(ColumnPath::from(*name), 0.01)
            .set_column_bloom_filter_max_ndv(ColumnPath::from(*name), distinct);
    }
    Ok(builder.build())
}

/// An entry of the file's metadata. Together they say what the catalogue says of the segment.
fn entry(key: &str, value: String) -> KeyValue {
    KeyValue::new(format!("hindsight.{key}"), value)
}

/// The file under the Parquet writer, counted and summed.
struct Output {
    file: Box<dyn WriteFile>,
    bytes: u64,
    checksums: ChecksumWriter,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        self.checksums.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
