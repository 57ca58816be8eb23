//! The dictionary of keys of a value that is being written.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::layout::{EMPTY_METADATA, push_uint, width_of};

/// Up to this many keys a scan is faster than a hash table.
const SCAN_LIMIT: usize = 24;

/// Distinct keys in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    text: String,
    ends: Vec<usize>,
    /// A hash table from keys to their ids; empty up to the limit.
    table: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

impl Keys {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
    }

    /// The id of `key`, which is added if it is new.
    pub(crate) fn id(&mut self, key: &str) -> usize {
        match self.find(key) {
            Some(id) => id,
            None => self.add(key),
        }
    }

    pub(crate) fn get(&self, id: usize) -> &str {
        let start = match id.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        let end = self.ends.get(id).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The approximate number of bytes of the dictionary.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + 4 * self.ends.len()
    }

    /// Appends the dictionary as the metadata of a Parquet Variant.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.ends.is_empty() {
            out.extend_from_slice(&EMPTY_METADATA);
            return;
        }
        let width = width_of(self.text.len().max(self.ends.len()));
        out.push(1 | ((width - 1) as u8) << 6);
        push_uint(out, self.ends.len(), width);
        push_uint(out, 0, width);
        for end in &self.ends {
            push_uint(out, *end, width);
        }
        out.extend_from_slice(self.text.as_bytes());
    }

    fn find(&self, key: &str) -> Option<usize> {
        if self.ends.len() > SCAN_LIMIT {
            let same = |id: &usize| self.get(*id) == key;
            return self.table.find(self.hasher.hash_one(key), same).copied();
        }
        let mut start = 0;
        self.ends.iter().position(|end| {
            let known = self.text.as_bytes().get(start..*end);
            start = *end;
            known == Some(key.as_bytes())
        })
    }

    fn add(&mut self, key: &str) -> usize {
        let id = self.ends.len();
        self.text.push_str(key);
        self.ends.push(self.text.len());
        if id == SCAN_LIMIT {
            (0..=id).for_each(|id| self.index(id));
        } else if id > SCAN_LIMIT {
            self.index(id);
        }
        id
    }

    /// Adds a key to the hash table.
    fn index(&mut self, id: usize) {
        let mut table = std::mem::take(&mut self.table);
        let hash = |id: &usize| self.hasher.hash_one(self.get(*id));
        table.insert_unique(hash(&id), id, hash);
        self.table = table;
    }
}
