//! Divides the files of a scan between the column cache and the Parquet reader.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, ParquetRowSelection};
use datafusion::error::Result;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use futures::stream::BoxStream;

use super::file_scan::{Decision, FileScan, PartitionScan};
use crate::segment::Segment;

/// Plans the files of one partition.
#[derive(Debug)]
pub(super) struct SegmentMorselizer {
    pub(super) scan: Arc<PartitionScan>,
}

impl Morselizer for SegmentMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let scan = &self.scan;
        // Rows that are chosen by number are left to the Parquet reader.
        let is_restricted = file.extension::<ParquetRowSelection>().is_some()
            || file.extension::<ParquetAccessPlan>().is_some();
        let segment = file.extension::<Arc<Segment>>().filter(|_| !is_restricted);
        let Some(segment) = segment.cloned() else {
            return scan.parquet.plan_file(file);
        };
        let bounds = scan.plan.bounds();
        if !segment.overlaps(bounds.from, bounds.to) {
            return Ok(Box::new(Planned(None)));
        }
        if scan.decide(&segment) == Some(Decision::Parquet) {
            return scan.parquet.plan_file(file);
        }
        let scan = FileScan::new(Arc::clone(scan), file, segment);
        Ok(Box::new(Planned(Some(scan))))
    }
}

/// A planner with its morsel, if the file has one.
#[derive(Debug)]
struct Planned(Option<FileScan>);

impl MorselPlanner for Planned {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let morsel = |scan| MorselPlan::new().with_morsels(vec![Box::new(FileMorsel(scan))]);
        Ok(self.0.map(morsel))
    }
}

/// The scan of a whole segment.
#[derive(Debug)]
struct FileMorsel(FileScan);

impl Morsel for FileMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        self.0.into_stream()
    }
}
