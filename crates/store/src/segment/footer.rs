//! Parsed footers in memory: reading one takes longer than most lookups need altogether.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::Result;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};

use super::{Segment, SegmentFileReader};

/// What the Arrow schema of a column takes in memory, about.
const FIELD_BYTES: usize = 512;

/// The footers that were used last, with their Arrow schemas, up to a number of bytes. Those of segments that are gone, such as merged ones, are forgotten with
/// the next one that is kept.
#[derive(Debug)]
pub(crate) struct FooterCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<i64, Entry>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    footer: ArrowReaderMetadata,
    bytes: usize,
    used: u64,
    segment: Weak<()>,
}

impl FooterCache {
    pub(crate) fn new(limit: usize) -> FooterCache {
        FooterCache {
            limit,
            state: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, segment: i64) -> Option<ArrowReaderMetadata> {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        let entry = state.entries.get_mut(&segment)?;
        entry.used = now;
        Some(entry.footer.clone())
    }

    /// Reads a segment's footer with its page index, and keeps it.
    pub(crate) fn read(
        &self,
        segment: &Segment,
        file: &SegmentFileReader,
    ) -> Result<ArrowReaderMetadata> {
        let footer = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Optional)
            .parse_and_finish(file)?;
        let footer = ArrowReaderMetadata::try_new(Arc::new(footer), ArrowReaderOptions::new())?;
        self.put(segment.record.id, segment.alive(), footer.clone());
        Ok(footer)
    }

    fn put(&self, id: i64, segment: Weak<()>, footer: ArrowReaderMetadata) {
        let mut state = self.state.lock();
        state.clock += 1;
        let entry = Entry {
            bytes: size_of(&footer),
            footer,
            used: state.clock,
            segment,
        };
        state.entries.insert(id, entry);
        state
            .entries
            .retain(|_, entry| entry.segment.strong_count() > 0);
        state.bytes = state.entries.values().map(|entry| entry.bytes).sum();
        while state.bytes > self.limit && state.entries.len() > 1 {
            let oldest = state.entries.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(id, _)| *id) else {
                break;
            };
            if let Some(entry) = state.entries.remove(&oldest) {
                state.bytes -= entry.bytes;
            }
        }
    }
}

fn size_of(footer: &ArrowReaderMetadata) -> usize {
    footer.metadata().memory_size() + footer.schema().fields().len() * FIELD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::metadata::{FileMetaData, ParquetMetaData};
    use parquet::schema::types::{SchemaDescriptor, Type};

    fn footer() -> ArrowReaderMetadata {
        let schema = Type::group_type_builder("schema").build();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema.expect("a schema"))));
        let file = FileMetaData::new(2, 0, None, None, schema, None);
        let footer = Arc::new(ParquetMetaData::new(file, Vec::new()));
        ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new()).expect("an Arrow schema")
    }

    #[test]
    fn footers_of_segments_that_are_gone_are_forgotten() {
        let cache = FooterCache::new(1 << 20);
        let (first, second) = (Arc::new(()), Arc::new(()));
        cache.put(1, Arc::downgrade(&first), footer());
        drop(first);
        cache.put(2, Arc::downgrade(&second), footer());
        assert!(cache.get(1).is_none() && cache.get(2).is_some());
        assert_eq!(cache.state.lock().bytes, size_of(&footer()));
    }

    #[test]
    fn beyond_the_limit_the_footer_that_was_not_used_longest_is_forgotten() {
        let cache = FooterCache::new(2 * size_of(&footer()));
        let segment = Arc::new(());
        for id in [1, 2] {
            cache.put(id, Arc::downgrade(&segment), footer());
        }
        assert!(cache.get(1).is_some());
        cache.put(3, Arc::downgrade(&segment), footer());
        let kept = [1, 2, 3].map(|id| cache.get(id).is_some());
        assert_eq!(kept, [true, false, true]);
    }
}
