//! The message of a scan of segments.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{DynamicFilterPhysicalExpr, lit};
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use hindsight_kql::codec::PlanCodec;
use hindsight_store::{
    LeafKind, PromotedColumn, RemoteScan, RemoteSegment, Store, TimeRange, remote_scan,
};
use prost::Message;

/// The codec of fragments: their nodes, and the scans of `store`.
pub(crate) fn plan_codec(store: Arc<Store>) -> PlanCodec {
    PlanCodec::new(vec![Arc::new(ScanCodec {
        store,
        expressions: PlanCodec::default(),
    })])
}

/// Writes and reads scans of segments.
#[derive(Debug)]
struct ScanCodec {
    store: Arc<Store>,
    expressions: PlanCodec,
}

/// A scan of segments.
#[derive(Clone, PartialEq, prost::Message)]
struct ScanMessage {
    #[prost(message, optional, tag = "1")]
    schema: Option<protobuf::Schema>,
    #[prost(message, repeated, tag = "2")]
    promoted: Vec<PromotedMessage>,
    #[prost(message, repeated, tag = "3")]
    groups: Vec<GroupMessage>,
    #[prost(message, optional, tag = "4")]
    predicate: Option<protobuf::PhysicalExprNode>,
    #[prost(message, repeated, tag = "5")]
    projection: Vec<OutputMessage>,
    #[prost(uint64, optional, tag = "6")]
    limit: Option<u64>,
}

/// A key of a bag as a column.
#[derive(Clone, PartialEq, prost::Message)]
struct PromotedMessage {
    #[prost(string, tag = "1")]
    bag: String,
    #[prost(string, tag = "2")]
    key: String,
    #[prost(bool, tag = "3")]
    is_real: bool,
}

/// The segments of a partition.
#[derive(Clone, PartialEq, prost::Message)]
struct GroupMessage {
    #[prost(message, repeated, tag = "1")]
    segments: Vec<SegmentMessage>,
}

/// An output column.
#[derive(Clone, PartialEq, prost::Message)]
struct OutputMessage {
    #[prost(message, optional, tag = "1")]
    expr: Option<protobuf::PhysicalExprNode>,
    #[prost(string, tag = "2")]
    name: String,
}

/// A segment.
#[derive(Clone, PartialEq, prost::Message)]
struct SegmentMessage {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(string, tag = "2")]
    app: String,
    #[prost(string, tag = "3")]
    table: String,
    #[prost(string, tag = "4")]
    path: String,
    #[prost(uint64, tag = "5")]
    rows: u64,
    #[prost(uint64, tag = "6")]
    bytes: u64,
    #[prost(int64, tag = "7")]
    min_ts: i64,
    #[prost(int64, tag = "8")]
    max_ts: i64,
    #[prost(string, repeated, tag = "9")]
    promoted: Vec<String>,
    #[prost(bytes, tag = "10")]
    checksums: Vec<u8>,
    #[prost(message, optional, tag = "11")]
    selection: Option<SelectionMessage>,
    #[prost(message, optional, tag = "12")]
    range: Option<RangeMessage>,
    #[prost(message, optional, tag = "13")]
    slice: Option<SliceMessage>,
}

/// Rows of a segment, as lengths of runs that are read and skipped in turn. The first run is read.
#[derive(Clone, PartialEq, prost::Message)]
struct SelectionMessage {
    #[prost(uint64, repeated, tag = "1")]
    runs: Vec<u64>,
}

/// Bytes of a file, end excluded.
#[derive(Clone, PartialEq, prost::Message)]
struct RangeMessage {
    #[prost(int64, tag = "1")]
    start: i64,
    #[prost(int64, tag = "2")]
    end: i64,
}

/// Times, ends included.
#[derive(Clone, PartialEq, prost::Message)]
struct SliceMessage {
    #[prost(int64, tag = "1")]
    from: i64,
    #[prost(int64, tag = "2")]
    to: i64,
}

impl SelectionMessage {
    fn of(runs: &[(bool, u64)]) -> SelectionMessage {
        let mut lengths = vec![0];
        for (is_skipped, rows) in runs {
            // Runs at even places are read.
            if lengths.len().is_multiple_of(2) != *is_skipped {
                lengths.push(0);
            }
            if let Some(last) = lengths.last_mut() {
                *last += rows;
            }
        }
        SelectionMessage { runs: lengths }
    }

    fn read(&self) -> Vec<(bool, u64)> {
        let runs = self.runs.iter().enumerate();
        let runs = runs.map(|(place, rows)| (!place.is_multiple_of(2), *rows));
        runs.filter(|(_, rows)| *rows > 0).collect()
    }
}

impl SegmentMessage {
    fn of(segment: RemoteSegment) -> SegmentMessage {
        SegmentMessage {
            id: segment.id,
            app: segment.app.to_string(),
            table: segment.table,
            path: segment.path,
            rows: segment.rows,
            bytes: segment.bytes,
            min_ts: segment.times.0,
            max_ts: segment.times.1,
            promoted: segment.promoted,
            checksums: segment.checksums,
            selection: segment.selection.as_deref().map(SelectionMessage::of),
            range: segment
                .range
                .map(|(start, end)| RangeMessage { start, end }),
            slice: segment
                .slice
                .map(|TimeRange { from, to }| SliceMessage { from, to }),
        }
    }

    fn read(self) -> Result<RemoteSegment> {
        let app = self.app.parse();
        Ok(RemoteSegment {
            id: self.id,
            app: app.map_err(|error| DataFusionError::External(Box::new(error)))?,
            table: self.table,
            path: self.path,
            rows: self.rows,
            bytes: self.bytes,
            times: (self.min_ts, self.max_ts),
            promoted: self.promoted,
            checksums: self.checksums,
            selection: self.selection.map(|selection| selection.read()),
            range: self.range.map(|range| (range.start, range.end)),
            slice: self
                .slice
                .map(|SliceMessage { from, to }| TimeRange { from, to }),
        })
    }
}

impl PromotedMessage {
    fn of(column: PromotedColumn) -> PromotedMessage {
        PromotedMessage {
            bag: column.bag,
            key: column.key,
            is_real: column.kind == LeafKind::Real,
        }
    }

    fn read(self) -> PromotedColumn {
        PromotedColumn {
            bag: self.bag,
            key: self.key,
            kind: if self.is_real {
                LeafKind::Real
            } else {
                LeafKind::Text
            },
        }
    }
}

/// The condition without the bounds that operators above the scan find while they run, which only save work.
fn fixed(condition: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let fixed = condition.transform_up(|expr| {
        Ok(if expr.is::<DynamicFilterPhysicalExpr>() {
            Transformed::yes(lit(true))
        } else {
            Transformed::no(expr)
        })
    });
    fixed.data()
}

impl PhysicalExtensionCodec for ScanCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = remote_scan(node.as_ref()) else {
            return internal_err!("{} is no scan of segments", node.name());
        };
        let expression = |expr| converter.physical_expr_to_proto(expr, &self.expressions);
        let predicate = scan.predicate.map(fixed).transpose()?;
        let outputs = scan.projection.iter().map(|output| {
            Ok(OutputMessage {
                expr: Some(expression(&output.expr)?),
                name: output.alias.clone(),
            })
        });
        let groups = scan.groups.into_iter().map(|group| GroupMessage {
            segments: group.into_iter().map(SegmentMessage::of).collect(),
        });
        let message = ScanMessage {
            schema: Some(protobuf::Schema::try_from(scan.schema.as_ref())?),
            promoted: scan.promoted.into_iter().map(PromotedMessage::of).collect(),
            groups: groups.collect(),
            predicate: predicate.as_ref().map(expression).transpose()?,
            projection: outputs.collect::<Result<_>>()?,
            limit: scan.limit.map(|limit| limit as u64),
        };
        let encoded = message.encode(buf);
        encoded.map_err(|error| DataFusionError::External(Box::new(error)))
    }

    fn try_decode(
        &self,
        buf: &[u8],
        _: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message = ScanMessage::decode(buf);
        let message = message.map_err(|error| DataFusionError::External(Box::new(error)))?;
        let Some(schema) = &message.schema else {
            return internal_err!("a scan has no schema");
        };
        let schema = Arc::new(Schema::try_from(schema)?);
        let decoding = PhysicalPlanDecodeContext::new(context, &self.expressions);
        let expression = |expr| converter.proto_to_physical_expr(expr, schema.as_ref(), &decoding);
        let outputs = message.projection.iter().map(|output| {
            let Some(expr) = &output.expr else {
                return internal_err!("a column of a scan has no expression");
            };
            Ok(ProjectionExpr::new(expression(expr)?, output.name.clone()))
        });
        let projection = outputs.collect::<Result<_>>()?;
        let predicate = message.predicate.as_ref().map(expression).transpose()?;
        let group = |group: GroupMessage| {
            let segments = group.segments.into_iter().map(SegmentMessage::read);
            segments.collect::<Result<Vec<_>>>()
        };
        let limit = message.limit.map(usize::try_from).transpose();
        self.store.plan_remote_scan(RemoteScan {
            promoted: message
                .promoted
                .into_iter()
                .map(PromotedMessage::read)
                .collect(),
            groups: message
                .groups
                .into_iter()
                .map(group)
                .collect::<Result<_>>()?,
            predicate,
            projection,
            limit: limit.map_err(|error| DataFusionError::External(Box::new(error)))?,
            schema,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_the_same_after_its_message() {
        for runs in [
            vec![(true, 5), (false, 7)],
            vec![(false, 7), (true, 5), (false, 1)],
            vec![(false, 7)],
            vec![],
        ] {
            assert_eq!(SelectionMessage::of(&runs).read(), runs);
        }
    }
}
