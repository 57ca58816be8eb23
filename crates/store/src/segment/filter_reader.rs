//! Reads filters of segments through blocks of their files that are kept in memory.
//!
//! A look-up reads 32 bytes of the filters of each segment. A whole block must be compared with its checksum for that, which takes
//! several times as long as to find it in memory.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Weak;

use bytes::Bytes;
use moka::sync::Cache;
use parquet::errors::Result;

use super::checksums::{BLOCK, blocks_around};
use super::{Segment, SegmentFileReader};

/// The blocks that were read last and most often, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct FilterBlocks(Cache<(i64, u64), Block>);

/// A block that is as it was written.
#[derive(Debug, Clone)]
struct Block {
    bytes: Bytes,
    /// The segment: another one may get its number.
    segment: Weak<()>,
}

impl FilterBlocks {
    /// At most `limit` bytes.
    pub(crate) fn new(limit: usize) -> FilterBlocks {
        let kept = Cache::builder().max_capacity(limit as u64);
        let weigher = |_: &(i64, u64), block: &Block| {
            u32::try_from(size_of::<Block>() + block.bytes.len()).unwrap_or(u32::MAX)
        };
        FilterBlocks(kept.weigher(weigher).build())
    }

    fn get(&self, segment: &Segment, begin: u64) -> Option<Bytes> {
        let block = self.0.get(&(segment.record.id, begin))?;
        let is_its = block.segment.ptr_eq(&segment.alive());
        is_its.then_some(block.bytes)
    }

    fn put(&self, segment: &Segment, begin: u64, bytes: Bytes) {
        let block = Block {
            bytes,
            segment: segment.alive(),
        };
        self.0.insert((segment.record.id, begin), block);
    }
}

/// Reads filters of a segment, whose file is opened when a block of it is not in memory.
pub(crate) struct FilterReader<'s> {
    segment: &'s Segment,
    blocks: &'s FilterBlocks,
    file: OnceCell<SegmentFileReader>,
}

impl<'s> FilterReader<'s> {
    /// Reads nothing yet.
    pub(crate) fn new(segment: &'s Segment, blocks: &'s FilterBlocks) -> FilterReader<'s> {
        FilterReader {
            segment,
            blocks,
            file: OnceCell::new(),
        }
    }

    /// The bytes of a range. Of those that lie in one block, the block is kept in memory. Blocks.
    ///
    /// # Errors
    /// As [`SegmentFileReader::read`].
    pub(crate) fn read(&self, range: &Range<u64>) -> Result<Bytes> {
        let record = &self.segment.record;
        let block = blocks_around(range, record.bytes);
        let is_one = block.end <= block.start.saturating_add(BLOCK) && range.end <= block.end;
        if !is_one || record.checksums.is_none() {
            return self.file()?.read(range);
        }
        let bytes = match self.blocks.get(self.segment, block.start) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.file()?.read(&block)?;
                self.blocks.put(self.segment, block.start, bytes.clone());
                bytes
            }
        };
        let (from, to) = (range.start - block.start, range.end - block.start);
        Ok(bytes.slice(usize::try_from(from)?..usize::try_from(to)?))
    }

    fn file(&self) -> Result<&SegmentFileReader> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = SegmentFileReader::open_for_parts(self.segment)?;
        Ok(self.file.get_or_init(|| file))
    }
}
