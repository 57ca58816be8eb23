//! Records of continuous export: one line of JSON for each item, in folders of `.blob` files. The model is the documented one ("Application
//! Insights Export Data Model"): an array named after the type, `context` and `internal`. Durations are in ticks of 100 ns.

use hindsight_rows::bucket;
use hindsight_store::Table;
use serde_json::Value;
use serde_json::value::RawValue;

use super::line::{Fields, Line, fields, text};
use super::value::Ignored;
use crate::wire::json;

/// Ticks in a millisecond.
const TICKS_PER_MS: f64 = 10_000.0;

/// The array of each type, its table, and the properties of its elements that have no column.
const TYPES: &[(&str, Table, &[&str])] = &[
    ("request", Table::Requests, &["urlData"]),
    ("event", Table::CustomEvents, &["url", "urlData"]),
    ("message", Table::Traces, &["loggerName", "parameters"]),
    (
        "remoteDependency",
        Table::Dependencies,
        &[
            "async",
            "baseName",
            "dependencyKind",
            "dependencySource",
            "dependencyTypeName",
            "urlData",
        ],
    ),
    ("basicException", Table::Exceptions, &[]),
    ("clientPerformance", Table::BrowserTimings, &["urlData"]),
    ("view", Table::PageViews, &["urlData"]),
    (
        "availability",
        Table::AvailabilityResults,
        &["availabilityMetric", "testTimestamp"],
    ),
    ("metric", Table::CustomMetrics, &[]),
];

/// The items of a record; `None` if it is of another form.
pub(super) fn lines(record: &Fields<'_>, ignored: &Ignored) -> Option<Result<Vec<Line>, String>> {
    let context = fields(record.get("context")?)?;
    record.get("internal")?;
    Some(items(record, &context, ignored))
}

fn items(
    record: &Fields<'_>,
    context: &Fields<'_>,
    ignored: &Ignored,
) -> Result<Vec<Line>, String> {
    let mut kinds = TYPES.iter().filter(|(name, ..)| record.contains_key(*name));
    let (Some((name, table, left_out)), None) = (kinds.next(), kinds.next()) else {
        let names: Vec<&str> = record.keys().map(String::as_str).collect();
        return Err(format!(
            "a record of continuous export with {} is of no known type",
            names.join(", ")
        ));
    };
    for other in record.keys() {
        if other != name
            && !["context", "internal"].contains(&other.as_str())
            && !ignored.has(other)
        {
            return Err(ignored.unknown(&format!("the property '{other}' of a record")));
        }
    }
    let elements: Vec<Fields<'_>> = record
        .get(*name)
        .and_then(|array| serde_json::from_str(array.get()).ok())
        .ok_or_else(|| format!("`{name}` is no array of objects"))?;
    let mut line = Line::new(*table);
    from_context(context, &mut line)?;
    let id = at(record, &["internal", "data", "id"]).and_then(|id| text(&id));
    line.set_text("itemId", &id.unwrap_or_default());
    if *table == Table::CustomMetrics {
        return metrics(&line, context);
    }
    measurements(context, &mut line)?;
    let sampled = at(context, &["data", "samplingRate"]).and_then(|rate| number(&rate));
    let count = elements.first().and_then(|first| first.get("count"));
    let count = count
        .and_then(|count| number(count))
        .or_else(|| {
            sampled
                .filter(|rate| *rate > 0.0)
                .map(|rate| (100.0 / rate).round())
        })
        .unwrap_or(1.0);
    line.set("itemCount", format!("{}", count.max(1.0).trunc()));
    if *table == Table::Exceptions {
        exception(&elements, ignored, &mut line)?;
        return Ok(vec![line]);
    }
    let [element] = elements.as_slice() else {
        return Err(format!(
            "`{name}` has {} elements and one is expected",
            elements.len()
        ));
    };
    for (property, value) in element {
        let is_known = property == "count"
            || left_out.contains(&property.as_str())
            || own(*table, property, value, &mut line)?
            || ignored.has(property);
        if !is_known {
            return Err(ignored.unknown(&format!("the property '{property}' of `{name}`")));
        }
    }
    if *table == Table::Dependencies {
        dependency(element, &mut line);
    }
    let duration = match table {
        Table::BrowserTimings => line.get("totalDuration"),
        _ => line.get("duration"),
    };
    if let Some(milliseconds) = duration.and_then(|text| text.parse().ok()) {
        line.set_text("performanceBucket", bucket(milliseconds));
    }
    Ok(vec![line])
}

/// The value at a path of objects.
fn at(fields: &Fields<'_>, path: &[&str]) -> Option<Box<RawValue>> {
    let (first, rest) = path.split_first()?;
    let value = fields.get(*first)?;
    match rest {
        [] => Some((*value).to_owned()),
        rest => at(&super::line::fields(value)?, rest),
    }
}

/// A number, or a text that holds one.
fn number(value: &RawValue) -> Option<f64> {
    let number = text(value)?.parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

/// Columns that every type has, by their paths in `context`. The first path that has a text counts.
const CONTEXT: &[(&str, &[&[&str]])] = &[
    ("operation_Name", &[&["operation", "name"]]),
    ("operation_Id", &[&["operation", "id"]]),
    ("operation_ParentId", &[&["operation", "parentId"]]),
    (
        "operation_SyntheticSource",
        &[
            &["operation", "syntheticSource"],
            &["data", "syntheticSource"],
        ],
    ),
    ("session_Id", &[&["session", "id"]]),
    ("user_Id", &[&["user", "anonId"]]),
    ("user_AuthenticatedId", &[&["user", "authId"]]),
    ("user_AccountId", &[&["user", "accountId"]]),
    ("application_Version", &[&["application", "version"]]),
    ("client_Type", &[&["device", "type"]]),
    ("client_Model", &[&["device", "deviceModel"]]),
    ("client_OS", &[&["device", "osVersion"], &["device", "os"]]),
    ("client_IP", &[&["location", "clientip"]]),
    ("client_City", &[&["location", "city"]]),
    ("client_StateOrProvince", &[&["location", "province"]]),
    ("client_CountryOrRegion", &[&["location", "country"]]),
    (
        "client_Browser",
        &[&["device", "browserVersion"], &["device", "browser"]],
    ),
    (
        "cloud_RoleName",
        &[&["cloud", "roleName"], &["device", "roleName"]],
    ),
    (
        "cloud_RoleInstance",
        &[&["cloud", "roleInstance"], &["device", "roleInstance"]],
    ),
];

fn from_context(context: &Fields<'_>, line: &mut Line) -> Result<(), String> {
    let time = at(context, &["data", "eventTime"]).and_then(|time| text(&time));
    line.set_text("timestamp", &time.unwrap_or_default());
    for (column, paths) in CONTEXT {
        let mut texts = paths.iter().filter_map(|path| text(&at(context, path)?));
        let found = texts.find(|text| !text.is_empty());
        line.set_text(column, &found.unwrap_or_default());
    }
    let mut bag = String::from("{");
    for (name, value) in pairs(context, "dimensions")? {
        next(&mut bag);
        json::key(&name, &mut bag);
        json::string(&text(&value).unwrap_or_default(), &mut bag);
    }
    if bag.len() > 1 {
        line.set("customDimensions", bag + "}");
    }
    Ok(())
}

fn next(bag: &mut String) {
    if bag.len() > 1 {
        bag.push(',');
    }
}

/// The pairs of `context.custom.<name>`, an array of objects.
fn pairs(context: &Fields<'_>, name: &str) -> Result<Vec<(String, Box<RawValue>)>, String> {
    let Some(list) = at(context, &["custom", name]) else {
        return Ok(Vec::new());
    };
    let objects: Vec<Fields<'_>> = serde_json::from_str(list.get())
        .map_err(|_| format!("`context.custom.{name}` is no array of objects"))?;
    let pairs = objects.into_iter().flatten();
    Ok(pairs.map(|(key, value)| (key, value.to_owned())).collect())
}

/// The measurements of an item: the values of its metrics.
fn measurements(context: &Fields<'_>, line: &mut Line) -> Result<(), String> {
    let mut bag = String::from("{");
    for (name, value) in pairs(context, "metrics")? {
        let metric = fields(&value).and_then(|metric| number(metric.get("value")?));
        let metric = metric.or_else(|| number(&value));
        let metric = metric.ok_or_else(|| format!("the metric '{name}' has no value"))?;
        next(&mut bag);
        json::key(&name, &mut bag);
        json::real(metric, &mut bag);
    }
    if bag.len() > 1 {
        line.set("customMeasurements", bag + "}");
    }
    Ok(())
}

/// An item for each metric. The first has the identity of the record.
fn metrics(base: &Line, context: &Fields<'_>) -> Result<Vec<Line>, String> {
    let list = pairs(context, "metrics")?;
    if list.is_empty() {
        return Err(
            "a record of the type `metric` has no metric in `context.custom.metrics`".to_owned(),
        );
    }
    let mut items = Vec::with_capacity(list.len());
    for (index, (name, value)) in list.iter().enumerate() {
        let metric = fields(value).ok_or_else(|| format!("the metric '{name}' is no object"))?;
        let part = |name: &str| metric.get(name).and_then(|value| number(value));
        let value = part("value").ok_or_else(|| format!("the metric '{name}' has no value"))?;
        let count = part("count").unwrap_or(1.0).max(0.0).trunc();
        let sum = part("sum").unwrap_or(value);
        let mean = if count > 1.0 { sum / count } else { sum };
        let mut line = base.clone();
        line.set_text("name", name);
        line.set_real("valueSum", Some(sum));
        line.set("valueCount", format!("{count}"));
        line.set_real("value", Some(mean));
        line.set_real("valueMin", Some(part("min").unwrap_or(mean)));
        line.set_real("valueMax", Some(part("max").unwrap_or(mean)));
        line.set_real("valueStdDev", Some(part("stdDev").unwrap_or(0.0)));
        if index > 0 {
            let id = base.get("itemId").unwrap_or_default().trim_matches('"');
            line.set_text("itemId", &format!("{id}-{index}"));
        }
        items.push(line);
    }
    Ok(items)
}

/// A column of one type alone; false if the property has no column.
fn own(table: Table, property: &str, value: &RawValue, line: &mut Line) -> Result<bool, String> {
    let column = match (table, property) {
        (Table::Requests, "responseCode") => "resultCode",
        (Table::Requests, "id" | "name" | "url" | "source") => property,
        (Table::Dependencies, "commandName") => "data",
        (Table::Dependencies, "id" | "name" | "type" | "resultCode" | "target") => property,
        // Found by `dependency`.
        (Table::Dependencies, "url") => return Ok(true),
        (Table::CustomEvents, "name") => property,
        (Table::PageViews | Table::BrowserTimings, "name" | "url") => property,
        (Table::Traces, "raw") => "message",
        (Table::Traces, "severityLevel") => {
            line.set("severityLevel", severity(value)?);
            return Ok(true);
        }
        (Table::AvailabilityResults, "testName") => "name",
        (Table::AvailabilityResults, "testRunId") => "id",
        (Table::AvailabilityResults, "runLocation") => "location",
        (Table::AvailabilityResults, "message") => property,
        (Table::AvailabilityResults, "result") => {
            let passed = text(value).is_some_and(|result| result.eq_ignore_ascii_case("pass"));
            line.set_text("success", if passed { "1" } else { "0" });
            return Ok(true);
        }
        (Table::AvailabilityResults, "dataSizeMetric") => {
            let size = fields(value).and_then(|metric| number(metric.get("value")?));
            line.set_real("size", size);
            return Ok(true);
        }
        (Table::Requests | Table::Dependencies, "success") => {
            line.set_text(
                "success",
                if value.get() == "true" {
                    "True"
                } else {
                    "False"
                },
            );
            return Ok(true);
        }
        (
            Table::Requests | Table::Dependencies | Table::PageViews | Table::AvailabilityResults,
            "durationMetric",
        ) => {
            line.set_real("duration", milliseconds(value));
            return Ok(true);
        }
        (Table::BrowserTimings, metric) => {
            let column = match metric {
                "networkConnection" => "networkDuration",
                "sendRequest" => "sendDuration",
                "receiveRequest" => "receiveDuration",
                "clientProcess" => "processingDuration",
                "total" => "totalDuration",
                _ => return Ok(false),
            };
            line.set_real(column, milliseconds(value));
            return Ok(true);
        }
        _ => return Ok(false),
    };
    line.set_text(column, &text(value).unwrap_or_default());
    Ok(true)
}

/// The milliseconds of a metric whose value is in ticks.
fn milliseconds(metric: &RawValue) -> Option<f64> {
    let ticks = number(fields(metric)?.get("value")?)?;
    Some(ticks / TICKS_PER_MS)
}

/// The number of a severity, which is written by its name or as a number.
fn severity(value: &RawValue) -> Result<String, String> {
    const NAMES: [&str; 5] = ["Verbose", "Information", "Warning", "Error", "Critical"];
    let given = text(value).unwrap_or_default();
    if given.is_empty() {
        return Ok("null".to_owned());
    }
    let named = NAMES
        .iter()
        .position(|name| name.eq_ignore_ascii_case(&given));
    let level = named.or_else(|| given.parse().ok().filter(|level| *level < NAMES.len()));
    level
        .map(|level| level.to_string())
        .ok_or_else(|| format!("'{given}' is no severity"))
}

/// What dependencies say in one of several properties.
fn dependency(element: &Fields<'_>, line: &mut Line) {
    let of = |name: &str| element.get(name).and_then(|value| text(value));
    let host = element
        .get("urlData")
        .and_then(|url| text(fields(url)?.get("host")?));
    for (column, other) in [
        ("type", of("dependencyTypeName")),
        ("data", of("url")),
        ("target", host.or_else(|| of("baseName"))),
    ] {
        if line.get(column).is_none() {
            line.set_text(column, &other.unwrap_or_default());
        }
    }
}

/// Properties of an exception that have a column: of the first element, the outermost exception of the chain.
const EXCEPTION: &[(&str, &str)] = &[
    ("assembly", "assembly"),
    ("exceptionType", "type"),
    ("handledAt", "handledAt"),
    ("innermostExceptionMessage", "innermostMessage"),
    ("innermostExceptionThrownAtAssembly", "innermostAssembly"),
    ("innermostExceptionThrownAtMethod", "innermostMethod"),
    ("innermostExceptionType", "innermostType"),
    ("message", "message"),
    ("method", "method"),
    ("outerExceptionMessage", "outerMessage"),
    ("outerExceptionThrownAtAssembly", "outerAssembly"),
    ("outerExceptionThrownAtMethod", "outerMethod"),
    ("outerExceptionType", "outerType"),
    ("problemId", "problemId"),
];
/// Properties of an exception that are in `details`, or nowhere.
const EXCEPTION_OTHERS: &[&str] = &[
    "count",
    "exceptionGroup",
    "failedUserCodeAssembly",
    "failedUserCodeMethod",
    "hasFullStack",
    "id",
    "outerId",
    "parsedStack",
    "severityLevel",
    "stack",
    "typeName",
];

fn exception(chain: &[Fields<'_>], ignored: &Ignored, line: &mut Line) -> Result<(), String> {
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return Err("`basicException` has no elements".to_owned());
    };
    for property in chain.iter().flat_map(|element| element.keys()) {
        let has_column = EXCEPTION.iter().any(|(name, _)| name == property);
        let is_known =
            has_column || EXCEPTION_OTHERS.contains(&property.as_str()) || ignored.has(property);
        if !is_known {
            return Err(ignored.unknown(&format!("the property '{property}' of `basicException`")));
        }
    }
    let of = |element: &Fields<'_>, name: &str| {
        element
            .get(name)
            .and_then(|value| text(value))
            .unwrap_or_default()
    };
    for (property, column) in EXCEPTION {
        line.set_text(column, &of(first, property));
    }
    if let Some(value) = first.get("severityLevel") {
        line.set("severityLevel", severity(value)?);
    }
    // Where a column does not say which exception it means, it is that of the outermost or the innermost exception of the chain.
    for (column, element, property) in [
        ("type", first, "typeName"),
        ("outerType", first, "typeName"),
        ("outerMessage", first, "message"),
        ("outerAssembly", first, "assembly"),
        ("outerMethod", first, "method"),
        ("innermostType", last, "typeName"),
        ("innermostMessage", last, "message"),
        ("innermostAssembly", last, "assembly"),
        ("innermostMethod", last, "method"),
    ] {
        if line.get(column).is_none() {
            line.set_text(column, &of(element, property));
        }
    }
    if line.get("problemId").is_none() {
        let (kind, method) = (of(first, "typeName"), of(first, "method"));
        let derived = if method.is_empty() {
            kind
        } else {
            format!("{kind} at {method}")
        };
        line.set_text("problemId", &derived);
    }
    let details: Vec<Value> = chain.iter().map(|element| detail(element, &of)).collect();
    line.set("details", Value::from(details).to_string());
    Ok(())
}

/// An exception as the column `details` has it.
fn detail(element: &Fields<'_>, of: &dyn Fn(&Fields<'_>, &str) -> String) -> Value {
    let or_zero = |id: String| if id.is_empty() { "0".to_owned() } else { id };
    let mut detail = serde_json::Map::new();
    let severity = of(element, "severityLevel");
    if !severity.is_empty() {
        detail.insert("severityLevel".to_owned(), severity.into());
    }
    let kind = of(element, "typeName");
    detail.insert("outerId".to_owned(), or_zero(of(element, "outerId")).into());
    detail.insert("message".to_owned(), of(element, "message").into());
    detail.insert("type".to_owned(), kind.into());
    detail.insert("id".to_owned(), or_zero(of(element, "id")).into());
    let frames: Option<Value> = element
        .get("parsedStack")
        .and_then(|frames| serde_json::from_str(frames.get()).ok());
    match frames {
        Some(frames) => detail.insert("parsedStack".to_owned(), frames),
        None => detail.insert("rawStack".to_owned(), of(element, "stack").into()),
    };
    Value::Object(detail)
}
