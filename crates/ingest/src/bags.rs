//! `customDimensions` and `customMeasurements` of an envelope.

use hindsight_kql_types::BagBuilder;
use hindsight_rows::limits::{self, cut};
use hindsight_rows::{finish, measurement, note_dropped};

use crate::tolerant::Pairs;

/// Properties: every value is a text. Nothing where there are none.
pub(crate) fn dimensions(pairs: Pairs<'_>, bag: &mut BagBuilder) -> Option<Vec<u8>> {
    note_dropped(pairs.0.len().saturating_sub(limits::PAIRS));
    for (key, value) in pairs.0.into_iter().take(limits::PAIRS) {
        bag.string(
            &cut(key, limits::KEY),
            &cut(value.into_text(), limits::PROPERTY),
        );
    }
    finish(bag)
}

/// Measurements: every value is a finite number; others are dropped.
pub(crate) fn measurements(pairs: Pairs<'_>, bag: &mut BagBuilder) -> Option<Vec<u8>> {
    let mut dropped = pairs.0.len().saturating_sub(limits::PAIRS);
    for (key, value) in pairs.0.into_iter().take(limits::PAIRS) {
        match value.number() {
            Some(number) => measurement(&cut(key, limits::KEY), number, bag),
            None => dropped += 1,
        }
    }
    note_dropped(dropped);
    finish(bag)
}
