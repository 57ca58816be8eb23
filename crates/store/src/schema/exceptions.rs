//! `exceptions`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Dynamic, Int, String};

use super::column::Column;
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new(
        "problemId",
        String,
        Some("ProblemId"),
        Some("exception/problemId"),
    ),
    Column::new(
        "handledAt",
        String,
        Some("HandledAt"),
        Some("exception/handledAt"),
    ),
    Column::new(
        "type",
        String,
        Some("ExceptionType"),
        Some("exception/type"),
    ),
    Column::new(
        "message",
        String,
        Some("Message"),
        Some("exception/message"),
    ),
    Column::new(
        "assembly",
        String,
        Some("Assembly"),
        Some("exception/assembly"),
    ),
    Column::new("method", String, Some("Method"), Some("exception/method")),
    Column::new(
        "outerType",
        String,
        Some("OuterType"),
        Some("exception/outerType"),
    ),
    Column::new(
        "outerMessage",
        String,
        Some("OuterMessage"),
        Some("exception/outerMessage"),
    ),
    Column::new(
        "outerAssembly",
        String,
        Some("OuterAssembly"),
        Some("exception/outerAssembly"),
    ),
    Column::new(
        "outerMethod",
        String,
        Some("OuterMethod"),
        Some("exception/outerMethod"),
    ),
    Column::new(
        "innermostType",
        String,
        Some("InnermostType"),
        Some("exception/innermostType"),
    ),
    Column::new(
        "innermostMessage",
        String,
        Some("InnermostMessage"),
        Some("exception/innermostMessage"),
    ),
    Column::new(
        "innermostAssembly",
        String,
        Some("InnermostAssembly"),
        Some("exception/innermostAssembly"),
    ),
    Column::new(
        "innermostMethod",
        String,
        Some("InnermostMethod"),
        Some("exception/innermostMethod"),
    ),
    Column::new(
        "severityLevel",
        Int,
        Some("SeverityLevel"),
        Some("exception/severityLevel"),
    ),
    Column::new(
        "details",
        Dynamic,
        Some("Details"),
        Some("exception/details"),
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
