//! What all readers of a store's segments share.

use std::sync::Arc;

use hindsight_kql_types::terms::TermCondition;
use parquet::file::metadata::ParquetMetaData;

use super::damaged::damage_in;
use super::description::covers_in;
use super::filter_reader::{FilterBlocks, FilterReader};
use super::lookup::row_groups_with;
use super::text_index::TextIndex;
use super::value_index::ValueIndex;
use super::{Covers, DamagedSegments, FooterCache, Lookup, RowParts, Segment, SegmentFileReader};
use crate::columns::{ColumnCache, SelectionCache};
use crate::error::Result;

/// Shared by all readers of a store's segments.
#[derive(Debug)]
pub(crate) struct SegmentAccess {
    pub(crate) footers: FooterCache,
    pub(crate) filter_blocks: FilterBlocks,
    pub(crate) damaged: DamagedSegments,
    /// Whether queries use the indexes of terms.
    pub(crate) text_index: bool,
    /// Whether queries use the indexes of values.
    pub(crate) value_index: bool,
    pub(crate) columns: ColumnCache,
    pub(crate) selections: SelectionCache,
}

impl SegmentAccess {
    /// Which rows a segment holds, as its footer says; `None` for a merged segment of before footers said so. Blocks.
    pub(crate) fn covers(&self, segment: &Segment) -> Result<Option<Covers>> {
        let footer = self.footer(segment).inspect_err(|error| {
            if let Some(what) = damage_in(error) {
                self.damaged.report(segment, &what);
            }
        })?;
        Ok(covers_in(&footer, &segment.record))
    }

    /// Which row groups of a segment, or blocks of them, may have a row that passes lookups; `None` if nothing tells. Blocks.
    ///
    /// Filters that cannot be read exclude nothing, as those of [`SegmentAccess::rows_with`].
    pub(crate) fn rows_with_values(
        &self,
        segment: &Segment,
        lookups: &[Lookup],
    ) -> Option<RowParts> {
        let footer = self.footer(segment).ok()?;
        let filters = FilterReader::new(segment, &self.filter_blocks);
        let groups = row_groups_with(lookups, &footer, &filters).ok()?;
        if groups.is_empty() || !self.value_index {
            return Some(groups);
        }
        let index = ValueIndex::of(&footer, segment.record.rows);
        let blocks = index.map_or(Ok(None), |index| {
            index.rows_with(lookups, &groups, &filters)
        });
        let blocks = blocks.unwrap_or_else(|error| {
            let file = segment.path().display();
            tracing::warn!(%file, %error, "the index of values of a segment cannot be read and is not used");
            None
        });
        Some(blocks.map_or_else(|| groups.clone(), |blocks| groups.and(&blocks)))
    }

    /// Which blocks of a segment's rows may have a row that meets a condition; `None` if its index does not tell. Blocks.
    ///
    /// An index that cannot be read excludes nothing: the rows themselves may be as they were written, and if they are not, reading
    /// them tells.
    pub(crate) fn rows_with(
        &self,
        segment: &Segment,
        condition: &TermCondition,
    ) -> Option<RowParts> {
        let found = self.footer(segment).and_then(|footer| {
            let index = TextIndex::of(&footer, segment.record.rows);
            match index.filter(|index| index.tells_of(condition)) {
                Some(index) => {
                    index.rows_with(condition, &FilterReader::new(segment, &self.filter_blocks))
                }
                None => Ok(None),
            }
        });
        found.unwrap_or_else(|error| {
            let file = segment.path().display();
            tracing::warn!(%file, %error, "the index of terms of a segment cannot be read and is not used");
            None
        })
    }

    fn footer(&self, segment: &Segment) -> parquet::errors::Result<Arc<ParquetMetaData>> {
        let id = segment.record.id;
        match self.footers.get(id) {
            Some(footer) => Ok(footer.metadata().clone()),
            None => {
                let file = SegmentFileReader::open_for_parts(segment)?;
                let footer = self.footers.read(segment, &file);
                footer
                    .map(|footer| footer.metadata().clone())
                    .map_err(|error| file.unparsable(error))
            }
        }
    }
}
