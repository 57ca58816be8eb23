//! Filters of blocks of rows: which blocks of consecutive rows of a segment may have a hash in a column.
//!
//! For each block there is a Bloom filter of the hashes of the column's texts. A filter says of a hash that no text of the block has it,
//! or that one may. The filters of a section of blocks have equally many buckets and are interleaved: bucket 0 of all blocks, bucket 1 of
//! all blocks, and so on. A hash has its bits in one bucket, so a look-up reads a few hundred consecutive bytes for a whole section.
//!
//! The filters lie in the segment's file, between the last row group and the footer, where the checksums of the file cover them and other
//! readers skip them; an entry of the footer says where. `FORMAT.md` ("Filters of blocks") has the layout.

mod builder;
pub(super) mod filter;
mod places;

pub(super) use builder::BlockFiltersBuilder;
pub(super) use places::BlockFilters;

/// How the filters of an index are laid out, and what they are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Rows of a block.
    pub(super) block_rows: usize,
    /// Blocks of a section.
    pub(super) section_blocks: usize,
    /// Bits of a filter for each distinct hash.
    pub(super) bits: usize,
    /// Adds the hashes of a text.
    pub(super) hashes: fn(&str, &mut Vec<u64>),
}
