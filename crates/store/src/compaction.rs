//! Compaction: small segments of a closed hour, then of a closed day, become one. Hours of late telemetry are merged before their day
//! closes.
//!
//! A merge of a million rows takes many seconds. The lock of changes is held while its segments are chosen and while it is committed, and
//! not while its file is written: seals, which free the memory that new telemetry needs, and expiry go on meanwhile. A merge whose
//! segments are not all there any more when it is committed is given up. The file is written by threads of low priority, because it may wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::execution::TaskContext;
use datafusion::execution::config::SessionConfig;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, execute_stream};
use futures::StreamExt;

use crate::app_id::AppId;
use crate::blocking::{blocking, in_background, uncancelled};
use crate::chosen_rows::Selections;
use crate::clock::{hour_of, ticks};
use crate::error::Result;
use crate::promote::{KeyCounts, Shredder};
use crate::scan::{SegmentScan, newest_first};
use crate::schema::{TIMESTAMP, Table};
use crate::segment::{Covers, Damage, PAGE_ROWS, Segment, SegmentFile, SegmentWriter, Unlisted};
use crate::segment_change::SegmentChange;
use crate::store::Store;
use crate::view::View;

/// Hours of a day.
const DAY: i64 = 24;
/// Hours of a merged segment, by its level.
const SPANS: [(u32, i64); 2] = [(1, 1), (2, DAY)];

/// Rows of a batch. A merge holds some batches of each of its segments, and a row of 45 columns of texts takes 720 bytes of views alone:
/// with batches of 8,192 rows a merge of 16 segments held 350 MB.
const BATCH_ROWS: usize = 1024;

/// Rows of a segment that are read at once: a reader of a whole row group holds its pages, and those of 16 segments took 112 MiB.
/// To read fewer takes longer, because each read begins with the dictionaries of all columns.
pub(crate) const WINDOW_ROWS: usize = 8 * PAGE_ROWS;

/// Intervals of compaction in which no segment of an hour or of a day was sealed, after which its segments are merged. While old telemetry is
/// loaded, its days grow with each seal: to merge them each time would write their rows again and again, beside the ingestion.
const SETTLED_AFTER: u32 = 5;
/// How often one run finds that segments of a merge are gone when it is committed. Nodes take turns, and expiry is seldom: it is rare.
const MOST_SUPERSEDED: usize = 4;

/// Segments that become one.
#[derive(Debug)]
pub(crate) struct Merge {
    app: AppId,
    table: Table,
    level: u32,
    hour: i64,
    segments: Vec<Arc<Segment>>,
}

/// The file of a merge, which the catalogue does not list yet.
#[derive(Debug)]
pub(crate) struct WrittenMerge {
    /// The ids of the segments that it replaces.
    gone: Vec<i64>,
    merged: Unlisted,
    /// How many collections of unlisted objects there were before it was written.
    collections: i64,
}

impl Store {
    /// Merges what can be merged now; returns how many merges were done.
    ///
    /// Each merge is one transaction; the files that it replaces go when the last query that reads them ends.
    pub async fn compact(self: &Arc<Self>) -> Result<usize> {
        self.compact_unless(|_| false).await
    }

    /// As [`Store::compact`], but hours and days of which segments were sealed lately wait, unless they have as many as one merge reads.
    pub(crate) async fn compact_settled(self: &Arc<Self>) -> Result<usize> {
        let wait = ticks(
            self.config
                .compaction_interval
                .saturating_mul(SETTLED_AFTER),
        );
        self.compact_unless(|created| {
            let now = self.config.clock.now_ticks();
            // A clock that was set back must not make them wait.
            (now.saturating_sub(wait)..=now).contains(&created)
        })
        .await
    }

    /// Merges what can be merged now, without hours and days of which a segment was sealed lately, by when it was created.
    async fn compact_unless(self: &Arc<Self>, is_late: impl Fn(i64) -> bool) -> Result<usize> {
        let (mut done, mut superseded) = (0, 0);
        let _merging = self.merging.lock().await;
        while let Some(merge) = self.choose_merge(&is_late).await? {
            match self.merge(&merge).await {
                Ok(()) => done += 1,
                // The other segments are merged without the damaged one.
                Err(error) if self.has_damaged(&merge) => {
                    tracing::warn!(%error, "a merge met a damaged segment; it is left out from now on");
                }
                Err(error) if error.is_superseded() && superseded < MOST_SUPERSEDED => {
                    superseded += 1;
                    tracing::info!(
                        "a segment of a merge was replaced, expired or deleted while the merge was written"
                    );
                    self.follow().await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Chooses the segments of the next merge; `None` if there is nothing to merge.
    pub(crate) async fn choose_merge(
        &self,
        is_late: impl Fn(i64) -> bool,
    ) -> Result<Option<Merge>> {
        let _one = self.changing.lock().await;
        self.settle().await?;
        Ok(self.next_merge(&is_late))
    }

    async fn merge(self: &Arc<Self>, merge: &Merge) -> Result<()> {
        let written = self.write_merge(merge).await;
        (self.config.after_merge)();
        let (store, written) = (Arc::clone(self), written?);
        uncancelled(async move { store.commit_merge(written).await }).await
    }

    /// The next merge: hours before days, so that a day's merge reads few files.
    ///
    /// Segments of several hours wait for their day to close, unless there are as many as one merge reads: late telemetry would
    /// otherwise leave one with each seal.
    fn next_merge(&self, is_late: &impl Fn(i64) -> bool) -> Option<Merge> {
        let (view, damage) = (self.view.get(), self.access.damaged.known());
        let settle = ticks(self.config.seal_age).saturating_mul(2);
        let closed = hour_of(self.config.clock.now_ticks().saturating_sub(settle));
        for (level, span) in SPANS {
            for ((app, table), state) in &view.tables {
                for (start, segments) in by_span(&state.segments, &damage, level, span) {
                    let is_late = |segment: &Arc<Segment>| {
                        segment.record.level == 0 && is_late(segment.record.created)
                    };
                    let waits = segments.len() < self.config.compaction_fan_in
                        && segments.iter().any(is_late);
                    let segments = self.fitting(segments);
                    if !waits && start + span <= closed && segments.len() > 1 {
                        return Some(Merge {
                            app: *app,
                            table: *table,
                            level,
                            hour: start,
                            segments,
                        });
                    }
                }
            }
        }
        self.merge_of_hours(&view, &damage)
    }

    /// A merge of sealed segments that are each of several hours of one day.
    fn merge_of_hours(&self, view: &View, damage: &Damage) -> Option<Merge> {
        for ((app, table), state) in &view.tables {
            for (start, mut segments) in by_span(&state.segments, damage, 0, DAY) {
                segments.retain(|segment| {
                    hour_of(segment.record.min_ts) < hour_of(segment.record.max_ts)
                });
                let many = segments.len() >= self.config.compaction_fan_in;
                let segments = self.fitting(segments);
                if many && segments.len() > 1 {
                    return Some(Merge {
                        app: *app,
                        table: *table,
                        level: 1,
                        hour: start,
                        segments,
                    });
                }
            }
        }
        None
    }

    /// The smallest segments, as many as may be merged at once.
    fn fitting(&self, mut segments: Vec<Arc<Segment>>) -> Vec<Arc<Segment>> {
        segments.sort_by_key(|segment| segment.record.rows);
        segments.truncate(self.config.compaction_fan_in);
        let mut rows = 0;
        segments.retain(|segment| {
            rows += segment.record.rows;
            rows <= self.config.compaction_rows
        });
        segments
    }

    fn has_damaged(&self, merge: &Merge) -> bool {
        let damage = self.access.damaged.known();
        let mut segments = merge.segments.iter();
        segments.any(|segment| damage.contains_key(&segment.record.id))
    }

    /// Writes the file of a merge. The caller holds the lock of merges and not that of changes.
    pub(crate) async fn write_merge(&self, merge: &Merge) -> Result<WrittenMerge> {
        let segments = merge.segments.iter();
        Ok(WrittenMerge {
            gone: segments.map(|segment| segment.record.id).collect(),
            collections: self.catalogue.collections().await?,
            merged: self.write_merged(merge).await?,
        })
    }

    /// Puts the file of a merge in the place of its segments.
    ///
    /// # Errors
    /// As [`Catalogue::merge_segments`](crate::Catalogue), also in a store that shares its catalogue with no other node: a segment may have
    /// expired, or its application may have been deleted, since the merge was chosen. The file is removed then.
    pub(crate) async fn commit_merge(&self, written: WrittenMerge) -> Result<()> {
        let WrittenMerge {
            gone,
            merged,
            collections,
        } = written;
        let _one = self.changing.lock().await;
        // A seal may have left its commit in doubt meanwhile.
        self.settle().await?;
        let _commits = self.commits.lock().await;
        let mut merged = merged.into_records();
        let committed = if !self.view.has_segments(&gone) {
            Err(self.catalogue.superseded())
        } else if self.is_shared() {
            let catalogue = &self.catalogue;
            catalogue
                .merge_segments(&gone, &mut merged, collections)
                .await
        } else {
            // A store that was restored (`crate::reset`) may have segments that its catalogue does not list any more.
            self.catalogue.replace_segments(&gone, &mut merged).await
        };
        self.conclude(SegmentChange::Merged(gone, merged), committed)
            .await
    }

    async fn write_merged(&self, merge: &Merge) -> Result<Unlisted> {
        let shredder = Shredder::new(
            merge.table,
            self.count_keys(merge)
                .await?
                .choose(self.segment_settings.promotion),
        );
        let records = || merge.segments.iter().map(|segment| &segment.record);
        let rows: u64 = records().map(|record| record.rows).sum();
        let file = SegmentFile {
            app: merge.app,
            table: merge.table,
            hour: merge.hour,
            level: merge.level,
            min_seq: records().map(|record| record.min_seq).min().unwrap_or(0),
            max_seq: records().map(|record| record.max_seq).max().unwrap_or(0),
            covers: self.covers(merge).await?,
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
            created: self.config.clock.now_ticks(),
        };
        let (settings, plan) = (self.segment_settings.clone(), self.plan(merge, None)?);
        in_background(async move {
            let of_file = settings.clone();
            let create = move || SegmentWriter::create(&of_file, file, shredder);
            let mut writer = blocking(create).await?;
            let mut rows = run(plan)?;
            while let Some(batch) = rows.next().await {
                let batch = batch?;
                writer = blocking(move || {
                    writer.write(&batch)?;
                    Ok(writer)
                })
                .await?;
            }
            blocking(move || {
                let record = writer.finish()?;
                let published = settings.publish(std::slice::from_ref(&record));
                published
                    .inspect_err(|_| settings.discard(std::slice::from_ref(&record)))
                    .map(|()| Unlisted::new(settings, vec![record]))
            })
            .await
        })
        .await
    }

    /// Which rows the segments of a merge hold together; `None` if one of them does not say so.
    async fn covers(&self, merge: &Merge) -> Result<Option<Covers>> {
        let (access, segments) = (self.access.clone(), merge.segments.clone());
        blocking(move || {
            let mut all = Covers::default();
            for segment in &segments {
                match access.covers(segment)? {
                    Some(covers) => all.add(&covers),
                    None => return Ok(None),
                }
            }
            Ok(Some(all))
        })
        .await
    }

    /// A first pass over the bags alone: a key is promoted only if its values fit in all segments.
    async fn count_keys(&self, merge: &Merge) -> Result<KeyCounts> {
        let schema = merge.table.stored_schema();
        // The rows come in the order of time.
        let time = schema.index_of(TIMESTAMP).into_iter();
        let projection = time.chain(KeyCounts::columns(&schema)).collect();
        let (plan, table) = (self.plan(merge, Some(projection))?, merge.table);
        in_background(async move {
            let (mut bags, mut counts) = (run(plan)?, KeyCounts::new(table));
            while let Some(batch) = bags.next().await {
                counts.add(&batch?);
            }
            Ok(counts)
        })
        .await
    }

    /// The plan of the rows of all segments, newest first.
    fn plan(
        &self,
        merge: &Merge,
        projection: Option<Vec<usize>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = SegmentScan {
            schema: merge.table.stored_schema(),
            promoted: Arc::default(),
            access: self.access.clone(),
            groups: merge
                .segments
                .iter()
                .map(|segment| vec![segment.clone()])
                .collect(),
            selections: Selections::default(),
            window: Some(WINDOW_ROWS),
            projection,
            limit: None,
        };
        let plan = scan.plan()?;
        Ok(match newest_first(&plan.schema()) {
            Some(ordering) => Arc::new(SortPreservingMergeExec::new(ordering, plan)),
            None => plan,
        })
    }
}

/// Runs the plan of a merge, on the threads of the runtime that this is called on.
fn run(plan: Arc<dyn ExecutionPlan>) -> Result<SendableRecordBatchStream> {
    let session = SessionConfig::new().with_batch_size(BATCH_ROWS);
    let context = TaskContext::default().with_session_config(session);
    Ok(execute_stream(plan, Arc::new(context))?)
}

/// Segments up to `level` that are not damaged, by the span of hours that they lie in; one that crosses a border is left alone.
fn by_span(
    segments: &[Arc<Segment>],
    damage: &Damage,
    level: u32,
    span: i64,
) -> BTreeMap<i64, Vec<Arc<Segment>>> {
    let mut spans: BTreeMap<i64, Vec<Arc<Segment>>> = BTreeMap::new();
    let is_whole = |segment: &&Arc<Segment>| !damage.contains_key(&segment.record.id);
    for segment in segments.iter().filter(is_whole) {
        let start = |ticks: i64| hour_of(ticks).div_euclid(span) * span;
        let (first, last) = (start(segment.record.min_ts), start(segment.record.max_ts));
        if first == last && segment.record.level <= level {
            spans.entry(first).or_default().push(segment.clone());
        }
    }
    spans
}
