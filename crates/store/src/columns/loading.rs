//! Which columns of which segments a scan decodes to keep them in the column cache.
//!
//! A scan whose columns do not fit would displace all columns and find none of its own again. It then keeps the columns by which it selects
//! rows, if these fit, and else the columns of a part of its segments.

use arrow::datatypes::Field;
use xxhash_rust::xxh64::xxh64;

use super::cache::ColumnCache;
use super::coded::MAX_ROW_BYTES;
use super::scan_plan::ScanPlan;

/// A scan that does not fit leaves one of so many parts of the cache to other scans.
const LEFT: u64 = 8;
/// The parts that the ids of segments are hashed into.
const PARTS: u64 = 1 << 10;

/// What a scan decodes to keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loading {
    /// How many of [`PARTS`] parts of the segments.
    parts: u64,
    /// Whether also the columns of the output, and not only those by which rows are selected.
    pub(super) output: bool,
}

/// The bytes of a row of a column that is kept, at most. Codes take less than texts.
fn most_bytes(column: &Field) -> u64 {
    let width = column.data_type().primitive_width();
    width.unwrap_or(MAX_ROW_BYTES) as u64
}

impl Loading {
    /// A scan that reads what is in the cache and decodes nothing to keep it.
    pub(super) const NONE: Loading = Loading {
        parts: 0,
        output: false,
    };

    /// What a scan of segments, each with its id and its number of rows, loads.
    pub(super) fn of(plan: &ScanPlan, segments: &[(i64, u64)], cache: &ColumnCache) -> Loading {
        let fields = |columns: &[usize]| -> Vec<&Field> {
            let columns = columns.iter().map(|column| plan.table.field(*column));
            columns.collect()
        };
        let bytes = |columns: &[usize]| cache.expected_bytes(segments, &fields(columns));
        let (limit, output) = (cache.limit(), plan.is_narrow());
        let whole = |output| Loading {
            parts: PARTS,
            output,
        };
        let loaded = plan.loaded();
        let rows: u64 = segments.iter().map(|(_, rows)| rows).sum();
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
        if !tested.is_empty() && bytes(&tested) <= limit {
            return whole(false);
        }
        let part = limit - limit / LEFT;
        Loading {
            parts: part.saturating_mul(PARTS) / all,
            output,
        }
    }

    /// Whether the scan loads anything of all segments.
    pub(super) fn is_whole(self) -> bool {
        self.parts >= PARTS
    }

    /// Whether the scan loads the columns of a segment. Scans that load a part load the same segments, so that they share columns.
    pub(super) fn includes(self, segment: i64) -> bool {
        self.is_whole() || xxh64(&segment.to_le_bytes(), 0) % PARTS < self.parts
    }
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

    /// Segments of 1,000 rows.
    fn segments(count: i64) -> Vec<(i64, u64)> {
        (0..count).map(|id| (id, 1000)).collect()
    }

    fn table() -> SchemaRef {
        let columns = ["a", "b", "c", "d"];
        let columns = columns.map(|name| Field::new(name, DataType::Int64, true));
        Arc::new(Schema::new(columns.to_vec()))
    }

    /// A scan that returns three columns, of the rows in which `d` is greater than 1 if it has a condition.
    fn plan(has_condition: bool) -> ScanPlan {
        let table = table();
        let condition = has_condition.then(|| -> Arc<dyn PhysicalExpr> {
            binary(col("d", &table).unwrap(), Operator::Gt, lit(1_i64), &table).unwrap()
        });
        let output = ProjectionExprs::from_indices(&[0, 1, 2], &table);
        let plan = ScanPlan::new(&table, condition.as_ref(), &output, None);
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
        let included: Vec<i64> = segments
            .iter()
            .map(|(id, _)| *id)
            .filter(|id| loading.includes(*id))
            .collect();
        assert!((450..550).contains(&included.len()), "{}", included.len());
        // A scan of more loads some of the same segments.
        let larger = Loading::of(&plan(true), &segments, &ColumnCache::new(1_000_000));
        let of_larger = segments.iter().filter(|(id, _)| larger.includes(*id));
        let of_larger: Vec<i64> = of_larger.map(|(id, _)| *id).collect();
        assert!((10..50).contains(&of_larger.len()), "{}", of_larger.len());
        assert!(of_larger.iter().all(|id| included.contains(id)));
        assert!(segments.iter().all(|(id, _)| !Loading::NONE.includes(*id)));
    }
}
