//! How many items stand behind one that sampling kept.

/// The smallest share of items that may have been sent, in percent: one of a million.
pub const MIN_SAMPLE_RATE: f64 = 0.0001;

/// `itemCount` of an item that was sampled at `rate` percent: `100 / rate`, at least one. `None` below [`MIN_SAMPLE_RATE`]: one
/// item would outweigh all others.
pub fn item_count(rate: Option<f64>) -> Option<i32> {
    match rate {
        Some(rate) if rate > 0.0 && rate < MIN_SAMPLE_RATE => None,
        Some(rate) if rate > 0.0 && rate < 100.0 => Some((100.0 / rate).round() as i32),
        _ => Some(1),
    }
}
