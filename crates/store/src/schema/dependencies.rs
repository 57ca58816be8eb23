//! `dependencies`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Real, String};

use super::column::{Column, TRUTHS};
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new("id", String, Some("Id"), Some("dependency/id")),
    Column::new("target", String, Some("Target"), Some("dependency/target")),
    Column::new(
        "type",
        String,
        Some("DependencyType"),
        Some("dependency/type"),
    ),
    Column::new("name", String, Some("Name"), Some("dependency/name")),
    Column::new("data", String, Some("Data"), Some("dependency/data")),
    Column::new(
        "success",
        String,
        Some("Success"),
        Some("dependency/success"),
    )
    .with_texts(TRUTHS),
    Column::new(
        "resultCode",
        String,
        Some("ResultCode"),
        Some("dependency/resultCode"),
    ),
    Column::new(
        "duration",
        Real,
        Some("DurationMs"),
        Some("dependency/duration"),
    ),
    Column::new(
        "performanceBucket",
        String,
        Some("PerformanceBucket"),
        Some("dependency/performanceBucket"),
    ),
];

/// All columns, by group.
pub(super) const GROUPS: &[&[Column]] = &[
    &[TIMESTAMP],
    OWN,
    BAGS,
    CONTEXT,
    &[ITEM_ID, ITEM_TYPE, ITEM_COUNT, RESOURCE_ID],
];
