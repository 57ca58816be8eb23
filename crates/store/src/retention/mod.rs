//! Retention: whole segments expire when all of their items are too old, or when a table or an application has too many bytes.
//!
//! A wrong clock must not delete data. Ages are those of trusted time (`crate::trusted_time`), and nothing expires while the clock is
//! suspect. A run that would take more than a share of everything only notes it, so that a second run has to come to the same
//! decision. The files of what expires are kept in the folder `expired` for a while.

pub(crate) mod large;
mod rules;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app_id::AppId;
use crate::blocking::blocking;
use crate::catalogue::SegmentRecord;
use crate::clock::ticks;
use crate::error::{Result, StoreError};
use crate::expired;
use crate::schema::Table;
use crate::segment::Segment;
use crate::store::Store;
use crate::trusted_time::{ClockTrust, Observation};
use crate::usage;
use crate::vfs;

pub use rules::RetentionRules;

impl Store {
    /// Takes out of service what is too old or too much, and deletes the files of what expired long enough ago. Returns how many
    /// segments expired.
    ///
    /// Nothing expires and no file is deleted while the clock is suspect ([`Store::clock_trust`]). A run that would take more than
    /// [`crate::StoreConfig::retention_guard`] of all rows takes nothing unless an earlier run, at least half of
    /// [`crate::StoreConfig::retention_interval`] before, wanted that too.
    pub async fn expire(&self) -> Result<usize> {
        let Observation { trust, now } = self.observe_clock();
        if let ClockTrust::Ahead { .. } | ClockTrust::Behind { .. } = trust {
            tracing::warn!(
                ?trust,
                "the clock is suspect; nothing expires until it is confirmed"
            );
            return Ok(0);
        }
        self.save_time_mark().await?;
        let rules = self.retention_rules().await?;
        let _one = self.changing.lock().await;
        self.settle().await?;
        self.forget_usage(now).await?;
        let segments = self.all_segments();
        let mut gone: Vec<&Segment> = Vec::new();
        for segment in &segments {
            let record = &segment.record;
            if record.max_ts < now.saturating_sub(rules.age(record.app, record.table)) {
                gone.push(segment);
            }
        }
        if !self.is_plausible(&segments, &gone, self.config.clock.elapsed()) {
            gone.clear();
        }
        gone.extend(over_bytes(&rules, &segments, &gone));
        let ids: Vec<i64> = gone.iter().map(|segment| segment.record.id).collect();
        drop(segments);
        if !ids.is_empty() {
            tracing::info!(
                segments = ids.len(),
                "taking out of service what is past its retention"
            );
            let _commits = self.commits.lock().await;
            self.catalogue.expire_segments(&ids, now).await?;
            self.view
                .expire(&ids, &expired::folder(&self.config.data_dir));
            self.access.damaged.forget(&ids);
        }
        self.delete_expired(|record| {
            record
                .expired
                .is_some_and(|at| at <= now.saturating_sub(ticks(self.config.retention_grace)))
        })
        .await?;
        Ok(ids.len())
    }

    /// Forgets the usage of hours that are too old.
    async fn forget_usage(&self, now: i64) -> Result<()> {
        let oldest = now.saturating_sub(ticks(usage::KEPT));
        self.catalogue.forget_usage_before(oldest).await?;
        self.view.forget_usage_before(oldest);
        Ok(())
    }

    /// Seals the memtable if it holds rows that are past their retention, and runs [`Store::expire`]: retention runs over segments only.
    pub async fn expire_with_memory(self: &Arc<Self>) -> Result<usize> {
        let (now, rules) = (self.observe_clock().now, self.retention_rules().await?);
        let view = self.view.get();
        let is_due = view.tables.iter().any(|((app, table), state)| {
            let oldest = now.saturating_sub(rules.age(*app, *table));
            let mut chunks = state.frozen.list.iter().chain(&state.open.list);
            chunks.any(|chunk| chunk.min_ts < oldest)
        });
        drop(view);
        if is_due {
            self.seal_all().await?;
        }
        self.expire().await
    }

    /// Deletes the files of expired segments that `goes` picks, and their entries. A file that a query still reads stays for the next
    /// run.
    pub(crate) async fn delete_expired(&self, goes: impl Fn(&SegmentRecord) -> bool) -> Result<()> {
        let mut records = self.catalogue.expired_segments().await?;
        records.retain(goes);
        if records.is_empty() {
            return Ok(());
        }
        if let Some(objects) = &self.segment_settings.objects {
            // The catalogue first: other nodes read what it lists.
            let ids: Vec<i64> = records.iter().map(|record| record.id).collect();
            self.catalogue.replace_segments(&ids, &mut []).await?;
            for record in &records {
                if self.is_shared() {
                    objects.retire(record);
                } else {
                    objects.delete_soon(record);
                }
            }
            return Ok(());
        }
        let segments = self.segment_settings.folder.clone();
        let folder = expired::folder(&self.config.data_dir);
        let vfs = self.config.vfs.clone();
        let deleted = blocking(move || {
            let mut deleted = Vec::new();
            for record in records {
                let data = segments.join(&record.path);
                if vfs::exists(&*vfs, &data).map_err(StoreError::io("read", &data))? {
                    continue;
                }
                let path = folder.join(&record.path);
                // The file first: an entry without a file is deleted by the next run.
                match vfs.remove(&path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(StoreError::io("remove", &path)(error));
                    }
                    _ => deleted.push(record.id),
                }
            }
            Ok(deleted)
        })
        .await?;
        self.catalogue.replace_segments(&deleted, &mut []).await
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
            self.large_expiry.forget();
            return true;
        }
        let confirmed = self
            .large_expiry
            .confirm(elapsed, self.config.retention_interval / 2);
        if !confirmed {
            tracing::warn!(
                going,
                rows,
                "retention would take most of the data: is the clock right?"
            );
        }
        confirmed
    }
}

/// The oldest segments of tables, and of the remaining ones those of applications, that have more bytes than they may.
fn over_bytes<'a>(
    rules: &RetentionRules,
    all: &'a [Arc<Segment>],
    gone: &[&Segment],
) -> Vec<&'a Segment> {
    let mut newest_first: Vec<&Segment> = all
        .iter()
        .map(Arc::as_ref)
        .filter(|segment| {
            gone.iter()
                .all(|other| other.record.id != segment.record.id)
        })
        .collect();
    newest_first.sort_by_key(|segment| std::cmp::Reverse(segment.record.max_ts));
    let (mut tables, mut apps): (HashMap<(AppId, Table), u64>, HashMap<AppId, u64>) =
        (HashMap::new(), HashMap::new());
    newest_first.retain(|segment| {
        let record = &segment.record;
        let exceeds = |used: &mut u64, limit: Option<u64>| {
            *used += record.bytes;
            limit.is_some_and(|limit| *used > limit)
        };
        let key = (record.app, record.table);
        // What goes because of its table does not count against its application.
        exceeds(
            tables.entry(key).or_default(),
            rules.table_bytes(record.app, record.table),
        ) || exceeds(
            apps.entry(record.app).or_default(),
            rules.app_bytes(record.app),
        )
    });
    newest_first
}
