//! Retention: whole segments go when all of their items are too old, or when an application has too many bytes.
//!
//! A wrong clock must not delete data. The time of a run is the wall clock, but never more than the time of the first
//! run plus what has really passed since; and a run that would delete more than a share of everything only notes it,
//! so that a second run has to come to the same decision.

pub(crate) mod state;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app_id::AppId;
use crate::clock::ticks;
use crate::error::Result;
use crate::segment::Segment;
use crate::store::Store;

/// Ticks of a day.
const DAY: i64 = 24 * crate::clock::TICKS_PER_HOUR;

impl Store {
    /// Deletes what is too old or too much; returns how many segments went.
    ///
    /// A run that would delete more than [`crate::StoreConfig::retention_guard`] of all rows deletes nothing unless an
    /// earlier run, at least half of [`crate::StoreConfig::retention_interval`] before, wanted that too.
    pub async fn expire(&self) -> Result<usize> {
        let own_days: HashMap<AppId, u32> = self
            .catalogue
            .apps()
            .await?
            .into_iter()
            .filter_map(|app| Some((app.id, app.retention_days?)))
            .collect();
        let _one = self.changing.lock().await;
        let (wall, elapsed) = (self.config.clock.now_ticks(), self.config.clock.elapsed());
        let now = self.retention.trusted_now(wall, elapsed);
        let segments = self.all_segments();
        let mut gone: Vec<&Segment> = Vec::new();
        for segment in &segments {
            let days = own_days
                .get(&segment.record.app)
                .map(|days| i64::from(*days) * DAY);
            let kept = days.unwrap_or_else(|| ticks(self.config.retention));
            if segment.record.max_ts < now.saturating_sub(kept) {
                gone.push(segment);
            }
        }
        if !self.is_plausible(&segments, &gone, elapsed) {
            gone.clear();
        }
        gone.extend(self.over_bytes(&segments, &gone));
        let ids: Vec<i64> = gone.iter().map(|segment| segment.record.id).collect();
        if !ids.is_empty() {
            tracing::info!(segments = ids.len(), "deleting what is past its retention");
            self.catalogue.replace_segments(&ids, &mut []).await?;
            self.view.replace(&ids, Vec::new());
        }
        Ok(ids.len())
    }

    fn all_segments(&self) -> Vec<Arc<Segment>> {
        let view = self.view.get();
        view.tables
            .values()
            .flat_map(|state| state.segments.iter().cloned())
            .collect()
    }

    fn is_plausible(&self, all: &[Arc<Segment>], gone: &[&Segment], elapsed: Duration) -> bool {
        let rows: u64 = all.iter().map(|segment| segment.record.rows).sum();
        let going: u64 = gone.iter().map(|segment| segment.record.rows).sum();
        if going as f64 <= rows as f64 * self.config.retention_guard {
            self.retention.forget_large();
            return true;
        }
        let confirmed = self
            .retention
            .confirm_large(elapsed, self.config.retention_interval / 2);
        if !confirmed {
            tracing::warn!(
                going,
                rows,
                "retention would delete most of the data: is the clock right?"
            );
        }
        confirmed
    }

    /// The oldest segments of applications that have more bytes than they may.
    fn over_bytes<'a>(&self, all: &'a [Arc<Segment>], gone: &[&Segment]) -> Vec<&'a Segment> {
        let Some(limit) = self.config.retention_bytes else {
            return Vec::new();
        };
        let mut newest_first: Vec<&Segment> = all
            .iter()
            .map(Arc::as_ref)
            .filter(|segment| {
                gone.iter()
                    .all(|other| other.record.id != segment.record.id)
            })
            .collect();
        newest_first.sort_by_key(|segment| std::cmp::Reverse(segment.record.max_ts));
        let mut used: HashMap<AppId, u64> = HashMap::new();
        newest_first.retain(|segment| {
            let bytes = used.entry(segment.record.app).or_default();
            *bytes += segment.record.bytes;
            *bytes > limit
        });
        newest_first
    }
}
