//! Builds the index of a segment while its rows are written.

use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use hindsight_kql_types::terms::{fold_text, terms};
use serde_json::{Value, json};

use super::filter::{BUCKET, bucket_of, buckets_for, hash, insert};
use super::{BLOCK_ROWS, SECTION_BLOCKS, columns};
use crate::schema::Table;

/// Hashes that are kept before duplicates are removed: texts repeat most of their terms.
const MANY: usize = 1 << 17;
/// Distinct terms of a block from which on its filter would exclude nothing.
const TOO_MANY: usize = MANY / 2;

/// The index of the rows that were added so far.
pub(crate) struct TextIndexBuilder {
    columns: Vec<ColumnBuilder>,
    /// Rows of the block that is not complete.
    rows: usize,
}

struct ColumnBuilder {
    name: &'static str,
    block: BlockTerms,
    /// The complete blocks of the section that is not complete.
    blocks: Vec<BlockTerms>,
    sections: Vec<Section>,
}

/// The hashes of the terms of a block.
#[derive(Debug, Default)]
struct BlockTerms {
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

impl TextIndexBuilder {
    /// An index of a segment of `table`; `None` if the table has no column with an index.
    pub(crate) fn new(table: Table) -> Option<TextIndexBuilder> {
        let columns: Vec<ColumnBuilder> = columns(table)
            .iter()
            .map(|name| ColumnBuilder {
                name,
                block: BlockTerms::default(),
                blocks: Vec::new(),
                sections: Vec::new(),
            })
            .collect();
        (!columns.is_empty()).then_some(TextIndexBuilder { columns, rows: 0 })
    }

    /// Adds the next rows of the segment.
    pub(crate) fn add(&mut self, batch: &RecordBatch) {
        let mut from = 0;
        while from < batch.num_rows() {
            let count = (BLOCK_ROWS - self.rows).min(batch.num_rows() - from);
            for column in &mut self.columns {
                column.add(&batch.slice(from, count));
            }
            from += count;
            self.rows += count;
            if self.rows == BLOCK_ROWS {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.rows = 0;
        for column in &mut self.columns {
            column.block.remove_duplicates();
            column.blocks.push(std::mem::take(&mut column.block));
            if column.blocks.len() == SECTION_BLOCKS {
                column.end_section();
            }
        }
    }

    /// Writes the filters through `write`, the first at the byte `offset` of the file. Returns the entry of the footer.
    pub(crate) fn finish<E>(
        mut self,
        mut offset: u64,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<String, E> {
        if self.rows > 0 {
            self.end_block();
        }
        let mut columns = serde_json::Map::new();
        for column in &mut self.columns {
            column.end_section();
            let mut sections = Vec::new();
            for section in &column.sections {
                write(&section.bytes)?;
                sections.push(json!([offset, section.buckets, section.blocks]));
                offset += section.bytes.len() as u64;
            }
            columns.insert(column.name.to_owned(), Value::from(sections));
        }
        Ok(json!({ "block_rows": BLOCK_ROWS, "columns": columns }).to_string())
    }
}

impl ColumnBuilder {
    fn add(&mut self, batch: &RecordBatch) {
        let texts = batch
            .column_by_name(self.name)
            .and_then(|column| column.as_string_view_opt());
        match texts {
            Some(texts) => texts.iter().flatten().for_each(|text| self.block.add(text)),
            // Without the texts nothing can be excluded.
            None => self.block.fill(),
        }
    }

    fn end_section(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        if blocks.is_empty() {
            return;
        }
        let most = blocks.iter().map(|block| block.hashes.len()).max();
        let buckets = buckets_for(most.unwrap_or_default());
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

impl BlockTerms {
    fn add(&mut self, text: &str) {
        if self.full {
            return;
        }
        let folded = fold_text(text);
        self.hashes
            .extend(terms(&folded).map(|(_, term)| hash(term)));
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
    fn a_block_of_too_many_terms_has_no_filter() {
        let add = |distinct: usize| {
            let mut terms = BlockTerms::default();
            for number in 0..2 * MANY {
                terms.add(&format!("term{}", number % distinct));
            }
            terms
        };
        let few = add(100);
        assert!(!few.full && (100..=MANY).contains(&few.hashes.len()));
        let many = add(MANY);
        assert!(many.full && many.hashes.is_empty());
    }
}
