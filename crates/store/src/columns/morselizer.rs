//! Divides the files of a scan between the column cache and the Parquet reader.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::error::Result;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use futures::stream::BoxStream;

use super::file_scan::FileScan;
use super::partition_scan::{Decision, PartitionScan};
use super::scanned_rows::{restricted, unrestricted};
use crate::time_range::TimeRange;

/// Plans the files of one partition.
#[derive(Debug)]
pub(super) struct SegmentMorselizer {
    pub(super) scan: Arc<PartitionScan>,
}

impl Morselizer for SegmentMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let scan = &self.scan;
        if let Some((segment, rows)) = restricted(&file) {
            let (segment, rows) = (Arc::clone(segment), rows.clone());
            let scan = FileScan::of_chosen_rows(Arc::clone(scan), file, segment, rows);
            return Ok(Box::new(Planned(Some(scan))));
        }
        let Some(segment) = unrestricted(&file).cloned() else {
            return scan.parquet.plan_file(file);
        };
        if !scan.may_have_rows(&segment) {
            return Ok(Box::new(Planned(None)));
        }
        scan.begin(&segment);
        let is_sliced = file.extension::<TimeRange>().is_some();
        let is_counted = scan.plan.top.as_ref().is_some_and(|t| t.filter.is_some());
        let is_plain = !is_sliced && !is_counted;
        if is_plain && scan.decide(&segment) == Some(Decision::Parquet) {
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

/// The scan of a segment.
#[derive(Debug)]
struct FileMorsel(FileScan);

impl Morsel for FileMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        self.0.into_stream()
    }
}
