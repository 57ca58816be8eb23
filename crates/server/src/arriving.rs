//! What `hindsight tail` and the live tail of the portal have in common.
//!
//! `timestamp` is no order of arrival, so items are found by `ingestion_time()`. An item becomes visible when its request is synced, and
//! requests that were received one after the other may become visible the other way round. So each look begins [`OVERLAP`] before the
//! latest item that was found, and leaves out the items that were found already.

use std::time::Duration;

use hindsight_store::{TICKS_PER_SECOND, Table};

/// How often items are looked for.
pub(crate) const EVERY: Duration = Duration::from_secs(1);
/// How long before the latest item that was found a look begins, in ticks.
pub(crate) const OVERLAP: i64 = 10 * TICKS_PER_SECOND;

/// The tables that are followed if none is named: metrics arrive all the time and say nothing alone.
pub(crate) const TABLES: [Table; 7] = [
    Table::Requests,
    Table::Dependencies,
    Table::Exceptions,
    Table::Traces,
    Table::CustomEvents,
    Table::PageViews,
    Table::AvailabilityResults,
];
