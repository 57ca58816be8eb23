//! Data points: custom metrics and performance counters.

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::{Point, Row};
use hindsight_store::Table;
use sha2::{Digest, Sha256};

use crate::attributes::Attributes;
use crate::context::{self, Origin};
use crate::dimensions::dimensions;
use crate::error::{Malformed, Rejection};
use crate::names::dropped;
use crate::resource::Scope;
use crate::series::{Key, Number, Staged, Total};
use crate::time;
use crate::wire::fields;

/// Names that the exporters give to performance counters, and the paths that they send.
const COUNTERS: &[(&str, &str)] = &[
    (
        "processtime",
        r"\Process(??APP_WIN32_PROC??)\% Processor Time",
    ),
    (
        "processtimenormalized",
        r"\Process(??APP_WIN32_PROC??)\% Processor Time Normalized",
    ),
    (
        "processprivatebytes",
        r"\Process(??APP_WIN32_PROC??)\Private Bytes",
    ),
    (
        "processiobytessec",
        r"\Process(??APP_WIN32_PROC??)\IO Data Bytes/sec",
    ),
    (
        "processortotalprocessortime",
        r"\Processor(_Total)\% Processor Time",
    ),
    ("memoryavailablebytes", r"\Memory\Available Bytes"),
    (
        "requestssec",
        r"\ASP.NET Applications(??APP_W3SVC_PROC??)\Requests/Sec",
    ),
    (
        "requestexecutiontime",
        r"\ASP.NET Applications(??APP_W3SVC_PROC??)\Request Execution Time",
    ),
    (
        "exceptionssec",
        r"\.NET CLR Exceptions(??APP_CLR_PROC??)\# of Exceps Thrown / sec",
    ),
];
const COUNTER_PREFIX: &str = "azuremonitor.performancecounter.";
/// The flag of a point that says that its series ended.
const NO_RECORDED_VALUE: u64 = 1;

/// A metric, with its points in `data`.
#[derive(Debug, Default)]
pub(crate) struct Metric<'a> {
    pub(crate) name: &'a str,
    unit: &'a str,
    data: &'a [u8],
    kind: Kind,
    temporality: u32,
    is_monotonic: bool,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    /// A type that is not known, without points.
    #[default]
    None,
    Gauge,
    Sum,
    Histogram,
    ExponentialHistogram,
    Summary,
}

/// What a point says of the time before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Temporality {
    /// Nothing: it stands for itself.
    Own,
    /// It counts since its series began.
    Cumulative,
}

impl<'a> Metric<'a> {
    /// The metric.
    pub(crate) fn read(message: &'a [u8]) -> Result<Metric<'a>, Malformed> {
        let mut metric = Metric::default();
        for field in fields(message) {
            let (kind, field) = match field? {
                (1, field) => {
                    metric.name = field.text()?;
                    continue;
                }
                (3, field) => {
                    metric.unit = field.text()?;
                    continue;
                }
                (5, field) => (Kind::Gauge, field),
                (7, field) => (Kind::Sum, field),
                (9, field) => (Kind::Histogram, field),
                (10, field) => (Kind::ExponentialHistogram, field),
                (11, field) => (Kind::Summary, field),
                _ => continue,
            };
            (metric.kind, metric.data) = (kind, field.bytes()?);
        }
        for field in fields(metric.data) {
            match field? {
                (2, field) if metric.kind != Kind::Gauge => metric.temporality = field.number()?,
                (3, field) if metric.kind == Kind::Sum => {
                    metric.is_monotonic = field.varint()? != 0
                }
                _ => {}
            }
        }
        Ok(metric)
    }

    /// The messages of the points.
    pub(crate) fn points(&self) -> impl Iterator<Item = Result<&'a [u8], Malformed>> {
        crate::wire::messages(self.data, 1)
    }

    fn temporality(&self) -> Result<Temporality, Rejection> {
        match (self.kind, self.temporality) {
            (Kind::Gauge | Kind::Summary | Kind::None, _) | (_, 1) => Ok(Temporality::Own),
            // What goes up and down is a value, not a count.
            (Kind::Sum, 2) if !self.is_monotonic => Ok(Temporality::Own),
            (_, 2) => Ok(Temporality::Cumulative),
            _ => Err(Rejection::NoTemporality),
        }
    }

    /// The name in rows.
    fn shown_name(&self) -> &'a str {
        let counter = self.name.strip_prefix(COUNTER_PREFIX);
        let path = counter.and_then(|name| COUNTERS.iter().find(|(known, _)| *known == name));
        path.map_or(self.name, |(_, path)| path)
    }
}

/// A point of any type.
#[derive(Debug, Default)]
struct Measured<'a> {
    attributes: Attributes<'a>,
    start: u64,
    time: u64,
    value: Option<Number>,
    /// `None` for points of one value.
    count: Option<u64>,
    min: Option<f64>,
    max: Option<f64>,
    has_no_value: bool,
}

impl<'a> Measured<'a> {
    fn read(kind: Kind, message: &'a [u8]) -> Result<Measured<'a>, Malformed> {
        let mut point = Measured::default();
        if !matches!(kind, Kind::Gauge | Kind::Sum) {
            (point.value, point.count) = (Some(Number::Double(0.0)), Some(0));
        }
        for field in fields(message) {
            let (number, field) = field?;
            match (kind, number) {
                (_, 2) => point.start = field.fixed64()?,
                (_, 3) => point.time = field.fixed64()?,
                (Kind::Gauge | Kind::Sum, 4) => point.value = Some(Number::Double(field.double()?)),
                (Kind::Gauge | Kind::Sum, 6) => {
                    point.value = Some(Number::Int(field.fixed64()?.cast_signed()));
                }
                (_, 4) => point.count = Some(field.fixed64()?),
                (_, 5) if !matches!(kind, Kind::Gauge | Kind::Sum) => {
                    point.value = Some(Number::Double(field.double()?));
                }
                (Kind::Gauge | Kind::Sum | Kind::Summary, 7)
                | (Kind::Histogram, 9)
                | (Kind::ExponentialHistogram, 1) => point.attributes.add(field)?,
                (Kind::Summary, 6) => point.add_quantile(field.bytes()?)?,
                (Kind::Gauge | Kind::Sum | Kind::Summary, 8)
                | (Kind::Histogram | Kind::ExponentialHistogram, 10) => {
                    point.has_no_value = field.varint()? & NO_RECORDED_VALUE != 0;
                }
                (Kind::Histogram, 11) | (Kind::ExponentialHistogram, 12) => {
                    point.min = Some(field.double()?);
                }
                (Kind::Histogram, 12) | (Kind::ExponentialHistogram, 13) => {
                    point.max = Some(field.double()?);
                }
                _ => {}
            }
        }
        Ok(point)
    }

    /// The quantiles 0 and 1 are the minimum and the maximum; others are lost.
    fn add_quantile(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let (mut quantile, mut value) = (0.0, 0.0);
        for field in fields(message) {
            match field? {
                (1, field) => quantile = field.double()?,
                (2, field) => value = field.double()?,
                _ => {}
            }
        }
        if quantile == 0.0 {
            self.min = Some(value);
        } else if quantile == 1.0 {
            self.max = Some(value);
        }
        Ok(())
    }

    /// The value, unless there is none, or none that a row can show.
    fn shown(&self) -> Option<Number> {
        let value = self.value.filter(|value| value.as_f64().is_finite());
        value.filter(|_| !self.has_no_value && self.count != Some(0))
    }
}

/// Digests of what the series of a metric have in common.
#[derive(Clone)]
pub(crate) struct Identity(Sha256);

impl Identity {
    /// The series of a resource, by its attributes.
    pub(crate) fn of_resource(message: &[u8]) -> Result<Identity, Malformed> {
        let mut attributes = Attributes::default();
        for field in fields(message) {
            if let (1, field) = field? {
                attributes.add(field)?;
            }
        }
        Identity(Sha256::new()).with_attributes(&attributes)
    }

    /// Those of a scope.
    pub(crate) fn with_scope(&self, scope: Scope<'_>) -> Identity {
        self.clone().with(scope.name).with(scope.version)
    }

    fn with_metric(&self, metric: &Metric<'_>) -> Identity {
        let kind = format!(
            "{:?} {} {}",
            metric.kind, metric.temporality, metric.is_monotonic
        );
        self.clone().with(metric.name).with(metric.unit).with(&kind)
    }

    fn with(mut self, text: &str) -> Identity {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    fn with_attributes(self, attributes: &Attributes<'_>) -> Result<Identity, Malformed> {
        let mut pairs = Vec::new();
        for (name, value) in attributes.iter() {
            pairs.push((name, value.text()?.unwrap_or_default()));
        }
        pairs.sort_unstable();
        let start = self.with(&pairs.len().to_string());
        let add = |identity: Identity, (name, value): (&str, Cow<'_, str>)| {
            identity.with(name).with(&value)
        };
        Ok(pairs.into_iter().fold(start, add))
    }

    fn key(self) -> Key {
        let digest = self.0.finalize();
        let mut key = [0; 16];
        for (byte, digit) in key.iter_mut().zip(digest) {
            *byte = digit;
        }
        key
    }
}

/// The row of a point; `Ok(Ok(None))` if it has none, or why it is not stored.
pub(crate) fn row<'r>(
    origin: Origin<'r>,
    identity: &Identity,
    metric: &Metric<'r>,
    message: &'r [u8],
    series: &mut Staged<'_>,
    bag: &mut BagBuilder,
) -> Result<Result<Option<(Table, Row<'r>)>, Rejection>, Malformed> {
    let context = origin.context;
    if message.len() > context.max_item_bytes {
        return Ok(Err(Rejection::TooLarge {
            what: "data point",
            bytes: message.len(),
            limit: context.max_item_bytes,
        }));
    }
    if metric.name.is_empty() {
        return Ok(Err(Rejection::NoName));
    }
    let temporality = match metric.temporality() {
        Ok(temporality) => temporality,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let point = Measured::read(metric.kind, message)?;
    let timestamp = match time::within(point.time, &context.window) {
        Ok(timestamp) => timestamp,
        Err(outside) => {
            return Ok(Err(Rejection::Time {
                what: "data point",
                outside,
                window: context.window,
            }));
        }
    };
    let Some(value) = point.shown() else {
        return Ok(Ok(None));
    };
    let (sum, count, has_bounds) = match temporality {
        Temporality::Own => (value.as_f64(), point.count.unwrap_or(1), true),
        Temporality::Cumulative => {
            let key = identity
                .with_metric(metric)
                .with_attributes(&point.attributes)?
                .key();
            let total = Total {
                start: point.start,
                time: point.time,
                sum: value,
                count: point.count,
            };
            match series.difference(key, total) {
                Ok(Some(found)) => (found.sum, found.count, found.is_whole),
                Ok(None) => return Ok(Ok(None)),
                Err(rejection) => return Ok(Err(rejection)),
            }
        }
    };
    let bound = |value: Option<f64>| value.filter(|value| has_bounds && value.is_finite());
    let mut row = context::row(origin, "");
    row.timestamp = timestamp;
    row.tags.synthetic_source = context::synthetic_source(&point.attributes, "")?;
    row.dimensions = dimensions(&point.attributes, dropped::keeps_of_point, &[], origin, bag)?;
    let table = row.set_metric(Point {
        name: Cow::Borrowed(metric.shown_name()),
        sum: Some(sum),
        count: i64::try_from(count).unwrap_or(i64::MAX),
        min: bound(point.min),
        max: bound(point.max),
        std_dev: None,
    });
    row.item_type = table.item_type();
    Ok(Ok(Some((table, row))))
}
