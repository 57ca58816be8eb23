//! From an envelope to a row of its table: the nine base types (`docs/api-facts.md §7`).

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_store::Table;

use super::bags;
use super::envelope::{BaseData, DataPoint, ExceptionDetails};
use super::limits::{self, cut};
use super::row::{Row, Thrown};
use super::tolerant::{Loose, Pairs, Text};

/// Fills the row's own columns from `data` and says which table it belongs to; `None` for an unknown base type.
pub(crate) fn read<'a>(
    base_type: &str,
    mut data: BaseData<'a>,
    row: &mut Row<'a>,
    bag: &mut BagBuilder,
) -> Option<Table> {
    let mut properties = std::mem::take(&mut data.properties);
    add_missing(&mut properties, std::mem::take(&mut row.tags.properties));
    row.dimensions = bags::dimensions(properties, bag);
    row.measurements = bags::measurements(std::mem::take(&mut data.measurements), bag);
    let table = match base_type {
        "RequestData" => request(data, row),
        "RemoteDependencyData" => dependency(data, row),
        "MessageData" => message(data, row),
        "ExceptionData" => exception(data, row),
        "EventData" => event(data, row),
        "MetricData" => metric(data, row),
        "PageViewData" | "PageviewData" => page_view(data, row),
        "PageViewPerfData"
        | "PageviewPerfData"
        | "PageViewPerformanceData"
        | "PageviewPerformanceData" => browser_timing(data, row),
        "AvailabilityData" => availability(data, row),
        "PerformanceCounterData" => old_counter(data, row),
        _ => return None,
    };
    row.item_type = table.item_type();
    Some(table)
}

/// Adds the properties that the item does not have itself.
fn add_missing<'a>(properties: &mut Pairs<'a>, more: Vec<(Cow<'a, str>, Loose<'a>)>) {
    for (key, value) in more {
        if properties.0.iter().all(|(known, _)| *known != key) {
            properties.0.push((key, value));
        }
    }
}

fn text(text: Text<'_>, limit: usize) -> Cow<'_, str> {
    cut(text.0, limit)
}

/// A duration and the bucket that it falls into.
fn timed(row: &mut Row<'_>, milliseconds: Option<f64>) {
    row.duration = milliseconds;
    row.performance_bucket = milliseconds.map_or("", bucket);
}

fn bucket(milliseconds: f64) -> &'static str {
    const BUCKETS: [(f64, &str); 10] = [
        (250.0, "<250ms"),
        (500.0, "250ms-500ms"),
        (1_000.0, "500ms-1sec"),
        (3_000.0, "1sec-3sec"),
        (7_000.0, "3sec-7sec"),
        (15_000.0, "7sec-15sec"),
        (30_000.0, "15sec-30sec"),
        (60_000.0, "30sec-1min"),
        (120_000.0, "1min-2min"),
        (300_000.0, "2min-5min"),
    ];
    BUCKETS
        .iter()
        .find(|(limit, _)| milliseconds < *limit)
        .map_or(">=5min", |(_, name)| name)
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn request<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    timed(row, data.duration.milliseconds());
    row.success = truth(data.success.truth().unwrap_or(true));
    row.id = text(data.id, limits::ID);
    row.name = text(data.name, limits::NAME);
    row.url = text(data.url, limits::URL);
    row.source = text(data.source, limits::NAME);
    row.result_code = text(data.response_code, limits::NAME);
    Table::Requests
}

fn dependency<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    timed(row, data.duration.milliseconds());
    row.success = truth(data.success.truth().unwrap_or(true));
    row.id = text(data.id, limits::ID);
    row.name = text(data.name, limits::NAME);
    row.target = text(data.target, limits::NAME);
    row.kind = text(data.kind, limits::NAME);
    row.data = text(data.data, limits::DATA);
    row.result_code = text(data.result_code, limits::NAME);
    Table::Dependencies
}

fn message<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.severity = data.severity_level.severity();
    row.message = text(data.message, limits::MESSAGE);
    Table::Traces
}

fn event<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.name = text(data.name, limits::ID);
    Table::CustomEvents
}

fn page_view<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    timed(row, data.duration.milliseconds());
    row.id = text(data.id, limits::ID);
    row.name = text(data.name, limits::NAME);
    row.url = text(data.url, limits::URL);
    Table::PageViews
}

fn browser_timing<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    let total = data
        .perf_total
        .milliseconds()
        .or_else(|| data.duration.milliseconds());
    timed(row, total);
    row.total_duration = total;
    row.network_duration = data.network_connect.milliseconds();
    row.send_duration = data.sent_request.milliseconds();
    row.receive_duration = data.received_response.milliseconds();
    row.processing_duration = data.dom_processing.milliseconds();
    row.name = text(data.name, limits::NAME);
    row.url = text(data.url, limits::URL);
    Table::BrowserTimings
}

fn availability<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    timed(row, data.duration.milliseconds());
    // Recorded as digits, unlike the other tables' words.
    row.success = if data.success.truth().unwrap_or(false) {
        "1"
    } else {
        "0"
    };
    row.size = data.size.number();
    row.id = text(data.id, limits::ID);
    row.name = text(data.name, limits::NAME);
    row.location = text(data.run_location, limits::NAME);
    row.message = text(data.message, limits::DATA);
    Table::AvailabilityResults
}

fn metric<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    // Only the first data point is used, as the service documents.
    let point = data
        .metrics
        .unwrap_or_default()
        .into_iter()
        .next()
        .unwrap_or_default();
    if let Some((category, instance, counter)) = counter_path(point.name.as_str()) {
        let (category, instance, counter) =
            (category.to_owned(), instance.to_owned(), counter.to_owned());
        return counter_row(
            row,
            category.into(),
            counter.into(),
            instance.into(),
            mean(&point),
        );
    }
    measured(point, row);
    Table::CustomMetrics
}

/// How many values a data point sums up; 1 where it does not say.
fn count(point: &DataPoint<'_>) -> i64 {
    point.count.number().map_or(1, |count| count as i64).max(0)
}

/// The mean of the values that a data point sums up.
fn mean(point: &DataPoint<'_>) -> Option<f64> {
    let (sum, count) = (point.value.number()?, count(point));
    Some(if count > 1 { sum / count as f64 } else { sum })
}

fn measured<'a>(point: DataPoint<'a>, row: &mut Row<'a>) {
    row.value_sum = point.value.number();
    row.value_count = Some(count(&point));
    row.value = mean(&point);
    row.value_min = point.min.number().or(row.value);
    row.value_max = point.max.number().or(row.value);
    row.value_std_dev = point.std_dev.number().or(Some(0.0));
    row.name = text(point.name, limits::NAME);
}

/// `\Category(Instance)\Counter` or `\Category\Counter`: how SDKs name performance counters in metric data.
fn counter_path(name: &str) -> Option<(&str, &str, &str)> {
    let (object, counter) = name.strip_prefix('\\')?.split_once('\\')?;
    Some(match object.split_once('(') {
        Some((category, instance)) => (
            category,
            instance.strip_suffix(')').unwrap_or(instance),
            counter,
        ),
        None => (object, "", counter),
    })
}

fn old_counter<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    let value = data.value.number();
    counter_row(
        row,
        data.category_name.0,
        data.counter_name.0,
        data.instance_name.0,
        value,
    )
}

fn counter_row<'a>(
    row: &mut Row<'a>,
    category: Cow<'a, str>,
    counter: Cow<'a, str>,
    instance: Cow<'a, str>,
    value: Option<f64>,
) -> Table {
    row.category = cut(category, limits::NAME);
    row.counter = cut(counter, limits::NAME);
    row.instance = cut(instance, limits::NAME);
    row.name = row.counter.clone();
    row.value = value;
    Table::PerformanceCounters
}

fn exception<'a>(data: BaseData<'a>, row: &mut Row<'a>) -> Table {
    let chain = data.exceptions.unwrap_or_default();
    row.severity = data.severity_level.severity();
    row.details = bags::details(&chain, row.severity);
    row.handled_at = text(data.handled_at, limits::NAME);
    row.outer = chain.first().map(thrown).unwrap_or_default();
    row.innermost = chain.last().map(thrown).unwrap_or_default();
    row.kind = row.outer.kind.clone();
    row.message = row.outer.message.clone();
    row.problem_id = match text(data.problem_id, limits::NAME) {
        given if !given.is_empty() => given,
        _ => problem_id(&row.outer).into(),
    };
    Table::Exceptions
}

fn thrown(exception: &ExceptionDetails<'_>) -> Thrown<'static> {
    let top = exception.parsed_stack.as_deref().and_then(<[_]>::first);
    let own = |text: &str, limit: usize| Cow::Owned(cut(Cow::Borrowed(text), limit).into_owned());
    Thrown {
        kind: own(exception.type_name.as_str(), limits::NAME),
        message: own(exception.message.as_str(), limits::MESSAGE),
        method: own(top.map_or("", |frame| frame.method.as_str()), limits::NAME),
        assembly: own(
            top.map_or("", |frame| frame.assembly.as_str()),
            limits::NAME,
        ),
    }
}

/// `Type at Method`, or the type alone where no stack was sent.
fn problem_id(outer: &Thrown<'_>) -> String {
    if outer.method.is_empty() {
        outer.kind.to_string()
    } else {
        format!("{} at {}", outer.kind, outer.method)
    }
}
