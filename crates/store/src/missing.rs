//! What a query could not read because segments are damaged.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::app_id::AppId;
use crate::clock::{TICKS_PER_HOUR, hour_of};
use crate::schema::Table;
use crate::segment::Segment;

/// Telemetry that cannot be read: the hours of a damaged segment (`D34`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingData {
    /// The application.
    pub app: AppId,
    /// The table.
    pub table: Table,
    /// The start of the first hour, in ticks.
    pub from: i64,
    /// The end of the last hour, in ticks.
    pub to: i64,
}

impl MissingData {
    /// The hours of a segment. They hold items of other segments too, which can be read.
    pub(crate) fn of(segment: &Segment) -> MissingData {
        let record = &segment.record;
        let start = |ticks: i64| hour_of(ticks).saturating_mul(TICKS_PER_HOUR);
        MissingData {
            app: record.app,
            table: record.table,
            from: start(record.min_ts),
            to: start(record.max_ts).saturating_add(TICKS_PER_HOUR),
        }
    }
}

/// What the scans of one query could not read.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingList(Arc<Mutex<Vec<MissingData>>>);

impl MissingList {
    pub(crate) fn note(&self, segment: &Segment) {
        self.0.lock().push(MissingData::of(segment));
    }

    /// In order, hours that touch or overlap joined.
    pub(crate) fn list(&self) -> Vec<MissingData> {
        let mut noted = self.0.lock().clone();
        noted.sort_unstable();
        let mut all: Vec<MissingData> = Vec::with_capacity(noted.len());
        for next in noted {
            match all.last_mut() {
                Some(last)
                    if (last.app, last.table) == (next.app, next.table) && next.from <= last.to =>
                {
                    last.to = last.to.max(next.to);
                }
                _ => all.push(next),
            }
        }
        all
    }
}
