//! `customEvents`: the columns, in the order of the service.

use hindsight_kql_types::ScalarType::String;

use super::column::Column;
use super::common::{BAGS, CONTEXT, ITEM_COUNT, ITEM_ID, ITEM_TYPE, RESOURCE_ID, TIMESTAMP};

/// What only this table has.
const OWN: &[Column] = &[Column::new(
    "name",
    String,
    Some("Name"),
    Some("customEvent/name"),
)];

/// All columns, by group.
pub(super) const GROUPS: &[&[Column]] = &[
    &[TIMESTAMP],
    OWN,
    BAGS,
    CONTEXT,
    &[ITEM_ID, ITEM_TYPE, ITEM_COUNT, RESOURCE_ID],
];
