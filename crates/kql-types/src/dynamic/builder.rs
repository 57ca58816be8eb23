//! The builder of flat bags for the hot path of ingestion.

use super::{DynamicRef, Encoder};

/// Builds bags one after the other and reuses its buffers.
///
/// A repeated key keeps its first position and its last value.
///
/// ```
/// use hindsight_kql_types::{BagBuilder, DynamicRef};
/// let mut bag = BagBuilder::new();
/// bag.string("route", "/cart");
/// bag.real("ms", 12.5);
/// let mut bytes = Vec::new();
/// bag.finish_into(&mut bytes);
/// assert_eq!(DynamicRef::new(&bytes).to_json(), r#"{"route":"/cart","ms":12.5}"#);
/// ```
#[derive(Debug)]
pub struct BagBuilder {
    encoder: Encoder,
}

impl Default for BagBuilder {
    fn default() -> BagBuilder {
        BagBuilder::new()
    }
}

impl BagBuilder {
    /// A builder with an empty bag.
    pub fn new() -> BagBuilder {
        let mut encoder = Encoder::new();
        encoder.begin_bag();
        BagBuilder { encoder }
    }

    /// Whether no pair was added since the last bag was finished.
    pub fn is_empty(&self) -> bool {
        self.encoder.is_bag_empty()
    }

    /// Adds a string.
    pub fn string(&mut self, key: &str, value: &str) {
        self.encoder.key(key);
        self.encoder.string(value);
    }

    /// Adds a double; see [`Encoder::real`] for NaN.
    pub fn real(&mut self, key: &str, value: f64) {
        self.encoder.key(key);
        self.encoder.real(value);
    }

    /// Adds a long.
    pub fn long(&mut self, key: &str, value: i64) {
        self.encoder.key(key);
        self.encoder.long(value);
    }

    /// Adds a bool.
    pub fn bool(&mut self, key: &str, value: bool) {
        self.encoder.key(key);
        self.encoder.bool(value);
    }

    /// Adds a null.
    pub fn null(&mut self, key: &str) {
        self.encoder.key(key);
        self.encoder.null();
    }

    /// Adds a copy of another value.
    pub fn dynamic(&mut self, key: &str, value: DynamicRef<'_>) {
        self.encoder.key(key);
        self.encoder.dynamic(value);
    }

    /// Appends the encoded bag to `out` and starts an empty one.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        self.encoder.finish_into(out);
        self.encoder.begin_bag();
    }

    /// The encoded bag; starts an empty one.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.finish_into(&mut out);
        out
    }

    /// Discards the pairs of the bag that is being built.
    pub fn clear(&mut self) {
        self.encoder.clear();
        self.encoder.begin_bag();
    }
}
