//! Which rows of a file are scanned.

use std::sync::Arc;

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, ParquetRowSelection};
use parquet::arrow::arrow_reader::RowSelection;

use crate::segment::Segment;

/// The segment of a file whose rows are all scanned; `None` if rows are chosen by number or by an index.
pub(super) fn unrestricted(file: &PartitionedFile) -> Option<&Arc<Segment>> {
    let is_restricted = file.extension::<ParquetRowSelection>().is_some()
        || file.extension::<ParquetAccessPlan>().is_some();
    file.extension::<Arc<Segment>>().filter(|_| !is_restricted)
}

/// The segment of a file of which rows are chosen, and these rows; `None` if all rows are scanned.
pub(super) fn restricted(file: &PartitionedFile) -> Option<(&Arc<Segment>, &RowSelection)> {
    let chosen = file.extension::<ParquetRowSelection>()?;
    Some((file.extension::<Arc<Segment>>()?, chosen.selection()))
}
