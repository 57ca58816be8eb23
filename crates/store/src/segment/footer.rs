//! Parsed footers in memory: reading one takes longer than most lookups need altogether.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use parquet::errors::Result;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use super::SegmentFileReader;

/// The footers that were used last, up to a number of bytes.
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
    footer: Arc<ParquetMetaData>,
    bytes: usize,
    used: u64,
}

impl FooterCache {
    pub(crate) fn new(limit: usize) -> FooterCache {
        FooterCache {
            limit,
            state: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, segment: i64) -> Option<Arc<ParquetMetaData>> {
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
        segment: i64,
        file: &SegmentFileReader,
    ) -> Result<Arc<ParquetMetaData>> {
        let footer = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Optional)
            .parse_and_finish(file)?;
        let footer = Arc::new(footer);
        self.put(segment, footer.clone());
        Ok(footer)
    }

    fn put(&self, segment: i64, footer: Arc<ParquetMetaData>) {
        let bytes = footer.memory_size();
        let mut state = self.state.lock();
        state.clock += 1;
        let used = state.clock;
        if let Some(old) = state.entries.insert(
            segment,
            Entry {
                footer,
                bytes,
                used,
            },
        ) {
            state.bytes -= old.bytes;
        }
        state.bytes += bytes;
        while state.bytes > self.limit && state.entries.len() > 1 {
            let Some(oldest) = state
                .entries
                .iter()
                .min_by_key(|(_, entry)| entry.used)
                .map(|(id, _)| *id)
            else {
                break;
            };
            if let Some(entry) = state.entries.remove(&oldest) {
                state.bytes -= entry.bytes;
            }
        }
    }
}
