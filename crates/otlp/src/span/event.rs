//! Events of spans: exceptions and traces.

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::limits::{self, cut};
use hindsight_rows::{Exception, Row};
use hindsight_store::Table;

use super::message::{Event, Span};
use crate::context::{self, Origin, column};
use crate::dimensions::{dimensions, measurements};
use crate::error::{Malformed, Rejection};
use crate::names::{context as names, dropped, exception};
use crate::time;

/// What an event has from its span.
pub(crate) struct Parent<'s, 'r> {
    /// The span.
    pub(crate) span: &'s Span<'r>,
    /// The row of the span.
    pub(crate) row: &'s Row<'r>,
}

/// The rows of a span's events, each given to `take`. `reject` receives those that are not stored.
pub(crate) fn rows<'r>(
    parent: &Parent<'_, 'r>,
    origin: Origin<'r>,
    bag: &mut BagBuilder,
    mut reject: impl FnMut(Rejection),
    mut take: impl FnMut(Table, &Row<'_>),
) -> Result<(), Malformed> {
    let context = origin.context;
    for message in &parent.span.events {
        if message.len() > context.max_item_bytes {
            reject(Rejection::TooLarge {
                what: "span event",
                bytes: message.len(),
                limit: context.max_item_bytes,
            });
            continue;
        }
        let event = Event::read(message)?;
        match time::within(event.time, &context.window) {
            Ok(timestamp) => {
                let (table, row) = row(&event, timestamp, parent, origin, bag)?;
                take(table, &row);
            }
            Err(outside) => reject(Rejection::Time {
                what: "span event",
                outside,
                window: context.window,
            }),
        }
    }
    Ok(())
}

fn row<'r>(
    event: &Event<'r>,
    timestamp: i64,
    parent: &Parent<'_, 'r>,
    origin: Origin<'r>,
    bag: &mut BagBuilder,
) -> Result<(Table, Row<'r>), Malformed> {
    let attributes = &event.attributes;
    let mut row = context::row(origin, "");
    row.timestamp = timestamp;
    row.item_count = parent.row.item_count;
    row.tags.operation_id = parent.row.tags.operation_id.clone();
    row.tags.operation_parent_id = parent.row.id.clone();
    row.tags.operation_name = parent.row.tags.operation_name.clone();
    row.tags.session_id = match attributes.plain(names::SESSION) {
        "" => parent.row.tags.session_id.clone(),
        own => column(Cow::Borrowed(own)),
    };
    let table = if event.name == exception::EVENT {
        let text = |names| attributes.text(names);
        let kind = text(exception::TYPE)?;
        let message = text(exception::MESSAGE)?;
        let stack = text(exception::STACK)?;
        let thrown = Exception {
            type_name: kind.as_deref().unwrap_or(exception::UNKNOWN),
            message: message.as_deref().unwrap_or(exception::UNKNOWN),
            stack: stack.as_deref().unwrap_or_default(),
            ..Exception::default()
        };
        row.set_exceptions(&[thrown], "");
        Table::Exceptions
    } else {
        row.message = cut(Cow::Borrowed(event.name), limits::MESSAGE);
        Table::Traces
    };
    row.item_type = table.item_type();
    row.dimensions = dimensions(attributes, dropped::keeps_of_span, &[], origin, bag)?;
    row.measurements = measurements(attributes, &[], bag)?;
    Ok((table, row))
}
