//! Reads the whole file of a segment and says what is wrong with it.

use std::io::Read;
use std::path::Path;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use uuid::Uuid;

use super::Segment;
use super::checksums::{ChecksumWriter, Checksums};
use super::description::Description;
use super::raw_file::RawFile;
use crate::batch::application;
use crate::error::{Result, StoreError};
use crate::vfs::Vfs;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// A file that was read to its end.
#[derive(Debug)]
pub(crate) struct WholeFile {
    pub(crate) bytes: u64,
    pub(crate) checksums: Checksums,
}

/// Reads a file to its end; `progress` is told of each number of bytes.
pub(crate) fn read_whole(
    vfs: &dyn Vfs,
    path: &Path,
    progress: &dyn Fn(u64),
) -> std::io::Result<WholeFile> {
    let mut file = RawFile::open(vfs, path)?.from(0);
    let mut buffer = vec![0; CHUNK];
    let mut sums = ChecksumWriter::default();
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(WholeFile {
                bytes,
                checksums: sums.finish(),
            });
        }
        sums.update(buffer.get(..read).unwrap_or_default());
        bytes += read as u64;
        progress(read as u64);
    }
}

/// The checksum of the whole file that the name of a segment's file ends in; older names have none.
pub(crate) fn named_checksum(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    let mut parts = stem.split('-').skip(2);
    let sum = parts.next().filter(|sum| sum.len() == 8)?;
    u32::from_str_radix(sum, 16).ok()
}

/// The footer of a file.
pub(crate) fn read_footer(vfs: &dyn Vfs, path: &Path) -> Result<ParquetMetaData, String> {
    let text = |error: &dyn std::fmt::Display| format!("its footer does not parse: {error}");
    let file = RawFile::open(vfs, path).map_err(|error| text(&error))?;
    ParquetMetaDataReader::new()
        .parse_and_finish(&file)
        .map_err(|error| text(&error))
}

/// Decodes every page of a file that has no checksums.
pub(crate) fn decode(vfs: &dyn Vfs, path: &Path) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| format!("it does not decode: {error}");
    let file = RawFile::open(vfs, path).map_err(|error| text(&error))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| text(&error))?;
    for batch in reader {
        batch.map_err(|error| text(&error))?;
    }
    Ok(())
}

/// Name and instrumentation key of the application in the first row of a file; `None` where it does not say both.
pub(crate) fn first_application(vfs: &dyn Vfs, path: &Path) -> Option<(String, Uuid)> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(RawFile::open(vfs, path).ok()?).ok()?;
    let schema = builder.parquet_schema();
    let columns = ProjectionMask::columns(schema, ["iKey", "appName"]);
    let mut reader = builder
        .with_projection(columns)
        .with_limit(1)
        .build()
        .ok()?;
    application(&reader.next()?.ok()?)
}

/// What is wrong with the file of a segment that lies at `path`; `None` if it is as it was written.
///
/// # Errors
/// [`StoreError::Io`] where the file cannot be read for another reason than its absence.
pub(crate) fn damage_of(
    segment: &Segment,
    path: &Path,
    progress: &dyn Fn(u64),
) -> Result<Option<String>> {
    let whole = match read_whole(segment.vfs(), path, progress) {
        Ok(whole) => whole,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Some("missing".to_owned()));
        }
        Err(error) => return Err(StoreError::io("read", path)(error)),
    };
    Ok(compare(segment, path, &whole).err())
}

fn compare(segment: &Segment, path: &Path, whole: &WholeFile) -> Result<(), String> {
    let record = &segment.record;
    if whole.bytes != record.bytes {
        return Err(length_differs(whole.bytes, record.bytes));
    }
    let sum = whole.checksums.of_file(whole.bytes);
    if named_checksum(path).is_some_and(|due| due != sum) && record.checksums.is_none() {
        return Err("it does not have the checksum in its name".to_owned());
    }
    match &record.checksums {
        Some(due) => {
            if let Some(offset) = due.first_difference(&whole.checksums) {
                return Err(format!("damaged at byte {offset}"));
            }
        }
        None => decode(segment.vfs(), path)?,
    }
    match Description::of(&read_footer(segment.vfs(), path)?)?.difference(record) {
        None => Ok(()),
        Some(what) => Err(format!(
            "the {what} in its footer is not that of the catalogue"
        )),
    }
}

/// What is wrong with a file of another size than the catalogue says.
pub(crate) fn length_differs(found: u64, due: u64) -> String {
    format!("it has {found} bytes and the catalogue says {due}")
}
