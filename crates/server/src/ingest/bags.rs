//! `customDimensions`, `customMeasurements` and an exception's `details` as dynamic values.

use std::borrow::Cow;

use hindsight_kql_types::{BagBuilder, Encoder};

use super::envelope::{ExceptionDetails, StackFrame};
use super::limits::{self, cut};
use super::tolerant::{Loose, Pairs};

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

/// A whole number is an integer, so that it prints as `3` and not as `3.0`, as long as it is exact.
fn measurement(key: &str, number: f64, bag: &mut BagBuilder) {
    /// 2⁵³: every smaller integer is exact in 64 bits of floating point.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        bag.long(key, number as i64);
    } else {
        bag.real(key, number);
    }
}

/// Counts what an item loses, for operators to see.
fn note_dropped(pairs: usize) {
    if pairs > 0 {
        metrics::counter!("hindsight_ingest_pairs_dropped_total").increment(pairs as u64);
    }
}

fn finish(bag: &mut BagBuilder) -> Option<Vec<u8>> {
    (!bag.is_empty()).then(|| bag.finish())
}

/// The names of severities, in their order.
const SEVERITIES: [&str; 5] = ["Verbose", "Information", "Warning", "Error", "Critical"];

/// The chain of exceptions as the service shows it: each with the item's severity by name, ids are texts, a stack is parsed
/// or raw.
pub(crate) fn details(
    exceptions: &[ExceptionDetails<'_>],
    severity: Option<i32>,
) -> Option<Vec<u8>> {
    if exceptions.is_empty() {
        return None;
    }
    let mut out = Encoder::new();
    out.begin_array();
    let severity = severity
        .and_then(|level| usize::try_from(level).ok())
        .and_then(|level| SEVERITIES.get(level));
    for exception in exceptions {
        detail(exception, severity.copied(), &mut out);
    }
    out.end();
    Some(out.finish())
}

fn detail(exception: &ExceptionDetails<'_>, severity: Option<&str>, out: &mut Encoder) {
    out.begin_bag();
    if let Some(severity) = severity {
        text("severityLevel", severity, limits::NAME, out);
    }
    text(
        "outerId",
        or_zero(exception.outer_id.as_str()),
        limits::NAME,
        out,
    );
    text("message", exception.message.as_str(), limits::MESSAGE, out);
    text("type", exception.type_name.as_str(), limits::NAME, out);
    text("id", or_zero(exception.id.as_str()), limits::NAME, out);
    match &exception.parsed_stack {
        Some(frames) if !frames.is_empty() => {
            out.key("parsedStack");
            out.begin_array();
            for frame in frames {
                self::frame(frame, out);
            }
            out.end();
        }
        _ => text("rawStack", exception.stack.as_str(), limits::MESSAGE, out),
    }
    out.end();
}

fn frame(frame: &StackFrame<'_>, out: &mut Encoder) {
    out.begin_bag();
    text("assembly", frame.assembly.as_str(), limits::NAME, out);
    text("method", frame.method.as_str(), limits::NAME, out);
    integer("level", &frame.level, out);
    integer("line", &frame.line, out);
    if !frame.file_name.as_str().is_empty() {
        text("fileName", frame.file_name.as_str(), limits::NAME, out);
    }
    out.end();
}

fn or_zero(id: &str) -> &str {
    if id.is_empty() { "0" } else { id }
}

fn text(key: &str, value: &str, limit: usize, out: &mut Encoder) {
    out.key(key);
    out.string(&cut(Cow::Borrowed(value), limit));
}

fn integer(key: &str, value: &Loose<'_>, out: &mut Encoder) {
    out.key(key);
    out.long(value.number().unwrap_or(0.0) as i64);
}
