//! Datetimes and timespans (`docs/semantics.md §10`).

mod around;
mod bin;
mod bin_at;
mod clock;
mod construct;
mod datetime_add;
mod datetime_diff;
mod datetime_part;
mod format_datetime;
mod format_timespan;
mod ingestion_time;
mod parts;
mod pattern;
mod period;
mod start_end;
mod unix_time;
mod zones;

use super::prelude::*;

pub use bin::BIN;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &around::DEF,
    &bin::BIN,
    &bin_at::DEF,
    &clock::AGO,
    &clock::NOW,
    &construct::MAKE_DATETIME,
    &construct::MAKE_TIMESPAN,
    &datetime_add::DEF,
    &datetime_diff::DEF,
    &datetime_part::DEF,
    &format_datetime::DEF,
    &format_timespan::DEF,
    &ingestion_time::DEF,
    &parts::GETYEAR,
    &parts::MONTHOFYEAR,
    &parts::HOUROFDAY,
    &parts::DAYOFMONTH,
    &parts::DAYOFYEAR,
    &parts::DAYOFWEEK,
    &parts::WEEK_OF_YEAR,
    &start_end::STARTOFDAY,
    &start_end::STARTOFWEEK,
    &start_end::STARTOFMONTH,
    &start_end::STARTOFYEAR,
    &start_end::ENDOFDAY,
    &start_end::ENDOFWEEK,
    &start_end::ENDOFMONTH,
    &start_end::ENDOFYEAR,
    &unix_time::SECONDS,
    &unix_time::MILLISECONDS,
    &unix_time::MICROSECONDS,
    &unix_time::NANOSECONDS,
    &zones::UTC_TO_LOCAL,
    &zones::LOCAL_TO_UTC,
    &zones::LIST_TIMEZONES,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[
    &datetime_add::KERNEL,
    &datetime_diff::KERNEL,
    &datetime_part::KERNEL,
    &format_datetime::KERNEL,
    &format_timespan::KERNEL,
];
