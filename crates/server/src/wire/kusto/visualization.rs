//! The property `Visualization`: how a result is rendered.

use hindsight_engine::RenderInfo;
use serde_json::{Value, json};

/// The object of one result.
pub(super) fn of(render: &RenderInfo) -> Value {
    let given = |name: &str| {
        let mut properties = render.properties.iter();
        properties
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let shown = Some(render.visualization.as_str());
    json!({
        "Visualization": shown.filter(|shown| !matches!(*shown, "" | "table")),
        "Title": given("title"),
        "XColumn": given("xcolumn"),
        "Series": given("series"),
        "YColumns": given("ycolumns"),
        "AnomalyColumns": given("anomalycolumns"),
        "XTitle": given("xtitle"),
        "YTitle": given("ytitle"),
        "XAxis": given("xaxis"),
        "YAxis": given("yaxis"),
        "Legend": given("legend"),
        "YSplit": given("ysplit"),
        "Accumulate": given("accumulate") == Some("true"),
        "IsQuerySorted": render.is_query_sorted,
        "Kind": given("kind"),
        "Ymin": given("ymin").unwrap_or("NaN"),
        "Ymax": given("ymax").unwrap_or("NaN"),
        "Xmin": given("xmin"),
        "Xmax": given("xmax"),
    })
}
