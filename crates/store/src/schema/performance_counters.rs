//! `performanceCounters`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::{Real, String};

use super::column::Column;
use super::common::{CONTEXT, CUSTOM_DIMENSIONS, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[
    Column::new(
        "name",
        String,
        Some("Name"),
        Some("performanceCounter/name"),
    ),
    Column::new(
        "category",
        String,
        Some("Category"),
        Some("performanceCounter/category"),
    ),
    Column::new("counter", String, None, Some("performanceCounter/counter")),
    Column::new(
        "instance",
        String,
        Some("Instance"),
        Some("performanceCounter/instance"),
    ),
    Column::new(
        "value",
        Real,
        Some("Value"),
        Some("performanceCounter/value"),
    ),
];

/// All columns, by group.
pub(super) const GROUPS: &[&[Column]] = &[
    &[TIMESTAMP],
    OWN,
    &[CUSTOM_DIMENSIONS],
    CONTEXT,
    &[ITEM_ID, ITEM_TYPE, RESOURCE_ID],
];
