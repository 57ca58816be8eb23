//! From an envelope to a row of its table: the nine base types (`docs/api-facts.md §7`).

use std::borrow::Cow;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::limits::{self, cut};
use hindsight_rows::{Exception, Frame, Point, Row, counter};
use hindsight_store::Table;

use crate::bags;
use crate::envelope::{BaseData, DataPoint, ExceptionDetails, StackFrame};
use crate::tolerant::{Loose, Pairs, Text};

/// Fills the row's own columns from `data` and says which table it belongs to; `None` for an unknown base type. `tags`: those that
/// become properties.
pub(crate) fn read<'a>(
    base_type: &str,
    data: &mut BaseData<'a>,
    tags: Vec<(Cow<'a, str>, Loose<'a>)>,
    row: &mut Row<'a>,
    bag: &mut BagBuilder,
) -> Option<Table> {
    let mut properties = std::mem::take(&mut data.properties);
    add_missing(&mut properties, tags);
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

fn text<'a>(text: &mut Text<'a>, limit: usize) -> Cow<'a, str> {
    cut(std::mem::take(&mut text.0), limit)
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn request<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.set_duration(data.duration.milliseconds());
    row.success = truth(data.success.truth().unwrap_or(true));
    row.id = text(&mut data.id, limits::ID);
    row.name = text(&mut data.name, limits::NAME);
    row.url = text(&mut data.url, limits::URL);
    row.source = text(&mut data.source, limits::NAME);
    row.result_code = text(&mut data.response_code, limits::NAME);
    Table::Requests
}

fn dependency<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.set_duration(data.duration.milliseconds());
    row.success = truth(data.success.truth().unwrap_or(true));
    row.id = text(&mut data.id, limits::ID);
    row.name = text(&mut data.name, limits::NAME);
    row.target = text(&mut data.target, limits::NAME);
    row.kind = text(&mut data.kind, limits::NAME);
    row.data = text(&mut data.data, limits::DATA);
    row.result_code = text(&mut data.result_code, limits::NAME);
    Table::Dependencies
}

fn message<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.severity = data.severity_level.severity();
    row.message = text(&mut data.message, limits::MESSAGE);
    Table::Traces
}

fn event<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.name = text(&mut data.name, limits::ID);
    Table::CustomEvents
}

fn page_view<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.set_duration(data.duration.milliseconds());
    row.id = text(&mut data.id, limits::ID);
    row.name = text(&mut data.name, limits::NAME);
    row.url = text(&mut data.url, limits::URL);
    Table::PageViews
}

fn browser_timing<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    let total = data
        .perf_total
        .milliseconds()
        .or_else(|| data.duration.milliseconds());
    row.set_duration(total);
    row.total_duration = total;
    row.network_duration = data.network_connect.milliseconds();
    row.send_duration = data.sent_request.milliseconds();
    row.receive_duration = data.received_response.milliseconds();
    row.processing_duration = data.dom_processing.milliseconds();
    row.name = text(&mut data.name, limits::NAME);
    row.url = text(&mut data.url, limits::URL);
    Table::BrowserTimings
}

fn availability<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    row.set_duration(data.duration.milliseconds());
    // Recorded as digits, unlike the other tables' words.
    row.success = if data.success.truth().unwrap_or(false) {
        "1"
    } else {
        "0"
    };
    row.size = data.size.number();
    row.id = text(&mut data.id, limits::ID);
    row.name = text(&mut data.name, limits::NAME);
    row.location = text(&mut data.run_location, limits::NAME);
    row.message = text(&mut data.message, limits::DATA);
    Table::AvailabilityResults
}

fn metric<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    // Only the first data point is used, as the service documents.
    let points = data.metrics.take().unwrap_or_default();
    row.set_metric(point(points.into_iter().next().unwrap_or_default()))
}

fn point(point: DataPoint<'_>) -> Point<'_> {
    Point {
        sum: point.value.number(),
        count: point.count.number().map_or(1, |count| count as i64),
        min: point.min.number(),
        max: point.max.number(),
        std_dev: point.std_dev.number(),
        name: point.name.0,
    }
}

fn old_counter<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    let value = data.value.number();
    counter(
        row,
        std::mem::take(&mut data.category_name.0),
        std::mem::take(&mut data.counter_name.0),
        std::mem::take(&mut data.instance_name.0),
        value,
    )
}

fn exception<'a>(data: &mut BaseData<'a>, row: &mut Row<'a>) -> Table {
    let chain = data.exceptions.take().unwrap_or_default();
    row.severity = data.severity_level.severity();
    row.handled_at = text(&mut data.handled_at, limits::NAME);
    let chain: Vec<Exception<'_>> = chain.iter().map(thrown).collect();
    row.set_exceptions(&chain, data.problem_id.as_str());
    Table::Exceptions
}

fn thrown<'e>(exception: &'e ExceptionDetails<'_>) -> Exception<'e> {
    let frames = exception.parsed_stack.as_deref().unwrap_or_default();
    Exception {
        id: exception.id.as_str(),
        outer_id: exception.outer_id.as_str(),
        type_name: exception.type_name.as_str(),
        message: exception.message.as_str(),
        stack: exception.stack.as_str(),
        frames: frames.iter().map(frame).collect(),
    }
}

fn frame<'e>(frame: &'e StackFrame<'_>) -> Frame<'e> {
    let integer = |value: &Loose<'_>| value.number().unwrap_or(0.0) as i64;
    Frame {
        level: integer(&frame.level),
        method: frame.method.as_str(),
        assembly: frame.assembly.as_str(),
        file_name: frame.file_name.as_str(),
        line: integer(&frame.line),
    }
}
