//! Log records whose body is a classic item: how the shim of the classic API over OpenTelemetry sends page views and others.

use std::borrow::Cow;

use hindsight_rows::limits::{self, cut};
use hindsight_rows::{Exception, Row, clock_milliseconds};
use hindsight_store::Table;

use crate::error::Malformed;
use crate::value::Value;

/// The fields of a body.
struct Body<'a>(Vec<(&'a str, Value<'a>)>);

impl<'a> Body<'a> {
    fn get(&self, name: &str) -> Value<'a> {
        let found = self.0.iter().find(|(key, _)| *key == name);
        found.map_or(Value::Null, |(_, value)| *value)
    }

    fn text(&self, name: &str, limit: usize) -> Result<Cow<'a, str>, Malformed> {
        Ok(cut(self.get(name).text()?.unwrap_or_default(), limit))
    }

    /// Milliseconds: a number, or a text such as `00:00:01.250`.
    fn milliseconds(&self) -> Option<f64> {
        match self.get("duration") {
            Value::Text(text) if text.contains(':') => clock_milliseconds(text.trim()),
            other => other.as_number(),
        }
    }

    fn is_true(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(value) => value,
            Value::Text(text) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    fn severity(&self) -> Option<i32> {
        const WORDS: [&str; 5] = ["verbose", "information", "warning", "error", "critical"];
        match self.get("severityLevel") {
            Value::Text(word) => {
                let place = WORDS
                    .iter()
                    .position(|known| known.eq_ignore_ascii_case(word))?;
                i32::try_from(place).ok()
            }
            other => other
                .as_number()
                .map(|level| level as i32)
                .filter(|level| (0..=4).contains(level)),
        }
    }
}

/// Fills the columns of the item that the body is; `None` for a base type that is not known, or a body that is no item.
pub(crate) fn fill<'r>(
    base_type: &str,
    body: Value<'r>,
    row: &mut Row<'r>,
) -> Result<Option<Table>, Malformed> {
    let body = Body(body.pairs()?);
    if body.0.is_empty() {
        return Ok(None);
    }
    Ok(Some(match base_type {
        "PageViewData" => {
            row.id = body.text("id", limits::ID)?;
            row.name = body.text("name", limits::NAME)?;
            row.url = body.text("url", limits::URL)?;
            row.set_duration(body.milliseconds());
            Table::PageViews
        }
        "AvailabilityData" => {
            row.id = body.text("id", limits::ID)?;
            row.name = body.text("name", limits::NAME)?;
            row.location = body.text("runLocation", limits::NAME)?;
            row.message = body.text("message", limits::DATA)?;
            row.success = if body.is_true("success") { "1" } else { "0" };
            row.set_duration(body.milliseconds());
            Table::AvailabilityResults
        }
        "ExceptionData" => {
            row.severity = body.severity();
            fill_exceptions(&body, row)?;
            Table::Exceptions
        }
        "MessageData" => {
            row.severity = body.severity();
            row.message = body.text("message", limits::MESSAGE)?;
            Table::Traces
        }
        "EventData" => {
            row.name = body.text("name", limits::ID)?;
            Table::CustomEvents
        }
        _ => return Ok(None),
    }))
}

fn fill_exceptions(body: &Body<'_>, row: &mut Row<'_>) -> Result<(), Malformed> {
    let mut texts = Vec::new();
    for element in body.get("exceptions").elements()? {
        let fields = Body(element.pairs()?);
        let text = |name| Ok::<_, Malformed>(fields.get(name).text()?.unwrap_or_default());
        texts.push((
            text("id")?,
            text("outerId")?,
            text("typeName")?,
            text("message")?,
            text("stack")?,
        ));
    }
    let chain: Vec<Exception<'_>> = texts
        .iter()
        .map(|(id, outer_id, type_name, message, stack)| Exception {
            id,
            outer_id,
            type_name,
            message,
            stack,
            frames: Vec::new(),
        })
        .collect();
    row.set_exceptions(&chain, &body.text("problemId", limits::NAME)?);
    Ok(())
}
