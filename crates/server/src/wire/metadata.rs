//! What an application can be asked: its metrics, its tables, their columns (`D17`).

use std::collections::BTreeSet;

use hindsight_engine::metrics::{Metric, dimension_display_name};
use hindsight_store::{Column, Table};
use serde_json::{Map, Value, json};

use crate::directory::{AppRecord, REGION};

/// The id of the group that all tables are in.
const GROUP: &str = "ai/StandardSchema";

/// Columns by which people like to slice.
const FACETS: &[&str] = &[
    "name",
    "url",
    "success",
    "resultCode",
    "performanceBucket",
    "customDimensions",
    "operation_Name",
    "application_Version",
    "client_Browser",
    "cloud_RoleName",
    "cloud_RoleInstance",
];

/// `metrics/metadata`: metrics by id, dimensions by path. `keys` are the keys of `customDimensions` that tables were seen with.
pub(crate) fn metrics(metrics: &[Metric], keys: &[(String, String)]) -> String {
    let mut described = Map::new();
    let mut dimensions = Map::new();
    for metric in metrics {
        let own = own_dimensions(metric, keys);
        let mut paths = Vec::new();
        for path in metric
            .dimensions
            .iter()
            .copied()
            .chain(own.iter().map(String::as_str))
        {
            if !dimensions.contains_key(path) {
                let name = json!({ "displayName": dimension_display_name(path) });
                dimensions.insert(path.to_owned(), name);
            }
            paths.push(path);
        }
        described.insert(metric.id.clone(), one_metric(metric, &paths));
    }
    json!({ "metrics": described, "dimensions": dimensions }).to_string()
}

/// The paths of keys that items of the metric's tables have.
fn own_dimensions(metric: &Metric, keys: &[(String, String)]) -> BTreeSet<String> {
    if !metric.custom_dimensions {
        return BTreeSet::new();
    }
    let tables = metric.tables();
    let of_tables = keys
        .iter()
        .filter(|(table, _)| tables.contains(&table.as_str()));
    of_tables
        .map(|(_, key)| format!("customDimensions/{key}"))
        .collect()
}

fn one_metric(metric: &Metric, dimensions: &[&str]) -> Value {
    let supported: Vec<&str> = metric.supported.iter().map(|one| one.name()).collect();
    let mut out = Map::new();
    out.insert("supportedAggregations".to_owned(), json!(supported));
    out.insert("displayName".to_owned(), json!(metric.display_name));
    if let Some(unit) = metric.unit {
        out.insert("units".to_owned(), json!(unit));
    }
    out.insert("supportedGroupBy".to_owned(), json!({ "all": dimensions }));
    out.insert(
        "defaultAggregation".to_owned(),
        json!(metric.default.name()),
    );
    Value::Object(out)
}

/// `metadata`: tables, their group, the applications.
pub(crate) fn application<'a>(apps: impl Iterator<Item = &'a AppRecord>) -> String {
    let ids: Vec<String> = Table::ALL.into_iter().map(table_id).collect();
    let apps: Vec<Value> = apps
        .map(|app| {
            json!({ "id": app.id_text, "name": app.name, "resourceId": app.resource_id, "tables": [],
                "region": REGION, "tableGroups": [GROUP] })
        })
        .collect();
    json!({
        "tables": Table::ALL.map(table),
        "tableGroups": [{ "id": GROUP, "name": "StandardSchema", "source": "ai", "tables": ids }],
        "applications": apps,
    })
    .to_string()
}

/// `metadata` of workspaces: the tables under their workspace names, and each application as a workspace.
pub(crate) fn workspace<'a>(apps: impl Iterator<Item = &'a AppRecord>) -> String {
    let ids = Table::ALL.map(|table| format!("t/{}", table.workspace_table()));
    let workspaces: Vec<Value> = apps
        .map(|app| {
            json!({ "id": app.id_text, "name": app.name, "resourceId": app.resource_id, "tables": ids,
                "region": REGION, "tableGroups": [GROUP] })
        })
        .collect();
    json!({
        "tables": Table::ALL.map(workspace_table),
        "tableGroups": [{ "id": GROUP, "name": "StandardSchema", "source": "ai", "tables": ids }],
        "workspaces": workspaces,
    })
    .to_string()
}

fn workspace_table(table: Table) -> Value {
    let columns: Vec<Value> = table
        .columns()
        .iter()
        .filter_map(|column| {
            let name = column.workspace_name?;
            Some(json!({ "name": name, "type": column.workspace_type().name() }))
        })
        .collect();
    json!({ "id": format!("t/{}", table.workspace_table()), "name": table.workspace_table(),
        "timespanColumn": "TimeGenerated", "columns": columns })
}

fn table_id(table: Table) -> String {
    format!("t/{}", table.name())
}

fn table(table: Table) -> Value {
    let columns: Vec<Value> = table.columns().iter().map(column).collect();
    json!({ "id": table_id(table), "name": table.name(), "timespanColumn": "timestamp", "columns": columns })
}

fn column(column: &Column) -> Value {
    let mut out = json!({ "name": column.name, "type": column.scalar_type.name() });
    if let (true, Some(object)) = (FACETS.contains(&column.name), out.as_object_mut()) {
        object.insert("isPreferredFacet".to_owned(), true.into());
    }
    out
}

/// `query/schema`: columns of tables, and the tables.
pub(crate) fn schema() -> String {
    let columns = Table::ALL.into_iter().flat_map(|table| {
        let rows = table.columns().iter();
        rows.map(move |column| json!([table.name(), column.name, column.scalar_type.clr_name()]))
    });
    let tables = Table::ALL
        .into_iter()
        .map(|table| json!(["ai", table.name(), "timestamp"]));
    json!({ "tables": [
        text_table("Table_0", ["TableName", "ColumnName", "ColumnType"], columns.collect()),
        text_table("Table_1", ["TableType", "TableName", "PrimaryTimestampColumnName"], tables.collect()),
    ]})
    .to_string()
}

fn text_table(name: &str, columns: [&str; 3], rows: Vec<Value>) -> Value {
    let columns = columns.map(|column| json!({ "name": column, "type": "String" }));
    json!({ "name": name, "columns": columns, "rows": rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_engine::metrics::standard_metrics;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn metrics_say_how_they_may_be_asked() {
        let value = parsed(&metrics(
            &standard_metrics(),
            &[("traces".to_owned(), "plan".to_owned())],
        ));
        let duration = &value["metrics"]["requests/duration"];
        assert_eq!(
            duration["supportedAggregations"],
            json!(["avg", "min", "max", "sum", "count"])
        );
        assert_eq!(
            (&duration["defaultAggregation"], &duration["units"]),
            (&json!("avg"), &json!("ms"))
        );
        assert!(value["metrics"]["requests/count"].get("units").is_none());
        let paths = duration["supportedGroupBy"]["all"].as_array().unwrap();
        assert!(paths.contains(&json!("request/resultCode")));
        assert!(paths.contains(&json!("cloud/roleName")));
        let own = json!("customDimensions/plan");
        let of = |metric: &str| value["metrics"][metric]["supportedGroupBy"]["all"].clone();
        assert!(!paths.contains(&own));
        assert!(of("traces/count").as_array().unwrap().contains(&own));
        assert!(of("users/count").as_array().unwrap().contains(&own));
        for path in paths {
            let name = &value["dimensions"][path.as_str().unwrap()]["displayName"];
            assert!(name.is_string(), "{path} has no name");
        }
    }

    #[test]
    fn every_table_has_its_columns() {
        let value = parsed(&application(std::iter::empty()));
        let requests = value["tables"]
            .as_array()
            .unwrap()
            .iter()
            .find(|table| table["id"] == "t/requests")
            .unwrap();
        let columns = requests["columns"].as_array().unwrap();
        assert_eq!(columns[0], json!({"name": "timestamp", "type": "datetime"}));
        assert!(
            columns.contains(&json!({"name": "url", "type": "string", "isPreferredFacet": true}))
        );
        assert_eq!(
            value["tableGroups"][0]["tables"].as_array().unwrap().len(),
            10
        );
    }

    #[test]
    fn the_schema_names_types_as_dotnet_does() {
        let value = parsed(&schema());
        let rows = value["tables"][0]["rows"].as_array().unwrap();
        assert!(rows.contains(&json!(["traces", "severityLevel", "System.Int32"])));
        assert!(rows.contains(&json!(["requests", "customDimensions", "System.Object"])));
        assert_eq!(value["tables"][1]["rows"].as_array().unwrap().len(), 10);
    }
}
