//! The share of items that sampling kept.

use crate::attributes::Attributes;
use crate::error::Rejection;
use crate::names::context;

/// `itemCount` of a sampled item: by its attribute or, of spans, by the threshold of consistent probability sampling in the trace
/// state.
pub(crate) fn item_count(attributes: &Attributes<'_>, trace_state: &str) -> Result<i32, Rejection> {
    let rate = match attributes.first(context::SAMPLE_RATE) {
        Some(value) => value.as_number(),
        None => threshold(trace_state),
    };
    hindsight_rows::item_count(rate).ok_or(Rejection::SampleRate)
}

/// The share in percent that `ot=th:<hex>` of a trace state means: of 2⁵⁶ random values, those below the threshold are dropped.
fn threshold(trace_state: &str) -> Option<f64> {
    /// Digits of a threshold.
    const DIGITS: usize = 14;
    let entry = trace_state
        .split(',')
        .find_map(|entry| entry.trim().strip_prefix("ot="))?;
    let digits = entry.split(';').find_map(|part| part.strip_prefix("th:"))?;
    let is_valid = (1..=DIGITS).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_valid {
        return None;
    }
    let threshold = u64::from_str_radix(&format!("{digits:0<DIGITS$}"), 16).ok()?;
    let all = (1_u64 << (4 * DIGITS)) as f64;
    Some((1.0 - threshold as f64 / all) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_tell_the_share_that_was_kept() {
        assert_eq!(threshold("ot=th:0"), Some(100.0));
        assert_eq!(threshold("vendor=1, ot=rv:aa;th:8"), Some(50.0));
        assert_eq!(threshold("ot=th:c"), Some(25.0));
        for none in [
            "",
            "ot=rv:1",
            "ot=th:",
            "ot=th:xyz",
            "ot=th:+1",
            "ot=th:000000000000001",
        ] {
            assert_eq!(threshold(none), None, "{none}");
        }
    }
}
