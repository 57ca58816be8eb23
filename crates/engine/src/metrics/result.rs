//! The rows of a metric's query, assembled into the nested result (`docs/api-facts.md §3`, `D10`, `D12`).

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::RecordBatch;

use super::bins;
use super::request::MetricPlan;
use crate::error::EngineError;
use crate::result::{MetricBody, MetricBucket, MetricSegment, MetricValues, ResultTable};

/// A row of the query.
struct Row {
    bin: i64,
    dimensions: Vec<String>,
    values: MetricValues,
    order: Option<f64>,
}

/// The body of the reply.
pub(crate) fn assemble(plan: &MetricPlan, table: &ResultTable) -> Result<MetricBody, EngineError> {
    let rows = table
        .batches
        .iter()
        .map(|batch| read(plan, batch))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| EngineError::Internal(format!("the rows of a metric cannot be read: {e}")))?
        .concat();
    Ok(match (plan.interval, plan.segments.is_empty()) {
        (None, true) => {
            let nothing = vec![None; plan.aggregations.len()];
            MetricBody::Values(rows.into_iter().next().map_or(nothing, |row| row.values))
        }
        (None, false) => MetricBody::Segments(outer_segments(plan, rows)),
        (Some(interval), _) => MetricBody::Buckets(buckets(plan, interval, rows)),
    })
}

impl Clone for Row {
    fn clone(&self) -> Row {
        Row {
            bin: self.bin,
            dimensions: self.dimensions.clone(),
            values: self.values.clone(),
            order: self.order,
        }
    }
}

fn read(plan: &MetricPlan, batch: &RecordBatch) -> Result<Vec<Row>, arrow::error::ArrowError> {
    let column = |name: &str| {
        batch.column_by_name(name).cloned().ok_or_else(|| {
            arrow::error::ArrowError::SchemaError(format!("the column {name} is missing"))
        })
    };
    let bins = plan
        .interval
        .map(|_| cast(&column("bin")?, &DataType::Int64))
        .transpose()?;
    let dimensions = (0..plan.segments.len())
        .map(|i| cast(&column(&format!("d{i}"))?, &DataType::Utf8View))
        .collect::<Result<Vec<ArrayRef>, _>>()?;
    let values = (0..plan.aggregations.len())
        .map(|i| reals(&column(&format!("a{i}"))?))
        .collect::<Result<Vec<_>, _>>()?;
    let order = reals(&column("o")?)?;
    let counts = reals(&column("n")?)?;
    let row = |i: usize| {
        let any = counts.is_valid(i) && counts.value(i) > 0.0;
        let value = |a: &Float64Array| {
            (any && a.is_valid(i))
                .then(|| a.value(i))
                .filter(|v| v.is_finite())
        };
        Row {
            bin: bins
                .as_ref()
                .map_or(0, |b| b.as_primitive::<Int64Type>().value(i)),
            dimensions: dimensions
                .iter()
                .map(|d| d.as_string_view().value(i).to_owned())
                .collect(),
            values: values.iter().map(|a| value(a).map(round)).collect(),
            order: value(&order),
        }
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

fn reals(array: &ArrayRef) -> Result<Float64Array, arrow::error::ArrowError> {
    use arrow::datatypes::Float64Type;
    Ok(cast(array, &DataType::Float64)?
        .as_primitive::<Float64Type>()
        .clone())
}

/// Two decimals, as the service was recorded doing (`D10`).
fn round(value: f64) -> f64 {
    let scaled = (value * 100.0).round() / 100.0;
    if scaled.is_finite() { scaled } else { value }
}

fn buckets(plan: &MetricPlan, interval: i64, rows: Vec<Row>) -> Vec<MetricBucket> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut by_bin: std::collections::HashMap<i64, Vec<Row>> = std::collections::HashMap::new();
    for row in rows {
        by_bin.entry(row.bin).or_default().push(row);
    }
    let bucket = |(start, range): (i64, crate::request::TimeRange)| {
        let rows = by_bin.remove(&start).unwrap_or_default();
        let segmented = !plan.segments.is_empty();
        let values = rows.first().map_or_else(
            || vec![None; plan.aggregations.len()],
            |row| row.values.clone(),
        );
        MetricBucket {
            range,
            values: (!segmented).then_some(values),
            segments: if segmented {
                outer_segments(plan, rows)
            } else {
                Vec::new()
            },
        }
    };
    bins::buckets(interval, plan.range)
        .into_iter()
        .map(bucket)
        .collect()
}

/// The outer segments, the best `top` of them.
fn outer_segments(plan: &MetricPlan, rows: Vec<Row>) -> Vec<MetricSegment> {
    let mut segments: Vec<MetricSegment> = level(plan, 0, rows)
        .into_iter()
        .map(|(_, segment)| segment)
        .collect();
    segments.truncate(plan.top);
    segments
}

/// The segments of one level in order, each with the weight that orders it: the sum of its leaves.
fn level(plan: &MetricPlan, depth: usize, rows: Vec<Row>) -> Vec<(f64, MetricSegment)> {
    let Some(dimension) = plan.segments.get(depth) else {
        return Vec::new();
    };
    let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
    let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for row in rows {
        let value = row.dimensions.get(depth).cloned().unwrap_or_default();
        let place = *places.entry(value.clone()).or_insert_with(|| {
            groups.push((value, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, members)) = groups.get_mut(place) {
            members.push(row);
        }
    }
    let innermost = depth + 1 == plan.segments.len();
    let mut segments: Vec<(f64, MetricSegment)> = groups
        .into_iter()
        .map(|(text, members)| {
            let weight: f64 = members.iter().filter_map(|row| row.order).sum();
            let values = innermost.then(|| {
                members
                    .first()
                    .map_or_else(Vec::new, |row| row.values.clone())
            });
            let inner = if innermost {
                Vec::new()
            } else {
                level(plan, depth + 1, members)
            };
            let segment = MetricSegment {
                dimension: dimension.written.clone(),
                value: dimension.typed(&text),
                text,
                values,
                segments: inner.into_iter().map(|(_, segment)| segment).collect(),
            };
            (weight, segment)
        })
        .collect();
    segments.sort_by(|a, b| {
        let by_weight = if plan.ascending {
            a.0.total_cmp(&b.0)
        } else {
            b.0.total_cmp(&a.0)
        };
        by_weight.then_with(|| a.1.text.cmp(&b.1.text))
    });
    segments
}
