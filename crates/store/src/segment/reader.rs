//! How the query engine reads segments: through their files, holding on to each segment until it is read.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricCategory,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;

use super::damaged::damage_in;
use super::{Segment, SegmentAccess, SegmentFileReader};
use crate::blocking::on_thread;

/// Opens the segments that are attached to the files of a plan.
#[derive(Debug)]
pub(crate) struct SegmentReaders {
    pub(crate) access: Arc<SegmentAccess>,
}

impl ParquetFileReaderFactory for SegmentReaders {
    fn create_reader(
        &self,
        partition_index: usize,
        partitioned_file: PartitionedFile,
        _metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> datafusion::error::Result<Box<dyn AsyncFileReader + Send>> {
        let segment = partitioned_file
            .extension::<Arc<Segment>>()
            .cloned()
            .ok_or_else(|| {
                DataFusionError::Internal("a file of the plan is not a segment".to_owned())
            })?;
        Ok(Box::new(SegmentReader {
            // One counter: the query engine counts the rest, and each is an allocation for each file.
            scanned: MetricBuilder::new(metrics)
                .with_category(MetricCategory::Bytes)
                .counter("bytes_scanned", partition_index),
            segment,
            access: self.access.clone(),
            file: None,
        }))
    }
}

/// Reads one segment. The file is opened at the first read, so that planning holds no open files.
struct SegmentReader {
    scanned: Count,
    segment: Arc<Segment>,
    access: Arc<SegmentAccess>,
    file: Option<SegmentFileReader>,
}

impl SegmentReader {
    /// Does blocking work with the open file.
    async fn with_file<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&SegmentFileReader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let open = self.file.take();
        let segment = self.segment.clone();
        let done = on_thread(move || -> Result<(SegmentFileReader, T)> {
            let file = match open {
                Some(file) => file,
                None => SegmentFileReader::open(&segment)?,
            };
            let value = work(&file)?;
            Ok((file, value))
        });
        let done = done
            .await
            .map_err(|error| ParquetError::External(Box::new(error)))?;
        if let Some(what) = done.as_ref().err().and_then(damage_in) {
            self.access.damaged.report(&self.segment, &what);
        }
        let (file, value) = done?;
        self.file = Some(file);
        Ok(value)
    }
}

impl AsyncFileReader for SegmentReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        self.scanned.add((range.end - range.start) as usize);
        self.with_file(move |file| file.read(&range)).boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        let total: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        self.scanned.add(total as usize);
        self.with_file(move |file| file.read_all(&ranges)).boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        async move {
            let id = self.segment.record.id;
            if let Some(footer) = self.access.footers.get(id) {
                return Ok(footer.metadata().clone());
            }
            let (access, segment) = (self.access.clone(), self.segment.clone());
            self.with_file(move |file| {
                let footer = access.footers.read(&segment, file);
                footer
                    .map(|footer| footer.metadata().clone())
                    .map_err(|error| file.unparsable(error))
            })
            .await
        }
        .boxed()
    }
}
