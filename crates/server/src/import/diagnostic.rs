//! Records with the columns of the workspace tables (`AppRequests`, …): what diagnostic settings write to storage, and rows of queries
//! over workspaces.
//!
//! Records of diagnostic settings have the time as `time`, and `resourceId` beside the columns.

use hindsight_store::{Column, Table};

use super::line::{Fields, Line, text};
use super::value::{Ignored, json_value};

/// Columns of the workspace tables and of resource logs that the tables of Hindsight do not have. The application, the workspace and the
/// price of an item are those of the importing installation.
const LEFT_OUT: &[&str] = &[
    "Category",
    "IKey",
    "ReferencedItemId",
    "ReferencedType",
    "ResourceGUID",
    "SourceSystem",
    "TenantId",
    "Type",
    "_BilledSize",
    "_IsBillable",
    "_ResourceId",
    "_SubscriptionId",
    "category",
    "operationName",
    "resourceId",
    "time",
];

/// The table of a record's `Type`.
pub(super) fn table(fields: &Fields<'_>) -> Option<Table> {
    Table::from_workspace_table(&text(fields.get("Type")?)?)
}

/// The item of a record.
///
/// # Errors
/// The name of a column that is not known, or a value that is not of its column's type.
pub(super) fn line(table: Table, fields: &Fields<'_>, ignored: &Ignored) -> Result<Line, String> {
    let mut line = Line::new(table);
    for (name, value) in fields {
        if name == "time" {
            line.set("timestamp", value.get());
            continue;
        }
        if matches!(name.as_str(), "_ItemId" | "ItemId") {
            line.set_text("itemId", &text(value).unwrap_or_default());
            continue;
        }
        let column = table
            .columns()
            .iter()
            .find(|column| column.workspace_name == Some(name.as_str()));
        let own = LEFT_OUT.contains(&name.as_str()) && !is_own(table, name);
        if own || value.get() == "null" {
            continue;
        }
        match column {
            Some(column) if column.name == "success" => {
                line.set_text("success", success(column, value.get())?);
            }
            Some(column) => line.set(column.name, json_value(column, value)?),
            // Performance counters have their name twice in resource logs.
            None if name == "Counter" => {
                line.set_text("counter", &text(value).unwrap_or_default());
            }
            None if ignored.has(name) => {}
            None => {
                return Err(ignored.unknown(&format!(
                    "the column '{name}' of {}",
                    table.workspace_table()
                )));
            }
        }
    }
    if table == Table::CustomMetrics {
        line.set_real("value", mean(&line));
    }
    if table == Table::PerformanceCounters
        && line.get("counter").is_none()
        && let Some(name) = line.get("name").map(str::to_owned)
    {
        line.set("counter", name);
    }
    Ok(line)
}

/// Whether a name that resource logs have beside the columns is a column of this table.
fn is_own(table: Table, name: &str) -> bool {
    name == "Category" && table == Table::PerformanceCounters
}

/// The mean of a metric's values, which the workspace tables do not have.
fn mean(line: &Line) -> Option<f64> {
    let sum: f64 = line.get("valueSum")?.parse().ok()?;
    let count: f64 = line.get("valueCount").unwrap_or("1").parse().ok()?;
    Some(if count > 1.0 { sum / count } else { sum })
}

/// The text of a truth, as the column has it.
fn success(column: &Column, value: &str) -> Result<&'static str, String> {
    let truths = column.texts.unwrap_or_default();
    let index = match value.trim_matches('"') {
        "true" | "True" | "1" => 0,
        "false" | "False" | "0" => 1,
        "" => return Ok(""),
        _ => return Err(format!("'{value}' in the column 'Success' is no truth")),
    };
    truths
        .get(index)
        .copied()
        .ok_or_else(|| format!("the column '{}' has no truths", column.name))
}
