//! The properties of `render`, as both protocols of queries write them.

use hindsight_engine::RenderInfo;
use serde_json::{Map, Value, json};

/// The visualization, `table` by default, and its properties; null where a property is not set.
pub(super) fn properties(render: &RenderInfo) -> Map<String, Value> {
    let given = |name: &str| {
        let mut properties = render.properties.iter();
        let found = properties.find(|(key, _)| key == name);
        found.map_or(Value::Null, |(_, value)| json!(value))
    };
    let visualization = match render.visualization.as_str() {
        "" => "table",
        name => name,
    };
    let annotation = match given("annotation") {
        Value::Null => json!(""),
        text => text,
    };
    let properties = [
        ("Visualization", json!(visualization)),
        ("Title", given("title")),
        ("XColumn", given("xcolumn")),
        ("Series", given("series")),
        ("YColumns", given("ycolumns")),
        ("AnomalyColumns", given("anomalycolumns")),
        ("XTitle", given("xtitle")),
        ("YTitle", given("ytitle")),
        ("XAxis", given("xaxis")),
        ("YAxis", given("yaxis")),
        ("Legend", given("legend")),
        ("YSplit", given("ysplit")),
        ("Accumulate", json!(given("accumulate") == "true")),
        ("IsQuerySorted", json!(render.is_query_sorted)),
        ("Kind", given("kind")),
        ("Annotation", annotation),
        ("Ymin", given("ymin")),
        ("Ymax", given("ymax")),
        ("Xmin", given("xmin")),
        ("Xmax", given("xmax")),
    ];
    let owned = properties.map(|(name, value)| (name.to_owned(), value));
    owned.into_iter().collect()
}
