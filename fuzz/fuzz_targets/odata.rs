//! Events and metrics requests translate to KQL trees without a panic, and each tree prints as KQL that parses to an equal tree.
//!
//! The input's lines are the request's parameters.

#![no_main]

use hindsight_engine::fuzzing::{events_as_kql, metric_as_kql};
use hindsight_engine::{EventsParameters, MetricParameters};
use hindsight_kql_syntax::ast::Query;
use hindsight_kql_types::ticks::{TICKS_PER_DAY, UNIX_EPOCH_TICKS};
use libfuzzer_sys::fuzz_target;

const NOW: i64 = UNIX_EPOCH_TICKS + 20_000 * TICKS_PER_DAY;

fuzz_target!(|text: &str| {
    let mut lines = text.lines().map(str::to_owned);
    let mut next = || lines.next().filter(|line| !line.is_empty());
    let metric = MetricParameters {
        filter: next(),
        timespan: next(),
        orderby: next(),
        interval: next(),
        metric: next().unwrap_or_else(|| "requests/duration".to_owned()),
        segment: next().into_iter().collect(),
        ..MetricParameters::default()
    };
    if let Ok(query) = metric_as_kql(&metric, NOW, NOW - 90 * TICKS_PER_DAY) {
        reads_back(&query);
    }
    let events = EventsParameters {
        event_type: "$all".to_owned(),
        filter: metric.filter,
        timespan: metric.timespan,
        orderby: metric.orderby,
        search: metric.interval,
        select: Some(metric.metric),
        top: metric.segment.into_iter().next(),
        skip: next(),
        count: next(),
        ..EventsParameters::default()
    };
    if let Ok(queries) = events_as_kql(&events, NOW) {
        queries.iter().for_each(reads_back);
    }
});

fn reads_back(query: &Query) {
    let printed = query.to_string();
    let again = hindsight_kql_syntax::parse(&printed);
    // What is made here has no parentheses of its own, what is read has those that were printed: the text tells.
    assert!(
        again.diagnostics.is_empty() && again.query.to_string() == printed,
        "prints as what does not read back equal:\n{printed}\n{:?}",
        again.diagnostics
    );
}
