//! Log records: traces, exceptions, custom events and availability results. The first kind that matches counts.

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::limits::{self, cut};
use hindsight_rows::{Exception, Row, clock_milliseconds};
use hindsight_store::Table;

use crate::attributes::Attributes;
use crate::classic;
use crate::context::{self, Context, Origin, column};
use crate::dimensions::{dimensions, measurements};
use crate::error::{Malformed, Rejection};
use crate::ids;
use crate::names::{added, context as names, dropped, exception, log};
use crate::resource::Scope;
use crate::sampling;
use crate::time;
use crate::value::Value;
use crate::wire::fields;

/// A log record.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// Nanoseconds since 1970; 0 if it is not given.
    time: u64,
    observed: u64,
    severity: u32,
    body: Value<'a>,
    attributes: Attributes<'a>,
    trace: Option<[u8; 16]>,
    span: Option<[u8; 8]>,
    event_name: &'a str,
}

impl<'a> Record<'a> {
    /// The record.
    pub(crate) fn read(message: &'a [u8]) -> Result<Record<'a>, Malformed> {
        let mut record = Record {
            time: 0,
            observed: 0,
            severity: 0,
            body: Value::Null,
            attributes: Attributes::default(),
            trace: None,
            span: None,
            event_name: "",
        };
        for field in fields(message) {
            match field? {
                (1, field) => record.time = field.fixed64()?,
                (2, field) => record.severity = field.number()?,
                (5, field) => record.body = Value::read(field.bytes()?)?,
                (6, field) => record.attributes.add(field)?,
                (9, field) => record.trace = ids::valid(field.bytes()?),
                (10, field) => record.span = ids::valid(field.bytes()?),
                (11, field) => record.observed = field.fixed64()?,
                (12, field) => record.event_name = field.text()?,
                _ => {}
            }
        }
        Ok(record)
    }

    /// Ticks of the time of the record, or of its observation, or of its arrival.
    fn timestamp(&self, context: &Context) -> Result<i64, Rejection> {
        let given = [self.time, self.observed]
            .into_iter()
            .find(|time| *time > 0);
        let Some(given) = given else {
            return Ok(context.window.now);
        };
        time::within(given, &context.window).map_err(|outside| Rejection::Time {
            what: "log record",
            outside,
            window: context.window,
        })
    }

    /// `severityLevel`: 0 to 4. No number is 0.
    fn level(&self) -> i32 {
        match self.severity {
            0..=8 => 0,
            9..=12 => 1,
            13..=16 => 2,
            17..=20 => 3,
            _ => 4,
        }
    }
}

/// The row of a log record, or why it is not stored.
pub(crate) fn row<'r>(
    record: &Record<'r>,
    scope: Scope<'r>,
    origin: Origin<'r>,
    bag: &mut BagBuilder,
) -> Result<Result<(Table, Row<'r>), Rejection>, Malformed> {
    let context = origin.context;
    let attributes = &record.attributes;
    let (timestamp, item_count) = match record
        .timestamp(context)
        .and_then(|time| Ok((time, sampling::item_count(attributes, "")?)))
    {
        Ok(found) => found,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let agent = attributes.text(names::USER_AGENT)?.unwrap_or_default();
    let mut row = context::row(origin, &agent);
    row.timestamp = timestamp;
    row.item_count = item_count;
    context::set_person(&mut row, attributes, names::CLIENT, &agent, context)?;
    row.tags.operation_id = Cow::Owned(record.trace.map_or(String::new(), |id| ids::hex(&id)));
    row.tags.operation_parent_id =
        Cow::Owned(record.span.map_or(String::new(), |id| ids::hex(&id)));
    row.tags.operation_name = column(attributes.text(names::OPERATION)?.unwrap_or_default());
    let mut more: Vec<(&str, Cow<'_, str>)> = Vec::new();
    if !scope.name.is_empty() {
        more.push((added::LOGGER, Cow::Borrowed(scope.name)));
    }
    let table = fill(record, &mut row, &mut more)?;
    row.item_type = table.item_type();
    if !record.event_name.is_empty() {
        more.push((added::EVENT_NAME, Cow::Borrowed(record.event_name)));
    }
    row.dimensions = dimensions(attributes, dropped::keeps_of_log, &more, origin, bag)?;
    row.measurements = measurements(attributes, &[], bag)?;
    Ok(Ok((table, row)))
}

/// Fills the columns of the record's own table, and adds the dimensions that this table's records have.
fn fill<'r>(
    record: &Record<'r>,
    row: &mut Row<'r>,
    more: &mut Vec<(&str, Cow<'r, str>)>,
) -> Result<Table, Malformed> {
    let attributes = &record.attributes;
    if attributes.has(exception::TYPE) || attributes.has(exception::MESSAGE) {
        return fill_exception(record, row, more);
    }
    if let Some(name) = attributes.text(log::EVENT_NAME)? {
        row.name = cut(name, limits::ID);
        return Ok(Table::CustomEvents);
    }
    if attributes.has(log::EVENT_MARKER) {
        row.name = cut(message(record)?, limits::ID);
        return Ok(Table::CustomEvents);
    }
    if fill_availability(record, row)? {
        return Ok(Table::AvailabilityResults);
    }
    if let Some(base_type) = attributes.text(log::BASE_TYPE)?
        && let Some(table) = classic::fill(&base_type, record.body, row)?
    {
        return Ok(table);
    }
    row.severity = Some(record.level());
    row.message = cut(message(record)?, limits::MESSAGE);
    Ok(Table::Traces)
}

/// The body as text, without blanks around it; the name of the event or `n/a` if there is none.
fn message<'a>(record: &Record<'a>) -> Result<Cow<'a, str>, Malformed> {
    let text = match record.body {
        Value::Text(text) => Some(Cow::Borrowed(text.trim())),
        other => other.text()?,
    };
    Ok(match text.filter(|text| !text.is_empty()) {
        Some(text) => text,
        None if record.event_name.is_empty() => Cow::Borrowed("n/a"),
        None => Cow::Borrowed(record.event_name),
    })
}

fn fill_exception<'r>(
    record: &Record<'r>,
    row: &mut Row<'r>,
    more: &mut Vec<(&str, Cow<'r, str>)>,
) -> Result<Table, Malformed> {
    let attributes = &record.attributes;
    let body = record.body.text()?.filter(|body| !body.is_empty());
    let kind = attributes.text(exception::TYPE)?;
    let given = attributes.text(exception::MESSAGE)?;
    let stack = attributes.text(exception::STACK)?;
    let message = given.as_deref().or(body.as_deref());
    let thrown = Exception {
        type_name: kind.as_deref().unwrap_or(exception::UNKNOWN),
        message: message.unwrap_or(exception::UNKNOWN),
        stack: stack.as_deref().unwrap_or_default(),
        ..Exception::default()
    };
    row.severity = Some(record.level());
    row.set_exceptions(&[thrown], "");
    if given.is_some()
        && let Some(body) = body
    {
        more.push((added::LOGGER_MESSAGE, body));
    }
    Ok(Table::Exceptions)
}

/// Fills the columns of an availability result; says whether the record is one.
fn fill_availability<'r>(record: &Record<'r>, row: &mut Row<'r>) -> Result<bool, Malformed> {
    let attributes = &record.attributes;
    let (Some(id), Some(name), Some(duration), Some(success)) = (
        attributes.text(log::AVAILABILITY_ID)?,
        attributes.text(log::AVAILABILITY_NAME)?,
        attributes.first(log::AVAILABILITY_DURATION),
        attributes.text(log::AVAILABILITY_SUCCESS)?,
    ) else {
        return Ok(false);
    };
    row.id = cut(id, limits::ID);
    row.name = cut(name, limits::NAME);
    row.set_duration(match duration {
        Value::Text(text) => clock_milliseconds(text.trim()),
        other => other.as_number(),
    });
    // Recorded as digits, unlike the other tables' words.
    row.success = if success.trim().eq_ignore_ascii_case("true") {
        "1"
    } else {
        "0"
    };
    let location = attributes.text(log::AVAILABILITY_LOCATION)?;
    row.location = cut(location.unwrap_or_default(), limits::NAME);
    let message = match attributes.text(log::AVAILABILITY_MESSAGE)? {
        Some(message) => Some(message),
        None => record.body.text()?,
    };
    row.message = cut(message.unwrap_or_default(), limits::DATA);
    Ok(true)
}
