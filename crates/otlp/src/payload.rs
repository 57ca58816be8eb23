//! Requests: their outline, and their items as rows.

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::{Gathered, Owner};
use hindsight_store::AppId;

use crate::context::{Context, Origin};
use crate::dimensions::long_bytes;
use crate::error::{Malformed, Rejection};
use crate::log::{self, Record};
use crate::metric::{self, Identity, Metric};
use crate::resource::{self, Resource, Scope};
use crate::sampling;
use crate::series::Staged;
use crate::signal::Signal;
use crate::span::{self, Operations, Span};
use crate::time;
use crate::wire::{fields, messages};

/// A resource of a request.
#[derive(Debug, Default)]
pub struct ResourceOutline<'a> {
    /// The instrumentation key that its attributes name.
    pub key: Option<Cow<'a, str>>,
    /// Its spans, log records or data points.
    pub items: usize,
    /// The rows that these may have: an event of a span is one too.
    pub rows: usize,
    /// Bytes of what each row repeats: attributes of the resource and names of scopes.
    pub repeated: usize,
}

/// The resources of a request, without looking into its items; `None` if there are more than `most` of them.
///
/// # Errors
/// [`Malformed`] if the payload is no protobuf message.
pub fn outline(
    signal: Signal,
    payload: &[u8],
    most: usize,
) -> Result<Option<Vec<ResourceOutline<'_>>>, Malformed> {
    let mut resources = Vec::new();
    for message in messages(payload, 1) {
        if resources.len() == most {
            return Ok(None);
        }
        resources.push(outline_of(signal, message?)?);
    }
    Ok(Some(resources))
}

fn outline_of(signal: Signal, message: &[u8]) -> Result<ResourceOutline<'_>, Malformed> {
    let mut found = ResourceOutline::default();
    let resource = resource_of(message)?;
    found.key = resource::key(resource)?;
    let mut longest = 0;
    for scope in scopes(message) {
        let scope = scope?;
        longest = scope.scope.name.len().max(longest);
        for item in scope.items() {
            let item = item?;
            let (items, rows) = match signal {
                Signal::Traces => (1, 1 + messages(item, 11).count()),
                Signal::Logs => (1, 1),
                Signal::Metrics => {
                    let points = Metric::read(item)?.points().count();
                    (points, points)
                }
            };
            found.items += items;
            found.rows += rows;
        }
    }
    found.repeated = resource.len() + longest;
    Ok(found)
}

/// What became of the items of a request.
#[derive(Debug, Default)]
pub struct Report {
    /// Items that are not stored.
    pub rejected: usize,
    /// Why the first of them is not.
    pub reason: Option<Rejection>,
    /// Why the first event of a span is not stored whose span is.
    pub warning: Option<Rejection>,
    /// Whether an item or event lies outside of the window of accepted times.
    pub outside_window: bool,
}

impl Report {
    fn reject(&mut self, rejection: Rejection) {
        self.outside_window |= rejection.is_about_time();
        self.rejected += 1;
        self.reason.get_or_insert(rejection);
    }

    fn warn(&mut self, rejection: Rejection) {
        self.outside_window |= rejection.is_about_time();
        self.warning.get_or_insert(rejection);
    }
}

/// Why a request is not mapped to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// It cannot be read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Its rows need more memory than they may have.
    #[error("The rows need more memory")]
    Memory,
}

/// Where the rows of a request go.
pub struct Sink<'s> {
    /// The rows.
    pub rows: Gathered,
    /// What became of the items.
    pub report: Report,
    /// The most bytes of texts in rows.
    pub budget: usize,
    /// The next item's place in the request.
    next: usize,
    bag: BagBuilder,
    series: Vec<(AppId, Staged<'s>)>,
}

impl<'s> Sink<'s> {
    /// No rows yet, of texts of at most `budget` bytes. `series`: those of each application that gets data points.
    pub fn new(budget: usize, series: Vec<(AppId, Staged<'s>)>) -> Sink<'s> {
        Sink {
            rows: Gathered::default(),
            report: Report::default(),
            budget,
            next: 0,
            bag: BagBuilder::new(),
            series,
        }
    }

    /// What is to be stored, what became of the items, and the changed series.
    pub fn finish(self) -> (Gathered, Report, Vec<(AppId, Staged<'s>)>) {
        (self.rows, self.report, self.series)
    }

    fn check(&self) -> Result<(), MapError> {
        if self.rows.bytes() > self.budget {
            return Err(MapError::Memory);
        }
        Ok(())
    }
}

/// Maps the items of a request to rows. `owners` has an entry for each resource; the items of one without an application are left
/// out, and the report does not count them.
///
/// # Errors
/// [`MapError`] if the payload cannot be read, or needs more memory than the sink's budget.
pub fn map(
    signal: Signal,
    payload: &[u8],
    owners: &[Option<Owner<'_>>],
    context: &Context,
    sink: &mut Sink<'_>,
) -> Result<(), MapError> {
    let operations = match signal {
        Signal::Traces => Some(operations(payload)?),
        Signal::Logs | Signal::Metrics => None,
    };
    for (message, owner) in messages(payload, 1).zip(owners) {
        let message = message?;
        let Some(owner) = owner else { continue };
        let given = resource_of(message)?;
        let resource = Resource::read(given, &context.dimensions.resource)?;
        let of = OfResource {
            app: owner.app,
            origin: Origin {
                app: owner.columns,
                resource: &resource,
                context,
            },
        };
        let identity = match signal {
            Signal::Metrics => Some(Identity::of_resource(given)?),
            Signal::Traces | Signal::Logs => None,
        };
        for scope in scopes(message) {
            let scope = scope?;
            let identity = identity
                .as_ref()
                .map(|resource| resource.with_scope(scope.scope));
            for item in scope.items() {
                match (&operations, &identity) {
                    (Some(operations), _) => of.span(item?, operations, sink)?,
                    (None, Some(identity)) => of.metric(item?, identity, sink)?,
                    (None, None) => of.log(item?, scope.scope, sink)?,
                }
                sink.check()?;
            }
        }
    }
    Ok(())
}

/// The operations of all spans of a payload.
fn operations(payload: &[u8]) -> Result<Operations<'_>, Malformed> {
    let mut spans = Vec::new();
    for message in messages(payload, 1) {
        for scope in scopes(message?) {
            for span in scope?.items() {
                spans.push(span?);
            }
        }
    }
    Operations::of(spans.into_iter())
}

/// The resource of a message of a resource's telemetry.
fn resource_of(message: &[u8]) -> Result<&[u8], Malformed> {
    messages(message, 1).last().unwrap_or(Ok(&[]))
}

/// The scopes of a message of a resource's telemetry.
fn scopes(message: &[u8]) -> impl Iterator<Item = Result<ScopeItems<'_>, Malformed>> {
    // 1000 is where old senders have their scopes, in the same form.
    fields(message).filter_map(|field| match field {
        Ok((2 | 1000, field)) => Some(field.bytes().and_then(ScopeItems::read)),
        Ok(_) => None,
        Err(malformed) => Some(Err(malformed)),
    })
}

/// A scope with its items.
struct ScopeItems<'a> {
    scope: Scope<'a>,
    message: &'a [u8],
}

impl<'a> ScopeItems<'a> {
    fn read(message: &'a [u8]) -> Result<ScopeItems<'a>, Malformed> {
        let mut scope = Scope::default();
        for given in messages(message, 1) {
            scope = Scope::read(given?)?;
        }
        Ok(ScopeItems { scope, message })
    }

    /// The messages of its spans, log records or metrics.
    fn items(&self) -> impl Iterator<Item = Result<&'a [u8], Malformed>> + use<'a> {
        messages(self.message, 2)
    }
}

/// What the items of a resource are mapped with.
struct OfResource<'r> {
    app: AppId,
    origin: Origin<'r>,
}

impl<'r> OfResource<'r> {
    /// Whether an item is small enough. The events of a span are items of their own, and the texts of models may be longer.
    fn check_size(
        &self,
        what: &'static str,
        message: &[u8],
        attributes: u32,
        events: Option<u32>,
    ) -> Result<Result<(), Rejection>, Malformed> {
        let limit = self.origin.context.max_item_bytes;
        if message.len() <= limit {
            return Ok(Ok(()));
        }
        let mut bytes = message.len();
        for field in fields(message) {
            match field? {
                (number, field) if Some(number) == events => bytes -= field.bytes()?.len(),
                (number, field) if number == attributes => bytes -= long_bytes(field)?,
                _ => {}
            }
        }
        Ok(if bytes > limit {
            Err(Rejection::TooLarge { what, bytes, limit })
        } else {
            Ok(())
        })
    }

    fn span(
        &self,
        message: &'r [u8],
        operations: &'r Operations<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Malformed> {
        let index = sink.next;
        sink.next += 1;
        if let Err(rejection) = self.check_size("span", message, 9, Some(11))? {
            sink.report.reject(rejection);
            return Ok(());
        }
        let Some(span) = Span::read(message)? else {
            sink.report.reject(Rejection::NoId);
            return Ok(());
        };
        let timestamp = match time::within(span.start, &self.origin.context.window) {
            Ok(timestamp) => timestamp,
            Err(outside) => {
                let (what, window) = ("span", self.origin.context.window);
                sink.report.reject(Rejection::Time {
                    what,
                    outside,
                    window,
                });
                return Ok(());
            }
        };
        let item_count = match sampling::item_count(&span.attributes, span.trace_state) {
            Ok(count) => count,
            Err(rejection) => {
                sink.report.reject(rejection);
                return Ok(());
            }
        };
        let operation = operations.name(&span);
        let origin = self.origin;
        let bag = &mut sink.bag;
        let (table, row) = span::row(&span, timestamp, item_count, operation, origin, bag)?;
        sink.rows.push(index, self.app, table, &row);
        let parent = span::Parent {
            span: &span,
            row: &row,
        };
        let Sink {
            rows, report, bag, ..
        } = sink;
        span::event_rows(
            &parent,
            origin,
            bag,
            |rejection| report.warn(rejection),
            |table, row| rows.push(index, self.app, table, row),
        )
    }

    fn log(
        &self,
        message: &'r [u8],
        scope: Scope<'r>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Malformed> {
        let index = sink.next;
        sink.next += 1;
        if let Err(rejection) = self.check_size("log record", message, 6, None)? {
            sink.report.reject(rejection);
            return Ok(());
        }
        let record = Record::read(message)?;
        match log::row(&record, scope, self.origin, &mut sink.bag)? {
            Ok((table, row)) => sink.rows.push(index, self.app, table, &row),
            Err(rejection) => sink.report.reject(rejection),
        }
        Ok(())
    }

    fn metric(
        &self,
        message: &'r [u8],
        identity: &Identity,
        sink: &mut Sink<'_>,
    ) -> Result<(), Malformed> {
        let metric = Metric::read(message)?;
        let Sink {
            rows,
            report,
            bag,
            series,
            next,
            ..
        } = sink;
        let app = self.app;
        let Some((_, series)) = series.iter_mut().find(|(of, _)| *of == app) else {
            return Ok(());
        };
        for point in metric.points() {
            let index = *next;
            *next += 1;
            match metric::row(self.origin, identity, &metric, point?, series, bag)? {
                Ok(Some((table, row))) => rows.push(index, app, table, &row),
                Ok(None) => {}
                Err(rejection) => report.reject(rejection),
            }
        }
        Ok(())
    }
}
