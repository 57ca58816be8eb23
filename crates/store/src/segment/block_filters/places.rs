//! Where the filters of a segment are, and what they say.

use std::collections::HashMap;
use std::ops::Range;

use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use serde_json::Value;

use super::filter::{BUCKET, bucket_of, may_have};
use crate::segment::RowParts;
use crate::segment::description::entry;
use crate::segment::filter_reader::FilterReader;

/// An index of a segment, without its filters.
#[derive(Debug)]
pub(in crate::segment) struct BlockFilters {
    /// Rows of the segment.
    rows: usize,
    /// Rows of a block.
    block_rows: usize,
    columns: HashMap<String, Vec<Section>>,
}

/// Where the filters of some blocks are.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    buckets: u64,
    blocks: u64,
}

impl BlockFilters {
    /// What an entry of a footer says of the index of a segment with this number of rows; `None` if there is none that fits.
    pub(in crate::segment) fn of(
        footer: &ParquetMetaData,
        key: &str,
        rows: u64,
    ) -> Option<BlockFilters> {
        let value: Value = serde_json::from_str(entry(footer, key)?).ok()?;
        let block_rows = value.get("block_rows")?.as_u64();
        let block_rows = block_rows.filter(|block_rows| *block_rows > 0)?;
        let blocks = rows.div_ceil(block_rows);
        let columns = value.get("columns")?.as_object()?.iter();
        let columns = columns.filter_map(|(name, sections)| {
            let sections = sections.as_array()?.iter().map(section);
            let sections: Vec<Section> = sections.collect::<Option<_>>()?;
            let all: u64 = sections.iter().map(|section| section.blocks).sum();
            (all == blocks).then(|| (name.clone(), sections))
        });
        Some(BlockFilters {
            rows: usize::try_from(rows).ok()?,
            block_rows: usize::try_from(block_rows).ok()?,
            columns: columns.collect(),
        })
    }

    /// Whether a column has filters.
    pub(in crate::segment) fn has_column(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }

    /// Whether each block is wanted, by the range of its rows, and may have one of `hashes` in a column; `None` if the column has no filters.
    /// Sections of which no block is wanted are not read.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged there.
    pub(in crate::segment) fn blocks_with(
        &self,
        column: &str,
        hashes: &[u64],
        is_wanted: impl Fn(Range<usize>) -> bool,
        filters: &FilterReader<'_>,
    ) -> Result<Option<Vec<bool>>> {
        let Some(sections) = self.columns.get(column) else {
            return Ok(None);
        };
        let mut found = Vec::new();
        for section in sections {
            let (begin, blocks) = (found.len(), usize::try_from(section.blocks)?);
            let wanted = (begin..begin + blocks).map(|block| is_wanted(self.rows_of(block)));
            found.extend(wanted);
            let own = found.get_mut(begin..).unwrap_or_default();
            if own.contains(&true) {
                section.leave_out_without(hashes, filters, own)?;
            }
        }
        Ok(Some(found))
    }

    fn rows_of(&self, block: usize) -> Range<usize> {
        let first = block.saturating_mul(self.block_rows);
        first..first.saturating_add(self.block_rows).min(self.rows)
    }

    /// The rows of blocks.
    pub(in crate::segment) fn parts(&self, blocks: Vec<bool>) -> RowParts {
        let mut left = self.rows;
        let part = |matches: bool| {
            let rows = left.min(self.block_rows);
            left -= rows;
            (rows, matches)
        };
        RowParts(blocks.into_iter().map(part).collect())
    }
}

impl Section {
    /// Sets those of its blocks to false that do not have one of `hashes`.
    fn leave_out_without(
        &self,
        hashes: &[u64],
        filters: &FilterReader<'_>,
        blocks: &mut [bool],
    ) -> Result<()> {
        let buckets = usize::try_from(self.buckets)?;
        // The buckets of one number.
        let row = self.blocks.saturating_mul(BUCKET as u64);
        let place = |hash: u64| (bucket_of(hash, buckets) as u64).saturating_mul(row);
        let read = |from: u64, length: u64| {
            let from = self.offset.saturating_add(from);
            filters.read(&(from..from.saturating_add(length)))
        };
        let mut found = vec![false; blocks.len()];
        let mut look = |hash: u64, bytes: &[u8]| {
            for (block, bucket) in found.iter_mut().zip(bytes.chunks(BUCKET)) {
                *block |= may_have(bucket, hash);
            }
        };
        if let [hash] = *hashes {
            look(hash, &read(place(hash), row)?);
        } else {
            let all = read(0, row.saturating_mul(self.buckets))?;
            for hash in hashes {
                let from = usize::try_from(place(*hash))?;
                let bytes = all.get(from..from + usize::try_from(row)?);
                look(*hash, bytes.unwrap_or_default());
            }
        }
        for (block, found) in blocks.iter_mut().zip(found) {
            *block &= found;
        }
        Ok(())
    }
}

fn section(value: &Value) -> Option<Section> {
    match value.as_array()?.as_slice() {
        [offset, buckets, blocks] => Some(Section {
            offset: offset.as_u64()?,
            buckets: buckets.as_u64().filter(|buckets| *buckets > 0)?,
            blocks: blocks.as_u64()?,
        }),
        _ => None,
    }
}
