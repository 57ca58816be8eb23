//! The index of values: which blocks of rows of a segment may have a value in a column that single records are looked up by.
//!
//! Parquet's Bloom filters tell which row groups may have the value. In these, one block of a hundred has it, and others seem to: only
//! their pages are decoded. `FORMAT.md` ("Value index") has the layout.

use std::ops::Range;

use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;

use super::block_filters::{BlockFilters, BlockFiltersBuilder, Layout};
use super::filter_reader::FilterReader;
use super::lookup::{LOOKUP_COLUMNS, Lookup, hash};
use super::{PAGE_ROWS, RowParts};
use crate::schema::Table;

/// The name of the entry of the footer, without `hindsight.`.
pub(super) const ENTRY: &str = "value_index";

const LAYOUT: Layout = Layout {
    // A page is the least that is read of a column.
    block_rows: PAGE_ROWS,
    section_blocks: 64,
    // About one in forty other values seems to be there: in one or two blocks of a row group.
    bits: 8,
    hashes: |text, hashes| hashes.push(hash(text)),
};

/// Builds the index of a segment of `table`; `None` if the table has no column with it.
pub(super) fn builder(table: Table) -> Option<BlockFiltersBuilder> {
    let columns = LOOKUP_COLUMNS.into_iter();
    BlockFiltersBuilder::new(LAYOUT, columns.filter(|name| table.column(name).is_some()))
}

/// The index of a segment.
#[derive(Debug)]
pub(super) struct ValueIndex(BlockFilters);

impl ValueIndex {
    /// What a footer says of the index of a segment with this number of rows; `None` if there is none that fits.
    pub(super) fn of(footer: &ParquetMetaData, rows: u64) -> Option<ValueIndex> {
        BlockFilters::of(footer, ENTRY, rows).map(ValueIndex)
    }

    /// The blocks, and whether each may have a row of `within` that passes all of `lookups`; `None` if the index does not tell.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged there.
    pub(super) fn rows_with(
        &self,
        lookups: &[Lookup],
        within: &RowParts,
        filters: &FilterReader<'_>,
    ) -> Result<Option<RowParts>> {
        let wanted = within.ranges();
        let is_wanted = |rows: Range<usize>| {
            let mut wanted = wanted.iter();
            wanted.any(|range| range.start < rows.end && rows.start < range.end)
        };
        let mut all: Option<Vec<bool>> = None;
        for lookup in lookups {
            let hashes: Vec<u64> = lookup.values.iter().map(|value| hash(value)).collect();
            let blocks = self
                .0
                .blocks_with(&lookup.column, &hashes, is_wanted, filters)?;
            let Some(blocks) = blocks else { continue };
            match &mut all {
                Some(all) => all
                    .iter_mut()
                    .zip(blocks)
                    .for_each(|(one, two)| *one &= two),
                None => all = Some(blocks),
            }
        }
        Ok(all.map(|blocks| self.0.parts(blocks)))
    }
}
