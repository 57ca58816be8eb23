//! `customMetrics`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Int, Real, String};

use super::column::Column;
use super::common::{CONTEXT, CUSTOM_DIMENSIONS, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new("name", String, Some("Name"), Some("customMetric/name")),
    Column::new("value", Real, None, Some("customMetric/value")),
    Column::new(
        "valueCount",
        Int,
        Some("ItemCount"),
        Some("customMetric/valueCount"),
    ),
    Column::new("valueSum", Real, Some("Sum"), Some("customMetric/valueSum")),
    Column::new("valueMin", Real, Some("Min"), Some("customMetric/valueMin")),
    Column::new("valueMax", Real, Some("Max"), Some("customMetric/valueMax")),
    Column::new("valueStdDev", Real, None, Some("customMetric/valueStdDev")),
];

/// All columns, by group.
pub(super) const GROUPS: &[&[Column]] = &[
    &[TIMESTAMP],
    OWN,
    &[CUSTOM_DIMENSIONS],
    CONTEXT,
    &[ITEM_ID, ITEM_TYPE, RESOURCE_ID],
];
