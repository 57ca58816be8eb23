//! `browserTimings`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Real, String};

use super::column::Column;
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new("name", String, Some("Name"), Some("browserTiming/name")),
    Column::new("url", String, Some("Url"), Some("browserTiming/url")),
    Column::new(
        "networkDuration",
        Real,
        Some("NetworkDurationMs"),
        Some("browserTiming/networkDuration"),
    ),
    Column::new(
        "sendDuration",
        Real,
        Some("SendDurationMs"),
        Some("browserTiming/sendDuration"),
    ),
    Column::new(
        "receiveDuration",
        Real,
        Some("ReceiveDurationMs"),
        Some("browserTiming/receiveDuration"),
    ),
    Column::new(
        "processingDuration",
        Real,
        Some("ProcessingDurationMs"),
        Some("browserTiming/processingDuration"),
    ),
    Column::new(
        "totalDuration",
        Real,
        Some("TotalDurationMs"),
        Some("browserTiming/totalDuration"),
    ),
    Column::new(
        "performanceBucket",
        String,
        Some("PerformanceBucket"),
        Some("browserTiming/performanceBucket"),
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
