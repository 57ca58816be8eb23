//! `customDimensions` and `customMeasurements` as dynamic values.

use hindsight_kql_types::BagBuilder;

/// Adds a measurement. A whole number is an integer, so that it prints as `3` and not as `3.0`, as long as it is exact.
pub fn measurement(key: &str, number: f64, bag: &mut BagBuilder) {
    /// 2⁵³: every smaller integer is exact in 64 bits of floating point.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        bag.long(key, number as i64);
    } else {
        bag.real(key, number);
    }
}

/// Counts pairs that an item loses, for operators to see.
pub fn note_dropped(pairs: usize) {
    if pairs > 0 {
        metrics::counter!("hindsight_ingest_pairs_dropped_total").increment(pairs as u64);
    }
}

/// The encoded bag; `None` if it has no pairs.
pub fn finish(bag: &mut BagBuilder) -> Option<Vec<u8>> {
    (!bag.is_empty()).then(|| bag.finish())
}
