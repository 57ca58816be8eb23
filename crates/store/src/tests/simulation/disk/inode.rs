//! The content of a file, in the page cache and on the disk.

use std::collections::BTreeSet;

use rand::Rng;
use rand::rngs::StdRng;

/// What reaches the disk as a whole.
const BLOCK: usize = 512;

/// A file.
#[derive(Debug, Clone, Default)]
pub(super) struct Inode {
    pub(super) cache: Vec<u8>,
    pub(super) disk: Vec<u8>,
    /// Blocks whose content in the cache may differ from the disk's, and that a sync writes.
    pub(super) dirty: BTreeSet<usize>,
    /// Whether the length in the cache is not the disk's.
    pub(super) length_dirty: bool,
}

impl Inode {
    pub(super) fn is_dirty(&self) -> bool {
        self.length_dirty || !self.dirty.is_empty()
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if self.cache.len() < end {
            self.cache.resize(end, 0);
            self.length_dirty = true;
        }
        self.cache[offset..end].copy_from_slice(bytes);
        self.dirty.extend(offset / BLOCK..end.div_ceil(BLOCK));
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.cache.resize(length, 0);
        self.length_dirty = true;
        self.dirty.retain(|block| block * BLOCK < length);
        self.dirty.insert(length / BLOCK);
    }

    pub(super) fn write_block(&mut self, block: usize) {
        let from = block * BLOCK;
        let to = (from + BLOCK).min(self.cache.len());
        if from < to {
            if self.disk.len() < to {
                self.disk.resize(to, 0);
            }
            self.disk[from..to].copy_from_slice(&self.cache[from..to]);
        }
    }

    /// Some dirty blocks reach the disk; with `clean`, these are dirty no more.
    pub(super) fn write_some(&mut self, random: &mut StdRng, clean: bool) {
        let share = [0.0, 0.5, 1.0][random.random_range(0..3)];
        for block in self.dirty.clone() {
            if random.random_bool(share) {
                self.write_block(block);
                if clean {
                    self.dirty.remove(&block);
                }
            }
        }
        if self.length_dirty && random.random_bool(share.max(0.3)) {
            // A longer file that has not got its blocks reads as zeros there.
            self.disk.resize(self.cache.len(), 0);
            if clean {
                self.length_dirty = false;
            }
        }
    }

    pub(super) fn sync(&mut self) {
        for block in std::mem::take(&mut self.dirty) {
            self.write_block(block);
        }
        if self.length_dirty {
            self.disk.resize(self.cache.len(), 0);
            self.length_dirty = false;
        }
    }

    /// Some blocks are written, and the others are forgotten.
    pub(super) fn fail_sync(&mut self, random: &mut StdRng) {
        self.write_some(random, true);
        let lost = std::mem::take(&mut self.dirty);
        let keeps_length = !self.length_dirty;
        if random.random() {
            for block in lost {
                let from = block * BLOCK;
                let to = (from + BLOCK).min(self.cache.len()).min(self.disk.len());
                if from < to {
                    self.cache[from..to].copy_from_slice(&self.disk[from..to]);
                }
            }
        }
        self.length_dirty = !keeps_length;
    }
}
