//! The state of `make_bag`: merges bags, keeping the first value of each key.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use datafusion::common::Result;
use hindsight_kql_types::dynamic::MAX_ENCODED;
use hindsight_kql_types::{DynamicRef, ScalarType};

use super::collect::{exceeds, split_element};
use super::sketch::{Sketch, SketchFunction, Sketches};
use crate::dynamic::cells::Cells;
use crate::encoder::{encoder, finished};

/// The properties of one group in order of first appearance.
pub(crate) struct Properties {
    /// The encoded properties: key and encoded value, each preceded by its length in 4 bytes.
    bytes: Vec<u8>,
    keys: HashSet<Box<str>>,
    key_bytes: usize,
    limit: usize,
}

impl Properties {
    fn push(&mut self, key: &str, value: &[u8]) {
        if self.keys.len() >= self.limit
            || self.bytes.len() > MAX_ENCODED
            || self.keys.contains(key)
        {
            return;
        }
        let (Ok(key_len), Ok(value_len)) = (u32::try_from(key.len()), u32::try_from(value.len()))
        else {
            return;
        };
        self.keys.insert(key.into());
        self.key_bytes += key.len() + 48;
        self.bytes.extend(key_len.to_le_bytes());
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend(value_len.to_le_bytes());
        self.bytes.extend_from_slice(value);
    }
}

fn split_property(bytes: &[u8]) -> Option<(&str, &[u8], &[u8])> {
    let (key, rest) = split_element(bytes)?;
    let (value, rest) = split_element(rest)?;
    Some((std::str::from_utf8(key).ok()?, value, rest))
}

impl Sketch for Properties {
    fn heap(&self) -> usize {
        self.bytes.capacity() + self.key_bytes
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
    }

    fn merge(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((key, value, tail)) = split_property(rest) {
            self.push(key, value);
            rest = tail;
        }
    }
}

/// `make_bag`.
#[derive(Clone)]
pub(crate) struct MakeBag {
    /// The maximum number of properties.
    pub(crate) limit: usize,
}

impl SketchFunction for MakeBag {
    type Sketch = Properties;

    fn empty(&self) -> Properties {
        Properties {
            bytes: Vec::new(),
            keys: HashSet::new(),
            key_bytes: 0,
            limit: self.limit,
        }
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Properties>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let cells = Cells::new(column, ScalarType::Dynamic)?;
        let mut bytes = Vec::new();
        for (row, group) in groups.iter().enumerate() {
            sketches.with(*group, |properties| {
                for (key, value) in cells.dynamic(row).iter_bag() {
                    bytes.clear();
                    value.to_encoded(&mut bytes);
                    properties.push(key, &bytes);
                }
            });
        }
        Ok(())
    }

    fn finish(&self, sketches: Vec<Properties>) -> Result<ArrayRef> {
        let mut out = BinaryViewBuilder::with_capacity(sketches.len());
        let mut bag = encoder();
        for properties in sketches {
            if properties.bytes.len() > MAX_ENCODED {
                return Err(exceeds("make_bag"));
            }
            let mut rest = properties.bytes.as_slice();
            bag.begin_bag();
            while let Some((key, value, tail)) = split_property(rest) {
                bag.key(key);
                bag.dynamic(DynamicRef::new(value));
                rest = tail;
            }
            bag.end();
            out.append_value(finished(&mut bag, "make_bag()")?);
        }
        Ok(Arc::new(out.finish()))
    }
}
