//! The index of terms: which blocks of rows of a segment may have a term in the text of a column.
//!
//! For each block of consecutive rows there is a Bloom filter of the folded terms of the column's texts. A filter says of a term that
//! no text of the block has it, or that one may. The filters lie in the segment's file, between the last row group and
//! the footer, where the checksums of the file cover them and other readers skip them; `hindsight.text_index` in the footer says where.
//! `FORMAT.md` ("Term index") has the layout.

mod builder;
pub(super) mod filter;
mod lookup;

pub(super) use builder::TextIndexBuilder;
pub(super) use lookup::TextIndex;

use crate::schema::Table;

/// Rows of a block of new segments: those of half a page of other columns.
const BLOCK_ROWS: usize = 1024;
/// Blocks of a section, whose filters have one size and lie together.
const SECTION_BLOCKS: usize = 64;
/// The name of the entry of the footer, without `hindsight.`.
pub(super) const ENTRY: &str = "text_index";

/// The columns of a table that have the index: those with texts that people write and search for words.
pub(super) fn columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Traces => &["message"],
        Table::Exceptions => &["message", "outerMessage", "innermostMessage"],
        _ => &[],
    }
}
