//! `availabilityResults`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Real, String};

use super::column::Column;
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new("id", String, Some("Id"), Some("availabilityResult/id")),
    Column::new(
        "name",
        String,
        Some("Name"),
        Some("availabilityResult/name"),
    ),
    Column::new(
        "location",
        String,
        Some("Location"),
        Some("availabilityResult/location"),
    ),
    Column::new(
        "success",
        String,
        Some("Success"),
        Some("availabilityResult/success"),
    )
    .with_texts(&["1", "0"]),
    Column::new(
        "message",
        String,
        Some("Message"),
        Some("availabilityResult/message"),
    ),
    Column::new("size", Real, Some("Size"), Some("availabilityResult/size")),
    Column::new(
        "duration",
        Real,
        Some("DurationMs"),
        Some("availabilityResult/duration"),
    ),
    Column::new(
        "performanceBucket",
        String,
        Some("PerformanceBucket"),
        Some("availabilityResult/performanceBucket"),
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
