//! Custom dimensions and custom measurements from attributes.

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::limits::{self, cut};
use hindsight_rows::{finish, measurement, note_dropped};

use crate::attributes::Attributes;
use crate::context::Origin;
use crate::error::Malformed;
use crate::names::context;
use crate::value::{Value, pair};
use crate::wire::Field;

/// Characters of the texts that models take and give.
const LONG: usize = 256 << 10;
/// The attributes that may be so long.
const LONG_NAMES: &[&str] = &[
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.evaluation.explanation",
];

/// Whether the attribute of this name may be longer than others.
fn is_long(name: &str) -> bool {
    name.starts_with("gen_ai.") && LONG_NAMES.contains(&name)
}

/// Bytes of the text of an attribute that may be longer than others; 0 of others.
pub(crate) fn long_bytes(field: Field<'_>) -> Result<usize, Malformed> {
    let (name, value) = pair(field)?;
    let text = value.as_text().filter(|_| is_long(name));
    Ok(text.map_or(0, str::len))
}

/// The attributes that `keeps` or the rules of the request select, then those of `added` that no attribute names, then those of
/// the resource that nothing before names. A name that is too long drops its attribute.
pub(crate) fn dimensions(
    attributes: &Attributes<'_>,
    keeps: fn(&str) -> bool,
    added: &[(&str, Cow<'_, str>)],
    origin: Origin<'_>,
    bag: &mut BagBuilder,
) -> Result<Option<Vec<u8>>, Malformed> {
    bag.clear();
    let keeps_all = origin.context.dimensions.keep_semantic;
    let is_too_long = |name: &str| cut(Cow::Borrowed(name), limits::KEY).len() < name.len();
    let (mut pairs, mut dropped) = (0, 0);
    for (name, value) in attributes.iter() {
        if !keeps_all && !keeps(name) {
            continue;
        }
        let Some(text) = value.text()? else { continue };
        if pairs == limits::PAIRS || is_too_long(name) {
            dropped += 1;
            continue;
        }
        let limit = if is_long(name) {
            LONG
        } else {
            limits::PROPERTY
        };
        bag.string(name, &cut(text, limit));
        pairs += 1;
    }
    for (name, text) in added {
        if attributes.get(name).is_none() {
            bag.string(name, &cut(Cow::Borrowed(text), limits::PROPERTY));
        }
    }
    for (name, text) in &origin.resource.dimensions {
        if attributes.get(name).is_some() || added.iter().any(|(known, _)| known == name) {
            continue;
        }
        if pairs == limits::PAIRS || is_too_long(name) {
            dropped += 1;
            continue;
        }
        bag.string(name, &cut(Cow::Borrowed(text), limits::PROPERTY));
        pairs += 1;
    }
    note_dropped(dropped);
    Ok(finish(bag))
}

/// The numbers of the attribute `microsoft.custom_measurements`, which is a map or the text of a JSON object, then `added`.
pub(crate) fn measurements(
    attributes: &Attributes<'_>,
    added: &[(&str, f64)],
    bag: &mut BagBuilder,
) -> Result<Option<Vec<u8>>, Malformed> {
    let given = attributes.get(context::MEASUREMENTS);
    if given.is_none() && added.is_empty() {
        return Ok(None);
    }
    bag.clear();
    let mut pairs = 0;
    let mut add = |name: &str, number: Option<f64>| {
        if let Some(number) = number.filter(|number| number.is_finite() && pairs < limits::PAIRS) {
            measurement(&cut(Cow::Borrowed(name), limits::KEY), number, bag);
            pairs += 1;
        }
    };
    match given {
        Some(Value::Text(text)) => {
            // What is no JSON object has no measurements, as in the exporters.
            let object: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(text).unwrap_or_default();
            for (name, value) in &object {
                add(name, value.as_f64());
            }
        }
        Some(map) => {
            for (name, value) in map.pairs()? {
                let number = match value {
                    Value::Int(_) | Value::Double(_) => value.as_number(),
                    _ => None,
                };
                add(name, number);
            }
        }
        None => {}
    }
    for (name, number) in added {
        add(name, Some(*number));
    }
    Ok(finish(bag))
}
