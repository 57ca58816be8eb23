//! Scans under aggregations: texts as dictionaries, so that rows are grouped by code, and rows that no group needs.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::datasource::physical_plan::{FileScanConfig, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;

use super::dictionary::AsDictionary;
use super::source::SegmentSource;
use crate::schema::TIMESTAMP;
use crate::segment::Segment;

/// `scan` with dictionaries (`Dictionary(UInt32, Utf8View)`) in place of these columns of its output. `None` if it is no scan of
/// segments, if one of these columns is no text that depends on a single column of the table, or if the column cache does not hold the
/// codes of that column for most rows of the segments: the other rows have a code each.
///
/// # Errors
/// DataFusion cannot push the projection into the scan.
pub fn with_dictionaries(
    scan: &Arc<dyn ExecutionPlan>,
    columns: &[usize],
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some((config, source)) = segment_scan(scan) else {
        return Ok(None);
    };
    let Some(projection) = source.projection() else {
        return Ok(None);
    };
    let files = config.file_groups.iter().flat_map(|group| group.files());
    let segments: Vec<&Segment> = files
        .filter_map(|file| file.extension::<Arc<Segment>>())
        .map(Arc::as_ref)
        .collect();
    let outputs = projection.as_ref();
    for column in columns {
        let Some(output) = outputs.get(*column) else {
            return Ok(None);
        };
        let read = collect_columns(&output.expr);
        let mut read = read.iter();
        let (Some(only), None) = (read.next(), read.next()) else {
            return Ok(None);
        };
        if is_volatile(&output.expr) || !source.has_codes(&segments, only.name()) {
            return Ok(None);
        }
    }
    let schema = scan.schema();
    let outputs = schema.fields().iter().enumerate().map(|(index, field)| {
        let value = Arc::new(Column::new(field.name(), index));
        let is_coded = columns.contains(&index);
        let expr: Arc<dyn PhysicalExpr> = if is_coded {
            Arc::new(AsDictionary::new(value))
        } else {
            value
        };
        (
            is_coded.then(|| field.data_type().clone()),
            ProjectionExpr {
                expr,
                alias: field.name().clone(),
            },
        )
    });
    let (kinds, outputs): (Vec<_>, Vec<_>) = outputs.unzip();
    if kinds
        .into_iter()
        .flatten()
        .any(|kind| kind != DataType::Utf8View)
    {
        return Ok(None);
    }
    let projection = ProjectionExprs::new(outputs);
    let Some(pushed) = source.try_pushdown_projection(&projection)? else {
        return Ok(None);
    };
    let mut config = config.clone();
    config.file_source = pushed;
    Ok(Some(DataSourceExec::from_data_source(config)))
}

/// `scan` without rows whose time is not later than that of a row that it returned before with the same texts: of each combination of
/// the texts of `keys` it returns the latest row, and perhaps others. Both are columns of its output. `None` if it is no scan of
/// segments, or if the keys and times are no columns of the table that the scan can select rows by.
pub fn with_latest(
    scan: &Arc<dyn ExecutionPlan>,
    keys: &[usize],
    time: usize,
) -> Option<Arc<dyn ExecutionPlan>> {
    let (config, source) = segment_scan(scan)?;
    let outputs = source.projection()?.as_ref();
    let key = |column: &usize| {
        let expr = &outputs.get(*column)?.expr;
        let coded = expr.downcast_ref::<AsDictionary>();
        column_name(coded.map_or(expr, AsDictionary::text)).map(str::to_owned)
    };
    let keys = keys.iter().map(key).collect::<Option<Vec<_>>>()?;
    let time = column_name(&outputs.get(time)?.expr).filter(|name| *name == TIMESTAMP)?;
    let mut config = config.clone();
    config.file_source = Arc::new(source.with_latest(keys, time.to_owned())?);
    Some(DataSourceExec::from_data_source(config))
}

/// The name of the column that an output of a scan is; `None` if it is another expression.
fn column_name(expr: &Arc<dyn PhysicalExpr>) -> Option<&str> {
    expr.downcast_ref::<Column>().map(Column::name)
}

fn segment_scan(scan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &SegmentSource)> {
    let source = scan.downcast_ref::<DataSourceExec>()?.data_source();
    let config = source.downcast_ref::<FileScanConfig>()?;
    Some((
        config,
        config.file_source().downcast_ref::<SegmentSource>()?,
    ))
}
