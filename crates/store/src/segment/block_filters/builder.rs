//! Builds the filters of a segment's blocks while its rows are written.

use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::Layout;
use super::filter::{BUCKET, bucket_of, buckets_for, insert};

/// Hashes that are kept before duplicates are removed: texts repeat most of their terms.
const MANY: usize = 1 << 17;
/// Distinct hashes of a block from which on its filter would exclude nothing.
const TOO_MANY: usize = MANY / 2;

/// The filters of the rows that were added so far.
pub(in crate::segment) struct BlockFiltersBuilder {
    layout: Layout,
    columns: Vec<ColumnBuilder>,
    /// Rows of the block that is not complete.
    rows: usize,
}

struct ColumnBuilder {
    name: &'static str,
    block: BlockHashes,
    /// The complete blocks of the section that is not complete.
    blocks: Vec<BlockHashes>,
    sections: Vec<Section>,
}

/// The hashes of a block.
#[derive(Debug, Default)]
struct BlockHashes {
    hashes: Vec<u64>,
    /// Whether there are too many of them for a filter.
    full: bool,
}

/// The interleaved filters of the blocks of a section.
struct Section {
    bytes: Vec<u8>,
    buckets: usize,
    blocks: usize,
}

impl BlockFiltersBuilder {
    /// Filters of these columns; `None` if there are none.
    pub(in crate::segment) fn new(
        layout: Layout,
        columns: impl Iterator<Item = &'static str>,
    ) -> Option<BlockFiltersBuilder> {
        let columns: Vec<ColumnBuilder> = columns
            .map(|name| ColumnBuilder {
                name,
                block: BlockHashes::default(),
                blocks: Vec::new(),
                sections: Vec::new(),
            })
            .collect();
        let rows = 0;
        (!columns.is_empty()).then_some(BlockFiltersBuilder {
            layout,
            columns,
            rows,
        })
    }

    /// Adds the next rows of the segment.
    pub(in crate::segment) fn add(&mut self, batch: &RecordBatch) {
        let mut from = 0;
        while from < batch.num_rows() {
            let count = (self.layout.block_rows - self.rows).min(batch.num_rows() - from);
            for column in &mut self.columns {
                column.add(&batch.slice(from, count), self.layout.hashes);
            }
            from += count;
            self.rows += count;
            if self.rows == self.layout.block_rows {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.block.remove_duplicates();
            column.blocks.push(std::mem::take(&mut column.block));
            if column.blocks.len() == self.layout.section_blocks {
                column.end_section(self.layout.bits);
            }
        }
    }

    /// Writes the filters through `write`, the first at the byte `offset` of the file. Returns the entry of the footer.
    pub(in crate::segment) fn finish<E>(
        mut self,
        mut offset: u64,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<String, E> {
        if self.rows > 0 {
            self.end_block();
        }
        let mut columns = serde_json::Map::new();
        for column in &mut self.columns {
            column.end_section(self.layout.bits);
            let mut sections = Vec::new();
            for section in &column.sections {
                write(&section.bytes)?;
                sections.push(json!([offset, section.buckets, section.blocks]));
                offset += section.bytes.len() as u64;
            }
            columns.insert(column.name.to_owned(), Value::from(sections));
        }
        Ok(json!({ "block_rows": self.layout.block_rows, "columns": columns }).to_string())
    }
}

impl ColumnBuilder {
    fn add(&mut self, batch: &RecordBatch, hashes: fn(&str, &mut Vec<u64>)) {
        let texts = batch
            .column_by_name(self.name)
            .and_then(|column| column.as_string_view_opt());
        match texts {
            Some(texts) => {
                let texts = texts.iter().flatten();
                texts.for_each(|text| self.block.add(text, hashes));
            }
            // Without the texts nothing can be excluded.
            None => self.block.fill(),
        }
    }

    fn end_section(&mut self, bits: usize) {
        let blocks = std::mem::take(&mut self.blocks);
        if blocks.is_empty() {
            return;
        }
        let most = blocks.iter().map(|block| block.hashes.len()).max();
        let buckets = buckets_for(most.unwrap_or_default(), bits);
        let mut bytes = vec![0; buckets * blocks.len() * BUCKET];
        let (filters, _) = bytes.as_chunks_mut::<BUCKET>();
        for (index, block) in blocks.iter().enumerate() {
            if block.full {
                let own = filters.iter_mut().skip(index).step_by(blocks.len());
                own.for_each(|bucket| bucket.fill(u8::MAX));
            }
            for hash in &block.hashes {
                let place = bucket_of(*hash, buckets) * blocks.len() + index;
                if let Some(bucket) = filters.get_mut(place) {
                    insert(bucket, *hash);
                }
            }
        }
        self.sections.push(Section {
            bytes,
            buckets,
            blocks: blocks.len(),
        });
    }
}

impl BlockHashes {
    fn add(&mut self, text: &str, hashes: fn(&str, &mut Vec<u64>)) {
        if self.full {
            return;
        }
        hashes(text, &mut self.hashes);
        if self.hashes.len() > MANY {
            self.remove_duplicates();
            if self.hashes.len() > TOO_MANY {
                self.fill();
            }
        }
    }

    fn fill(&mut self) {
        self.full = true;
        self.hashes = Vec::new();
    }

    fn remove_duplicates(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_too_many_hashes_has_no_filter() {
        let number = |text: &str, hashes: &mut Vec<u64>| hashes.extend(text.parse::<u64>());
        let add = |distinct: usize| {
            let mut block = BlockHashes::default();
            for row in 0..2 * MANY {
                block.add(&(row % distinct).to_string(), number);
            }
            block
        };
        let few = add(100);
        assert!(!few.full && (100..=MANY).contains(&few.hashes.len()));
        let many = add(MANY);
        assert!(many.full && many.hashes.is_empty());
    }
}
