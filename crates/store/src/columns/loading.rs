//! Which columns of which segments a scan decodes to keep them in the column cache.
//!
//! A scan whose columns do not fit would displace all columns and find none of its own again. It then keeps the columns by which it selects
//! rows, if these fit, and else the columns of a part of its segments. A sort with a limit keeps the columns by which it selects rows of the
//! segments that it reads first: the first rows by time are mostly in these, and the rows that it finds there exclude most rows of the others.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::Field;
use xxhash_rust::xxh64::xxh64;

use super::cache::ColumnCache;
use super::coded::MAX_ROW_BYTES;
use super::scan_plan::ScanPlan;
use super::top_rows::TopBound;
use crate::segment::Segment;

/// A scan that does not fit leaves one of so many parts of the cache to other scans.
const LEFT: u64 = 8;
/// The parts that the ids of segments are hashed into.
const PARTS: u64 = 1 << 10;

/// What a scan decodes to keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loading {
    segments: Segments,
    /// Whether also the columns of the output, and not only those by which rows are selected.
    pub(super) output: bool,
}

/// The segments of which columns are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segments {
    All,
    /// Those whose ids are hashed into the first of [`PARTS`] parts.
    Parts(u64),
    /// Those with these ids.
    Ids(Arc<HashSet<i64>>),
}

/// A segment that is scanned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanned {
    id: i64,
    rows: u64,
    min_ts: i64,
    max_ts: i64,
}

impl From<&Arc<Segment>> for Scanned {
    fn from(segment: &Arc<Segment>) -> Scanned {
        Scanned {
            id: segment.record.id,
            rows: segment.record.rows,
            min_ts: segment.record.min_ts,
            max_ts: segment.record.max_ts,
        }
    }
}

/// The bytes of a row of a column that is kept, at most. Codes take less than texts.
fn most_bytes(column: &Field) -> u64 {
    let width = column.data_type().primitive_width();
    width.unwrap_or(MAX_ROW_BYTES) as u64
}

impl Loading {
    /// A scan that reads what is in the cache and decodes nothing to keep it.
    pub(super) const NONE: Loading = Loading {
        segments: Segments::Parts(0),
        output: false,
    };

    /// What a scan of segments loads.
    pub(super) fn of(plan: &ScanPlan, segments: &[Scanned], cache: &ColumnCache) -> Loading {
        let fields = |columns: &[usize]| -> Vec<&Field> {
            let columns = columns.iter().map(|column| plan.table.field(*column));
            columns.collect()
        };
        let with_rows: Vec<(i64, u64)> = segments.iter().map(|s| (s.id, s.rows)).collect();
        let bytes = |columns: &[usize]| cache.expected_bytes(&with_rows, &fields(columns));
        let (limit, output) = (cache.limit(), plan.is_narrow());
        let whole = |output| Loading {
            segments: Segments::All,
            output,
        };
        let loaded = plan.loaded();
        let rows: u64 = segments.iter().map(|segment| segment.rows).sum();
        let most = fields(&loaded).into_iter().map(most_bytes).sum::<u64>();
        // Few rows fit, whatever is known of their columns.
        if most.saturating_mul(rows) <= limit || plan.reads_few_segments() {
            return whole(output);
        }
        let all = bytes(&loaded);
        if all <= limit {
            return whole(output);
        }
        let tested: Vec<usize> = plan.tested().collect();
        let of_tested = bytes(&tested);
        if !tested.is_empty() && of_tested <= limit {
            return whole(false);
        }
        let part = limit - limit / LEFT;
        if let Some(top) = &plan.top {
            let rows = share(rows, part, of_tested);
            return Loading {
                segments: Segments::Ids(Arc::new(read_first(segments, top, rows))),
                output: false,
            };
        }
        Loading {
            segments: Segments::Parts(part.saturating_mul(PARTS) / all),
            output,
        }
    }

    /// Whether the scan loads something of all segments.
    pub(super) fn is_whole(&self) -> bool {
        self.segments == Segments::All
    }

    /// Whether the scan loads the columns of a segment. Scans that load a part load the same segments, so that they share columns.
    pub(super) fn includes(&self, segment: i64) -> bool {
        match &self.segments {
            Segments::All => true,
            Segments::Parts(parts) => xxh64(&segment.to_le_bytes(), 0) % PARTS < *parts,
            Segments::Ids(ids) => ids.contains(&segment),
        }
    }
}

/// How many of `rows` rows fit into `part` bytes, if all take `all` bytes.
fn share(rows: u64, part: u64, all: u64) -> u64 {
    let share = u128::from(rows) * u128::from(part) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// The ids of the segments that come first in a sort by time, or else of the newest ones, with which each partition begins: up to `rows` rows in total.
fn read_first(segments: &[Scanned], top: &TopBound, mut rows: u64) -> HashSet<i64> {
    let mut segments = segments.to_vec();
    if top.by_time {
        segments.sort_unstable_by_key(|s| Reverse((top.best_time(s.min_ts, s.max_ts), s.id)));
    } else {
        segments.sort_unstable_by_key(|s| Reverse((s.max_ts, s.id)));
    }
    let fitting = segments.iter().take_while(|segment| {
        let left = rows.checked_sub(segment.rows);
        rows = left.unwrap_or(rows);
        left.is_some()
    });
    fitting.map(|segment| segment.id).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Schema, SchemaRef};
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{binary, col, lit};
    use datafusion::physical_expr::projection::ProjectionExprs;

    use super::*;
    use crate::columns::TopRows;
    use crate::schema::TIMESTAMP;

    /// Segments of 1,000 rows, each later than the one before.
    fn segments(count: i64) -> Vec<Scanned> {
        let segment = |id| Scanned {
            id,
            rows: 1000,
            min_ts: id * 10,
            max_ts: id * 10 + 9,
        };
        (0..count).map(segment).collect()
    }

    fn table() -> SchemaRef {
        let columns = ["a", "b", "c", "d"];
        let columns = columns.map(|name| Field::new(name, DataType::Int64, true));
        Arc::new(Schema::new(columns.to_vec()))
    }

    /// A scan that returns three columns, of the rows in which `d` is greater than 1 if it has a condition.
    fn plan(has_condition: bool) -> ScanPlan {
        plan_of(has_condition, None)
    }

    fn plan_of(has_condition: bool, top: Option<Arc<TopBound>>) -> ScanPlan {
        let table = table();
        let condition = has_condition.then(|| -> Arc<dyn PhysicalExpr> {
            binary(col("d", &table).unwrap(), Operator::Gt, lit(1_i64), &table).unwrap()
        });
        let output = ProjectionExprs::from_indices(&[0, 1, 2], &table);
        let plan = ScanPlan::new(&table, condition.as_ref(), &output, top);
        plan.unwrap().expect("rows can be tested in any order")
    }

    #[test]
    fn a_scan_that_fits_loads_all_its_columns() {
        let cache = ColumnCache::new(4 * 8 * 1000 * 10);
        for has_condition in [false, true] {
            let loading = Loading::of(&plan(has_condition), &segments(10), &cache);
            assert!(loading.is_whole() && loading.output);
        }
    }

    #[test]
    fn the_columns_of_conditions_go_first() {
        let cache = ColumnCache::new(8 * 1000 * 10);
        let loading = Loading::of(&plan(true), &segments(10), &cache);
        assert!(loading.is_whole() && !loading.output);
    }

    #[test]
    fn of_a_scan_that_does_not_fit_a_part_of_the_segments_is_loaded() {
        // Half of the 3,000 kB, and an eighth for others.
        let cache = ColumnCache::new(3 * 8 * 1000 * 1000 / 2 * 8 / 7);
        let segments = segments(1000);
        let loading = Loading::of(&plan(false), &segments, &cache);
        assert!(!loading.is_whole() && loading.output);
        let ids = || segments.iter().map(|segment| segment.id);
        let included: Vec<i64> = ids().filter(|id| loading.includes(*id)).collect();
        assert!((450..550).contains(&included.len()), "{}", included.len());
        // A scan of more loads some of the same segments.
        let larger = Loading::of(&plan(true), &segments, &ColumnCache::new(1_000_000));
        let of_larger: Vec<i64> = ids().filter(|id| larger.includes(*id)).collect();
        assert!((10..50).contains(&of_larger.len()), "{}", of_larger.len());
        assert!(of_larger.iter().all(|id| included.contains(id)));
        assert!(ids().all(|id| !Loading::NONE.includes(id)));
    }

    #[test]
    fn of_a_sort_with_a_limit_the_segments_that_are_read_first_are_loaded() {
        let top = |by_time, descending| {
            let top = TopRows {
                column: 0,
                descending,
                nulls_first: false,
                rows: 50,
            };
            let name = if by_time { TIMESTAMP } else { "a" };
            TopBound::new(0, &Field::new(name, DataType::Int64, true), &top)
        };
        let segments = segments(1000);
        // The columns `a` and `d` of 100 segments, and an eighth for others.
        let cache = ColumnCache::new(2 * 8 * 1000 * 100 * 8 / 7);
        let included = |top: Option<TopBound>| {
            let loading = Loading::of(&plan_of(true, top.map(Arc::new)), &segments, &cache);
            assert!(!loading.is_whole() && !loading.output);
            let ids = segments.iter().map(|segment| segment.id);
            ids.filter(|id| loading.includes(*id)).collect::<Vec<_>>()
        };
        let newest: Vec<i64> = (900..1000).collect();
        assert_eq!(included(top(true, true)), newest);
        assert_eq!(included(top(true, false)), (0..100).collect::<Vec<_>>());
        for descending in [true, false] {
            assert_eq!(included(top(false, descending)), newest);
        }
    }
}
