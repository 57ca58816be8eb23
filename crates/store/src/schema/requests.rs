//! `requests`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Real, String};

use super::column::{Column, TRUTHS};
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new("id", String, Some("Id"), Some("request/id")),
    Column::new("source", String, Some("Source"), Some("request/source")),
    Column::new("name", String, Some("Name"), Some("request/name")),
    Column::new("url", String, Some("Url"), Some("request/url")),
    Column::new("success", String, Some("Success"), Some("request/success")).with_texts(TRUTHS),
    Column::new(
        "resultCode",
        String,
        Some("ResultCode"),
        Some("request/resultCode"),
    ),
    Column::new(
        "duration",
        Real,
        Some("DurationMs"),
        Some("request/duration"),
    ),
    Column::new(
        "performanceBucket",
        String,
        Some("PerformanceBucket"),
        Some("request/performanceBucket"),
    ),
];

/// All columns, by group.
pub(super) const GROUPS: &[&[Column]] = &[
    &[TIMESTAMP],
    OWN,
    &[ITEM_TYPE],
    BAGS,
    CONTEXT,
    &[ITEM_ID, ITEM_COUNT, RESOURCE_ID],
];
