//! What all readers of a store's segments share.

use std::sync::Arc;

use parquet::file::metadata::ParquetMetaData;

use super::damaged::damage_in;
use super::description::covers_in;
use super::{Covers, DamagedSegments, FooterCache, Segment, SegmentFileReader};
use crate::columns::ColumnCache;
use crate::error::Result;

/// Shared by all readers of a store's segments.
#[derive(Debug)]
pub(crate) struct SegmentAccess {
    pub(crate) footers: FooterCache,
    pub(crate) damaged: DamagedSegments,
    pub(crate) columns: ColumnCache,
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

    fn footer(&self, segment: &Segment) -> parquet::errors::Result<Arc<ParquetMetaData>> {
        let id = segment.record.id;
        match self.footers.get(id) {
            Some(footer) => Ok(footer),
            None => {
                let file = SegmentFileReader::open(segment)?;
                self.footers
                    .read(segment, &file)
                    .map_err(|error| file.unparsable(error))
            }
        }
    }
}
