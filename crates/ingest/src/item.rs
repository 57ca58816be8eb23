//! One item: its envelope's own rules, and its row.

use hindsight_kql_types::{BagBuilder, datetime};
use hindsight_rows::{AppColumns, MIN_SAMPLE_RATE, OutsideWindow, Row};
use hindsight_store::{Table, time_ordered_id};
use uuid::Uuid;

use crate::decode;
use crate::envelope::Envelope;
use crate::rules::ItemRules;
use crate::tags::{self, Sender};
use crate::tolerant::Loose;

/// Why an item is refused: status and message.
type Refusal = (u16, String);

/// Ticks in a millisecond.
const TICKS_PER_MS: i64 = 10_000;

/// The envelope of an item's text.
pub(super) fn parse<'a>(text: &'a [u8], rules: &ItemRules) -> Result<Envelope<'a>, Refusal> {
    if text.len() > rules.max_item_bytes {
        let limit = rules.max_item_bytes;
        return Err((
            400,
            format!(
                "The item has {} bytes, more than the limit of {limit} (`ingest.max_item_bytes`)",
                text.len()
            ),
        ));
    }
    serde_json::from_slice(text).map_err(|error| {
        (
            400,
            format!("The item is not valid JSON telemetry: {error}"),
        )
    })
}

/// Fills `row` from an envelope; the table that it belongs to.
///
/// A row has 2 KB: it is filled where it lies, and not returned.
pub(super) fn fill<'a>(
    row: &mut Row<'a>,
    envelope: Envelope<'a>,
    app: AppColumns<'a>,
    sender: &Sender,
    bag: &mut BagBuilder,
    rules: &ItemRules,
) -> Result<Table, Refusal> {
    row.timestamp = time(envelope.time.as_ref(), rules)?;
    let payload = envelope.data.unwrap_or_default();
    let base_type = payload.base_type;
    let Some(mut base_data) = payload.base_data else {
        return Err(missing("baseData", "Data", "object"));
    };
    if base_type.as_str().is_empty() {
        return Err(missing("baseType", "Data", "string"));
    }
    row.item_count = item_count(&envelope.sample_rate)?;
    let mut id = Uuid::encode_buffer();
    let new = time_ordered_id(rules.window.now);
    row.item_id.push_str(new.hyphenated().encode_lower(&mut id));
    row.app = app;
    let properties = tags::read(envelope.tags, sender, &mut row.tags);
    decode::read(base_type.as_str(), &mut base_data, properties, row, bag).ok_or_else(|| {
        let name: String = base_type.as_str().chars().take(100).collect();
        (
            400,
            format!("101: Field 'baseType' on type 'Data' has the unknown value '{name}'"),
        )
    })
}

fn missing(field: &str, owner: &str, expected: &str) -> Refusal {
    let message = format!(
        "109: Field '{field}' on type '{owner}' is required but missing or empty. Expected: {expected}, Actual: undefined"
    );
    (400, message)
}

/// The item's time within the window of `D25`, with the recorded messages where it is not.
fn time(time: Option<&Loose<'_>>, rules: &ItemRules) -> Result<i64, Refusal> {
    let text = match time {
        Some(Loose::Text(text)) if !text.trim().is_empty() => text.trim(),
        None | Some(Loose::Null | Loose::Text(_)) => {
            return Err(missing("time", "Envelope", "string"));
        }
        Some(_) => return Err((400, not_a_time("a value that is not a string"))),
    };
    let Some(ticks) = parse_time(text) else {
        return Err((400, not_a_time(&text.chars().take(100).collect::<String>())));
    };
    let window = &rules.window;
    match window.check(ticks) {
        Ok(()) => Ok(ticks),
        Err(OutsideWindow::TooOld(age)) => {
            let (limit, age) = (window.max_age / TICKS_PER_MS, age / TICKS_PER_MS);
            Err(outside(
                rules,
                format!(
                    "103: Field 'time' on type 'Envelope' is older than the allowed min date. Expected: now - {limit}ms, Actual: now - {age}ms"
                ),
            ))
        }
        Err(OutsideWindow::TooNew(ahead)) => {
            let (limit, ahead) = (window.max_ahead / TICKS_PER_MS, ahead / TICKS_PER_MS);
            Err(outside(
                rules,
                format!(
                    "104: Field 'time' on type 'Envelope' is newer than the allowed max date. Expected: now + {limit}ms, Actual: now + {ahead}ms"
                ),
            ))
        }
    }
}

/// The refusal of an item outside of the window. It may be sent again while the clock is suspect: 503.
fn outside(rules: &ItemRules, message: String) -> Refusal {
    if rules.clock_is_trusted {
        return (400, message);
    }
    (
        503,
        format!("The clock of the server is not trusted at the moment; try again later. {message}"),
    )
}

/// An ISO 8601 date with a time; a bare number is no time here, though KQL would read it as one.
fn parse_time(text: &str) -> Option<i64> {
    let shaped = text.len() >= 10 && text.as_bytes().get(4) == Some(&b'-');
    if shaped { datetime::parse(text) } else { None }
}

fn not_a_time(actual: &str) -> String {
    format!(
        "102: Field 'time' on type 'Envelope' is not a valid time string. Expected: date, Actual: {actual}"
    )
}

/// How many items stand behind this one.
fn item_count(sample_rate: &Loose<'_>) -> Result<i32, Refusal> {
    let rate = sample_rate.number();
    hindsight_rows::item_count(rate).ok_or_else(|| {
        let rate = rate.unwrap_or_default();
        let message = format!(
            "Field 'sampleRate' on type 'Envelope' is too small. Expected: at least {MIN_SAMPLE_RATE}, Actual: {rate}"
        );
        (400, message)
    })
}
