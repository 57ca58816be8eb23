//! The index of terms: which blocks of rows of a segment may have a term in the text of a column. `FORMAT.md` ("Term index") has the
//! layout.

use hindsight_kql_types::terms::{TermCondition, fold_text, terms};
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;

use super::RowParts;
use super::block_filters::{BlockFilters, BlockFiltersBuilder, Layout};
use super::filter_reader::FilterReader;
use crate::schema::Table;

/// The name of the entry of the footer, without `hindsight.`.
pub(super) const ENTRY: &str = "text_index";

const LAYOUT: Layout = Layout {
    // Those of half a page of other columns.
    block_rows: 1024,
    section_blocks: 64,
    // About one in five hundred other terms seems to be there.
    bits: 16,
    hashes: |text, hashes| {
        let folded = fold_text(text);
        hashes.extend(terms(&folded).map(|(_, term)| hash(term)));
    },
};

/// The columns of a table that have the index: those with texts that people write and search for words.
pub(super) fn columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Traces => &["message"],
        Table::Exceptions => &["message", "outerMessage", "innermostMessage"],
        _ => &[],
    }
}

/// Builds the index of a segment of `table`; `None` if the table has no column with it.
pub(super) fn builder(table: Table) -> Option<BlockFiltersBuilder> {
    BlockFiltersBuilder::new(LAYOUT, columns(table).iter().copied())
}

/// The hash of a folded term: FNV-1a over its bytes, mixed so that all bits depend on all bytes. It is part of the format.
fn hash(term: &str) -> u64 {
    let fnv = term.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// The index of a segment.
#[derive(Debug)]
pub(super) struct TextIndex(BlockFilters);

impl TextIndex {
    /// What a footer says of the index of a segment with this number of rows; `None` if there is none that fits.
    pub(super) fn of(footer: &ParquetMetaData, rows: u64) -> Option<TextIndex> {
        BlockFilters::of(footer, ENTRY, rows).map(TextIndex)
    }

    /// The blocks, and whether each may have a row that meets `condition`; `None` if the index does not tell.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged there.
    pub(super) fn rows_with(
        &self,
        condition: &TermCondition,
        filters: &FilterReader<'_>,
    ) -> Result<Option<RowParts>> {
        let blocks = self.blocks_with(condition, filters)?;
        Ok(blocks.map(|blocks| self.0.parts(blocks)))
    }

    fn blocks_with(
        &self,
        condition: &TermCondition,
        filters: &FilterReader<'_>,
    ) -> Result<Option<Vec<bool>>> {
        match condition {
            TermCondition::Has { column, term } => {
                let all = |_| true;
                self.0.blocks_with(column, &[hash(term)], all, filters)
            }
            TermCondition::All(conditions) => {
                let mut all: Option<Vec<bool>> = None;
                for condition in conditions {
                    let Some(blocks) = self.blocks_with(condition, filters)? else {
                        continue;
                    };
                    all = Some(match all {
                        Some(all) => merged(all, &blocks, |one, two| one && two),
                        None => blocks,
                    });
                }
                Ok(all)
            }
            TermCondition::Any(conditions) => {
                let mut any: Vec<bool> = Vec::new();
                for condition in conditions {
                    let Some(blocks) = self.blocks_with(condition, filters)? else {
                        return Ok(None);
                    };
                    any.resize(blocks.len(), false);
                    any = merged(any, &blocks, |one, two| one || two);
                }
                Ok((!conditions.is_empty()).then_some(any))
            }
        }
    }

    /// Whether the index can exclude rows by a condition.
    pub(super) fn tells_of(&self, condition: &TermCondition) -> bool {
        match condition {
            TermCondition::Has { column, .. } => self.0.has_column(column),
            TermCondition::All(conditions) => conditions.iter().any(|one| self.tells_of(one)),
            TermCondition::Any(conditions) => {
                !conditions.is_empty() && conditions.iter().all(|one| self.tells_of(one))
            }
        }
    }
}

fn merged(mut all: Vec<bool>, more: &[bool], merge: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    for (one, two) in all.iter_mut().zip(more) {
        *one = merge(*one, *two);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_format() {
        // Computed independently, in Python.
        assert_eq!(hash(""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash("deadlock"), 0x315c_fd49_850d_5ef6);
    }
}
