//! Spans: requests and dependencies, with their events.

mod column;
mod dependency;
mod event;
mod link;
mod message;
mod operation;
mod request;

pub(crate) use event::{Parent, rows as event_rows};
pub(crate) use message::Span;
pub(crate) use operation::Operations;

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::Row;
use hindsight_store::Table;

use crate::context::{self, Origin, column};
use crate::dimensions::{dimensions, measurements};
use crate::error::Malformed;
use crate::names::{added, context as names, dropped, http};
use crate::time;
use message::Status;

/// The row of a span. `timestamp` are the ticks of its start, `item_count` says how many spans it stands for, and `operation` is
/// the name of the request above it.
pub(crate) fn row<'r>(
    span: &Span<'r>,
    timestamp: i64,
    item_count: i32,
    operation: &'r str,
    origin: Origin<'r>,
    bag: &mut BagBuilder,
) -> Result<(Table, Row<'r>), Malformed> {
    let context = origin.context;
    let attributes = &span.attributes;
    let agent = attributes.text(names::USER_AGENT)?.unwrap_or_default();
    // The user agent of other spans is that of what they call.
    let shown = if attributes.has(http::METHOD) {
        &*agent
    } else {
        ""
    };
    let mut row = context::row(origin, shown);
    row.timestamp = timestamp;
    row.item_count = item_count;
    row.set_duration(Some(time::milliseconds(span.start, span.end)));
    row.id = Cow::Owned(span.id.hex());
    row.tags.operation_id = Cow::Owned(span.trace.hex());
    row.tags.operation_parent_id =
        Cow::Owned(span.parent.map(|parent| parent.hex()).unwrap_or_default());
    let is_request = span.kind.is_request();
    let client = if is_request {
        names::CLIENT
    } else {
        names::DEPENDENCY_CLIENT
    };
    context::set_person(&mut row, attributes, client, &agent, context)?;
    let mut enqueued = None;
    let table = if is_request {
        enqueued = request::fill(span, &mut row)?;
        row.tags.operation_name = row.name.clone();
        Table::Requests
    } else {
        dependency::fill(span, &mut row)?;
        row.tags.operation_name = match attributes.text(names::OPERATION)? {
            Some(name) => column(name),
            None => Cow::Borrowed(operation),
        };
        Table::Dependencies
    };
    row.item_type = table.item_type();
    let mut more: Vec<(&str, Cow<'_, str>)> = Vec::new();
    if let Some(links) = link::dimension(&span.links)? {
        more.push((added::LINKS, Cow::Owned(links)));
    }
    if let Status::Error(message) | Status::Ok(message) | Status::Unset(message) = span.status
        && !message.is_empty()
    {
        more.push((added::STATUS, Cow::Borrowed(message)));
    }
    row.dimensions = dimensions(attributes, dropped::keeps_of_span, &more, origin, bag)?;
    let enqueued: Vec<(&str, f64)> = enqueued
        .map(|mean| ("timeSinceEnqueued", mean))
        .into_iter()
        .collect();
    row.measurements = measurements(attributes, &enqueued, bag)?;
    Ok((table, row))
}
