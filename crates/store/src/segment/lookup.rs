//! Looks single values up in the Bloom filters of a segment's row groups.
//!
//! The query engine reads whole filters, a hundred kilobytes for each row group. A value has its bits in one bucket, so this reads
//! the block of the file that has it, before the segment is opened for anything else.

use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use xxhash_rust::xxh64::xxh64;

use super::block_filters::filter::{BUCKET, bucket_of, may_have};
use super::filter_reader::FilterReader;
use super::row_parts::RowParts;

/// Columns that single records are looked up by. They have Bloom filters and the index of values.
pub(crate) const LOOKUP_COLUMNS: [&str; 3] = ["id", "operation_Id", "itemId"];

/// Values of which a column must have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lookup {
    /// The column.
    pub(crate) column: String,
    /// The texts.
    pub(crate) values: Vec<String>,
}

/// The hash of a value, that of Parquet's Bloom filters. The index of values has it too: it is part of the format.
pub(super) fn hash(value: &str) -> u64 {
    xxh64(value.as_bytes(), 0)
}

/// The row groups of a file, and whether each may have a row that passes all of `lookups`.
///
/// # Errors
/// The file cannot be read, or is damaged there.
pub(super) fn row_groups_with(
    lookups: &[Lookup],
    footer: &ParquetMetaData,
    filters: &FilterReader<'_>,
) -> Result<RowParts> {
    let columns = footer.file_metadata().schema_descr().columns();
    let place = |lookup: &Lookup| columns.iter().position(|c| c.name() == lookup.column);
    let lookups: Vec<(usize, Vec<u64>)> = lookups
        .iter()
        .filter_map(|lookup| {
            let hashes = lookup.values.iter().map(|text| hash(text));
            Some((place(lookup)?, hashes.collect()))
        })
        .collect();
    let mut parts = Vec::with_capacity(footer.num_row_groups());
    for group in footer.row_groups() {
        let mut matches = true;
        for (column, hashes) in &lookups {
            matches = matches && may_have_one(group.column(*column), hashes, filters)?;
        }
        parts.push((usize::try_from(group.num_rows())?, matches));
    }
    Ok(RowParts(parts))
}

/// Whether the filter of a column does not exclude all of the hashes; `true` if there is none that can be read.
fn may_have_one(
    column: &ColumnChunkMetaData,
    hashes: &[u64],
    filters: &FilterReader<'_>,
) -> Result<bool> {
    let offset = column.bloom_filter_offset().map(u64::try_from);
    let length = column.bloom_filter_length().map(u64::try_from);
    let (Some(Ok(offset)), Some(Ok(length))) = (offset, length) else {
        return Ok(true);
    };
    let Some(size) = filter_size(length) else {
        return Ok(true);
    };
    let begin = offset.saturating_add(length - size);
    let buckets = usize::try_from(size)? / BUCKET;
    for hash in hashes {
        let from = begin.saturating_add((bucket_of(*hash, buckets) * BUCKET) as u64);
        let bucket = filters.read(&(from..from.saturating_add(BUCKET as u64)))?;
        if may_have(&bucket, *hash) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The bytes of the buckets of a filter, which with its header has `length` bytes. Buckets have 32 bytes each, and the header has fewer
/// (15 to 19: a Thrift structure of a number and three empty unions), so it need not be read.
fn filter_size(length: u64) -> Option<u64> {
    let header = length % BUCKET as u64;
    let size = length - header;
    (header > 0 && size > 0).then_some(size)
}

#[cfg(test)]
mod tests {
    use parquet::bloom_filter::Sbbf;

    use super::*;

    #[test]
    fn filters_are_read_as_parquet_writes_them() {
        let mut filter = Sbbf::new_with_ndv_fpp(1000, 0.01).expect("a filter");
        (0..1000).for_each(|n| filter.insert(format!("id-{n}").as_str()));
        let mut written = Vec::new();
        filter.write(&mut written).expect("it is written");
        let length = written.len() as u64;
        let size = filter_size(length).expect("it has a header and buckets");
        let buckets = &written[usize::try_from(length - size).expect("a size")..];
        let count = buckets.len() / BUCKET;
        let (mut found, mut others) = (0, 0);
        for n in 0..20_000 {
            let text = format!("id-{n}");
            let hash = hash(&text);
            let at = bucket_of(hash, count) * BUCKET;
            let has = may_have(&buckets[at..at + BUCKET], hash);
            assert_eq!(has, filter.check(text.as_str()), "{text}");
            *if n < 1000 { &mut found } else { &mut others } += usize::from(has);
        }
        assert!(found == 1000 && others < 1000, "{found} {others}");
        assert_eq!(filter_size(10), None, "no bucket");
        assert_eq!(filter_size(64), None, "no header");
        assert_eq!(filter_size(79), Some(64));
    }
}
