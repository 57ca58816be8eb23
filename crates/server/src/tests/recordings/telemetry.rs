//! Telemetry of the kind that a recorded reply shows, as the envelopes that an SDK would have sent.

use hindsight_store::Table;
use serde_json::{Map, Value, json};

use super::Recording;

/// The items of a recording, none where its reply shows none.
pub(super) fn of(recording: &Recording, ikey: &str) -> Vec<Value> {
    let path = recording.path.split('?').next().unwrap();
    match path.split('/').nth(4).unwrap() {
        "events" => {
            let events = recording.body["value"].as_array().unwrap().iter();
            events
                .map(|event| envelope(&columns(event), ikey))
                .collect()
        }
        "metrics" if path.ends_with("/metadata") => described(recording, ikey),
        "metrics" => metric(recording, ikey),
        _ => query(recording, ikey),
    }
}

/// An event's columns: the paths of the events API are the store's.
fn columns(event: &Value) -> Map<String, Value> {
    let table = table(event["type"].as_str().unwrap());
    let columns = table.columns().iter();
    let paths = columns.filter_map(|column| Some((column.name, column.odata_path?)));
    let value = |path: &str| path.split('/').fold(event, |value, key| &value[key]);
    paths
        .map(|(name, path)| (name.to_owned(), value(path).clone()))
        .collect()
}

fn table(item_type: &str) -> Table {
    let of_type = |table: &Table| table.item_type() == item_type;
    Table::ALL
        .into_iter()
        .find(of_type)
        .unwrap_or_else(|| panic!("no table of {item_type}"))
}

/// Which tag fills which column.
const TAGS: &[(&str, &str)] = &[
    ("ai.operation.name", "operation_Name"),
    ("ai.operation.id", "operation_Id"),
    ("ai.operation.parentId", "operation_ParentId"),
    ("ai.operation.syntheticSource", "operation_SyntheticSource"),
    ("ai.session.id", "session_Id"),
    ("ai.user.id", "user_Id"),
    ("ai.user.authUserId", "user_AuthenticatedId"),
    ("ai.user.accountId", "user_AccountId"),
    ("ai.application.ver", "application_Version"),
    ("ai.device.type", "client_Type"),
    ("ai.device.model", "client_Model"),
    ("ai.device.osVersion", "client_OS"),
    ("ai.device.browser", "client_Browser"),
    ("ai.location.ip", "client_IP"),
    ("ai.location.city", "client_City"),
    ("ai.location.province", "client_StateOrProvince"),
    ("ai.location.country", "client_CountryOrRegion"),
    ("ai.cloud.role", "cloud_RoleName"),
    ("ai.cloud.roleInstance", "cloud_RoleInstance"),
    ("ai.internal.sdkVersion", "sdkVersion"),
];

/// Which field of which base type fills which column.
fn base(item_type: &str) -> (&'static str, &'static [(&'static str, &'static str)]) {
    match item_type {
        "request" => (
            "RequestData",
            &[
                ("id", "id"),
                ("source", "source"),
                ("name", "name"),
                ("url", "url"),
                ("success", "success"),
                ("responseCode", "resultCode"),
                ("duration", "duration"),
            ],
        ),
        "dependency" => (
            "RemoteDependencyData",
            &[
                ("id", "id"),
                ("target", "target"),
                ("type", "type"),
                ("name", "name"),
                ("data", "data"),
                ("success", "success"),
                ("resultCode", "resultCode"),
                ("duration", "duration"),
            ],
        ),
        "trace" => (
            "MessageData",
            &[("message", "message"), ("severityLevel", "severityLevel")],
        ),
        "exception" => (
            "ExceptionData",
            &[
                ("problemId", "problemId"),
                ("handledAt", "handledAt"),
                ("severityLevel", "severityLevel"),
            ],
        ),
        "customEvent" => ("EventData", &[("name", "name")]),
        "pageView" => (
            "PageViewData",
            &[("name", "name"), ("url", "url"), ("duration", "duration")],
        ),
        "browserTiming" => (
            "PageViewPerfData",
            &[
                ("name", "name"),
                ("url", "url"),
                ("perfTotal", "totalDuration"),
                ("networkConnect", "networkDuration"),
                ("sentRequest", "sendDuration"),
                ("receivedResponse", "receiveDuration"),
                ("domProcessing", "processingDuration"),
            ],
        ),
        "availabilityResult" => (
            "AvailabilityData",
            &[
                ("id", "id"),
                ("name", "name"),
                ("runLocation", "location"),
                ("success", "success"),
                ("message", "message"),
                ("size", "size"),
                ("duration", "duration"),
            ],
        ),
        "performanceCounter" => (
            "PerformanceCounterData",
            &[
                ("categoryName", "category"),
                ("counterName", "counter"),
                ("instanceName", "instance"),
                ("value", "value"),
            ],
        ),
        "customMetric" => ("MetricData", &[]),
        other => panic!("no base type of {other}"),
    }
}

/// The envelope of an item with these columns.
fn envelope(columns: &Map<String, Value>, ikey: &str) -> Value {
    let column = |name: &str| columns.get(name).cloned().unwrap_or_default();
    let present = |pairs: &[(&str, &str)]| -> Map<String, Value> {
        let pairs = pairs
            .iter()
            .map(|(key, name)| ((*key).to_owned(), column(name)));
        pairs.filter(|(_, value)| !value.is_null()).collect()
    };
    let item_type = column("itemType");
    let (base_type, fields) = base(item_type.as_str().unwrap());
    let mut data = present(fields);
    data.insert("ver".to_owned(), json!(2));
    for (key, name) in [
        ("properties", "customDimensions"),
        ("measurements", "customMeasurements"),
    ] {
        let bag = match column(name) {
            // Queries show bags as text.
            Value::String(text) => serde_json::from_str(&text).unwrap_or_default(),
            other => other,
        };
        if bag.is_object() {
            data.insert(key.to_owned(), bag);
        }
    }
    match base_type {
        "ExceptionData" => {
            data.insert("exceptions".to_owned(), exceptions(column("details")));
        }
        "MetricData" => {
            let point = present(&[
                ("name", "name"),
                ("value", "valueSum"),
                ("count", "valueCount"),
                ("min", "valueMin"),
                ("max", "valueMax"),
                ("stdDev", "valueStdDev"),
            ]);
            data.insert("metrics".to_owned(), json!([point]));
        }
        _ => {}
    }
    let count = column("itemCount").as_f64().unwrap_or(1.0);
    json!({
        "name": "recorded", "time": column("timestamp"), "iKey": ikey, "sampleRate": 100.0 / count,
        "tags": present(TAGS), "data": { "baseType": base_type, "baseData": data },
    })
}

/// The chain of an exception, whose details are shown under other names than they are sent.
fn exceptions(details: Value) -> Value {
    let details = match details {
        Value::String(text) => serde_json::from_str(&text).unwrap_or_default(),
        other => other,
    };
    let one = |detail: &Value| {
        json!({
            "id": detail["id"], "outerId": detail["outerId"], "typeName": detail["type"],
            "message": detail["message"], "parsedStack": detail["parsedStack"], "stack": detail["rawStack"],
        })
    };
    details.as_array().into_iter().flatten().map(one).collect()
}

/// An availability result with the keys of `customDimensions` that the description names.
fn described(recording: &Recording, ikey: &str) -> Vec<Value> {
    let dimensions = recording.body["dimensions"].as_object().unwrap().keys();
    let keys = dimensions.filter_map(|path| path.strip_prefix("customDimensions/"));
    let bag: Map<String, Value> = keys.map(|key| (key.to_owned(), json!("x"))).collect();
    let columns = json!({
        "itemType": "availabilityResult", "timestamp": text(recording.moment() - 1), "customDimensions": bag,
    });
    vec![envelope(columns.as_object().unwrap(), ikey)]
}

/// A moment as ISO 8601.
fn text(ticks: i64) -> String {
    let mut text = String::new();
    hindsight_kql_types::datetime::write_full(ticks, &mut text).unwrap();
    text
}

/// One item for each value of the reply: as long as the average, as many as the count.
fn metric(recording: &Recording, ikey: &str) -> Vec<Value> {
    let value = recording.body.pointer("/0/body/value");
    let value = value.unwrap_or(&recording.body["value"]);
    let mut items = Vec::new();
    if value.is_object() {
        let moment = value["start"].as_str().unwrap();
        leaves(value, moment, &Map::new(), &mut items);
    }
    items.iter().map(|item| envelope(item, ikey)).collect()
}

fn leaves(
    value: &Value,
    moment: &str,
    dimensions: &Map<String, Value>,
    items: &mut Vec<Map<String, Value>>,
) {
    let moment = value["start"].as_str().unwrap_or(moment);
    let mut dimensions = dimensions.clone();
    let object = value.as_object().unwrap();
    for (key, text) in object.iter().filter(|(key, _)| key.contains('/')) {
        if let Some((_, column)) = key.split_once('/')
            && text.is_string()
        {
            dimensions.insert(column.to_owned(), text.clone());
        }
    }
    for segment in object
        .get("segments")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        leaves(segment, moment, &dimensions, items);
    }
    for (key, values) in object.iter().filter(|(_, values)| values.is_object()) {
        let number = |name: &str| values[name].as_f64();
        let count = number("count")
            .or_else(|| number("sum").filter(|_| key.ends_with("/count")))
            .unwrap_or(1.0);
        let empty = count == 0.0 || values.as_object().unwrap().values().all(Value::is_null);
        if empty {
            continue;
        }
        let mut item = dimensions.clone();
        let item_type = if key.starts_with("availability") {
            "availabilityResult"
        } else {
            "request"
        };
        item.insert("itemType".to_owned(), json!(item_type));
        item.insert("timestamp".to_owned(), json!(moment));
        item.insert("itemCount".to_owned(), json!(count));
        item.insert("duration".to_owned(), values["avg"].clone());
        items.push(item);
    }
}

/// Enough to sort for longer than the millisecond that one recording waits.
const MANY: usize = 5_000;

/// The items of a query's rows.
fn query(recording: &Recording, ikey: &str) -> Vec<Value> {
    let moment = recording.moment();
    let time = |back: i64| text(moment - back);
    let item = |columns: Value| envelope(columns.as_object().unwrap(), ikey);
    if recording.status == 504 {
        let one = |n: usize| {
            item(
                json!({"itemType": "trace", "timestamp": time(n as i64 + 1), "message": "busy",
                "operation_Id": format!("{:016x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))}),
            )
        };
        return (0..MANY).map(one).collect();
    }
    let table = &recording.body["tables"][0];
    let names: Vec<&str> = table["columns"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    let rows = table["rows"].as_array().into_iter().flatten();
    match names.as_slice() {
        ["name"] => rows
            .map(|row| {
                item(
                    json!({"itemType": "availabilityResult", "timestamp": time(1), "name": row[0]}),
                )
            })
            .collect(),
        names if names.contains(&"itemType") => rows
            .map(|row| {
                let cells = names.iter().zip(row.as_array().unwrap());
                let columns = cells.map(|(name, cell)| ((*name).to_owned(), cell.clone()));
                envelope(&columns.collect(), ikey)
            })
            .collect(),
        _ => Vec::new(),
    }
}
