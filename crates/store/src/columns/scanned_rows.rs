//! The files of a scan whose rows are all scanned.

use std::sync::Arc;

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, ParquetRowSelection};

use crate::segment::Segment;

/// The segment of a file whose rows are all scanned; `None` if rows are chosen by number or by an index.
pub(super) fn unrestricted(file: &PartitionedFile) -> Option<&Arc<Segment>> {
    let is_restricted = file.extension::<ParquetRowSelection>().is_some()
        || file.extension::<ParquetAccessPlan>().is_some();
    file.extension::<Arc<Segment>>().filter(|_| !is_restricted)
}
