//! What is kept of a segment's footer: its row groups, and how large its columns are.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use super::cache::{FileColumn, RowGroup};
use crate::schema::TIMESTAMP;

/// Bytes of a row in the file, before compression, beyond which a column is not decoded to be kept: a text of twelve bytes with its length,
/// which a view holds in itself.
const MAX_FILE_ROW_BYTES: i64 = 16;

/// The row groups and the columns of a segment.
pub(super) fn footer_facts(metadata: &ArrowReaderMetadata) -> (Arc<[RowGroup]>, Vec<FileColumn>) {
    let footer = metadata.metadata();
    let groups = row_groups(metadata).into();
    let column = |field: &Arc<Field>| FileColumn {
        name: field.name().clone(),
        data_type: field.data_type().clone(),
        too_large: is_large(field, footer),
        bytes: bytes_of(field, footer),
    };
    let columns = metadata.schema().fields().iter().map(column).collect();
    (groups, columns)
}

/// The row groups of a segment.
pub(super) fn row_groups(metadata: &ArrowReaderMetadata) -> Vec<RowGroup> {
    let footer = metadata.metadata();
    footer.row_groups().iter().map(row_group).collect()
}

/// Where a row group lies, and the times of its rows.
fn row_group(group: &RowGroupMetaData) -> RowGroup {
    let first = group.columns().first();
    let offset = first.map_or(0, |column| {
        column
            .dictionary_page_offset()
            .unwrap_or_else(|| column.data_page_offset())
    });
    let mut columns = group.columns().iter();
    let time = columns.find(|column| column.column_path().string() == TIMESTAMP);
    let bounds = match time.and_then(|column| column.statistics()) {
        Some(Statistics::Int64(times)) => times.min_opt().zip(times.max_opt()),
        _ => None,
    };
    let (min_ts, max_ts) = bounds.map_or((i64::MIN, i64::MAX), |(min, max)| (*min, *max));
    RowGroup {
        rows: usize::try_from(group.num_rows()).unwrap_or(0),
        offset: u64::try_from(offset).unwrap_or(0),
        min_ts,
        max_ts,
    }
}

/// Bytes of a column before compression.
fn bytes_of(field: &Field, footer: &ParquetMetaData) -> u64 {
    let columns = footer.row_groups().iter().flat_map(|group| group.columns());
    let of_field = columns.filter(|column| {
        let root = column.column_path().parts().first();
        root.is_some_and(|root| root == field.name())
    });
    let bytes = of_field.map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(0));
    bytes.sum()
}

/// Whether a column takes too much memory, by its size in the file. Texts that repeat are small there too.
fn is_large(field: &Field, footer: &ParquetMetaData) -> bool {
    *field.data_type() == DataType::BinaryView
        || footer.row_groups().iter().any(|group| {
            let mut columns = group.columns().iter();
            let column = columns.find(|column| {
                let path = column.column_path().parts();
                path.first().is_some_and(|root| root == field.name())
            });
            column.is_none_or(|column| {
                // What has a bloom filter is looked up in it.
                column.bloom_filter_offset().is_some()
                    || column.uncompressed_size() > MAX_FILE_ROW_BYTES * group.num_rows().max(64)
            })
        })
}
