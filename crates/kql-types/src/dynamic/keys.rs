//! The dictionary of keys while a value is written.

use super::layout::{EMPTY_METADATA, push_uint, width_of};
use std::collections::HashMap;

/// Up to this many keys a scan beats a hash table.
const SCAN_LIMIT: usize = 24;

/// Distinct keys in order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    text: String,
    ends: Vec<usize>,
    table: HashMap<String, usize>,
}

impl Keys {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.table.clear();
    }

    /// The number of `key`, adding it when it is new.
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

    /// About how many bytes the dictionary takes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len() + 4 * self.ends.len()
    }

    /// Appends the metadata of the format.
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
            return self.table.get(key).copied();
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
        if self.ends.len() == SCAN_LIMIT + 1 {
            self.table = (0..=id).map(|id| (self.get(id).to_owned(), id)).collect();
        } else if self.ends.len() > SCAN_LIMIT {
            self.table.insert(key.to_owned(), id);
        }
        id
    }
}
