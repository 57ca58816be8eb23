//! Links: other spans that a span came from.

use std::borrow::Cow;

use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::ids;
use crate::names::messaging;
use crate::value::Value;
use crate::wire::fields;

/// The most links of the dimension: it is a property of at most 8,192 characters.
const MOST: usize = 100;

/// The dimension `_MS.links`; `None` without links.
pub(super) fn dimension(links: &[&[u8]]) -> Result<Option<String>, Malformed> {
    if links.is_empty() {
        return Ok(None);
    }
    let mut out = String::from("[");
    for (index, link) in links.iter().take(MOST).enumerate() {
        let (mut trace, mut span): (&[u8], &[u8]) = (&[], &[]);
        for field in fields(link) {
            match field? {
                (1, field) => trace = field.bytes()?,
                (2, field) => span = field.bytes()?,
                _ => {}
            }
        }
        // What is no id is none.
        let trace = ids::valid::<16>(trace).map_or(Cow::Borrowed(""), |id| ids::hex(&id).into());
        let span = ids::valid::<8>(span).map_or(Cow::Borrowed(""), |id| ids::hex(&id).into());
        let comma = if index > 0 { "," } else { "" };
        out += &format!("{comma}{{\"operation_Id\":\"{trace}\",\"id\":\"{span}\"}}");
    }
    out.push(']');
    Ok(Some(out))
}

/// The mean of the milliseconds from the time when each linked message was put into its queue to `start`, at least 0; `None` if no
/// link has that time.
pub(super) fn mean_time_in_queue(links: &[&[u8]], start: u64) -> Result<Option<f64>, Malformed> {
    let start = start as f64 / 1_000_000.0;
    let (mut total, mut given) = (0.0, false);
    for link in links {
        let mut attributes = Attributes::default();
        for field in fields(link) {
            if let (4, field) = field? {
                attributes.add(field)?;
            }
        }
        if let Some(Value::Int(enqueued)) = attributes.get(messaging::ENQUEUED) {
            total += start - enqueued as f64;
            given = true;
        }
    }
    Ok(given.then(|| (total / links.len() as f64).max(0.0)))
}
