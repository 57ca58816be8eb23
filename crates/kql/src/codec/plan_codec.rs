//! The physical codec of plans.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use arrow::datatypes::Schema;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    DeduplicatingProtoConverter, PhysicalExtensionCodec, PhysicalPlanDecodeContext,
    PhysicalPlanNodeExt, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use hindsight_kql_library::codec::{
    CodecError, FunctionCodec, VERSION, decode_aggregate, encode_aggregate, read,
};
use prost::Message;
use xxhash_rust::xxh64::xxh64;

use super::messages::{
    HiddenMessage, HiddenProperty, Node, NodeMessage, OtherMessage, TransformNode,
};
use super::transforms::{number, transform};
use super::whole::WholePlanExec;
use crate::datafusion::{CoalesceHashPartitionsExec, HiddenExec, Hide};
use crate::transform::{TransformExec, only_input};
use crate::{bind, ingestion_time, leaves, operators};

/// Protobuf messages of plans nest at most 100 deep, and each node takes two levels. A deeper plan is refused before it is written.
const MAX_DEPTH: usize = 50;

/// The bytes of the version and the checksum before the message of a plan.
const HEAD: usize = 12;

static FUNCTIONS: LazyLock<FunctionCodec> = LazyLock::new(|| {
    let lists = [
        crate::datafusion::KERNELS,
        ingestion_time::KERNELS,
        leaves::KERNELS,
        operators::kernels::KERNELS,
    ];
    let listed = lists.into_iter().flatten().copied();
    FunctionCodec::new(listed.chain(bind::inner_kernels()))
});

/// Writes and reads plans: the nodes and functions of this crate, and those of other codecs.
#[derive(Debug, Default)]
pub struct PlanCodec {
    others: Vec<Arc<dyn PhysicalExtensionCodec>>,
}

impl PlanCodec {
    /// A codec that passes nodes and expressions that are not of this crate to `others`, in this order. Functions are never passed to them.
    /// Both sides must have the same codecs in the same order.
    pub fn new(others: Vec<Arc<dyn PhysicalExtensionCodec>>) -> PlanCodec {
        PlanCodec { others }
    }

    /// The message of a plan.
    ///
    /// # Errors
    /// A node, a function or an expression of the plan has no message, or the plan is too deep. The error names it.
    pub fn encode_plan(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<u8>> {
        let unsupported = |reason| CodecError::Unsupported {
            kind: "plan",
            name: plan.name().to_owned(),
            reason,
        };
        if is_deeper(plan, MAX_DEPTH) {
            return Err(external(unsupported("its nodes are nested too deeply")));
        }
        let node = protobuf::PhysicalPlanNode::try_from_physical_plan_with_converter(
            Arc::clone(plan),
            self,
            &DeduplicatingProtoConverter {},
        )?;
        let bytes = node.encode_to_vec();
        // Expressions nest, too.
        if protobuf::PhysicalPlanNode::decode(bytes.as_slice()).is_err() {
            return Err(external(unsupported(
                "its expressions are nested too deeply",
            )));
        }
        let mut message = Vec::with_capacity(HEAD + bytes.len());
        message.extend(VERSION.to_le_bytes());
        message.extend(xxh64(&bytes, 0).to_le_bytes());
        message.extend(bytes);
        Ok(message)
    }

    /// The plan of a message that [`PlanCodec::encode_plan`] wrote.
    ///
    /// # Errors
    /// The bytes are no message of a plan that this program can run.
    pub fn decode_plan(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let bytes = checked(bytes).map_err(external)?;
        // Arrow's reader of the batches of a message panics where their offsets are wrong.
        let read = catch_unwind(AssertUnwindSafe(|| {
            let node = protobuf::PhysicalPlanNode::decode(bytes).map_err(|e| malformed(&e))?;
            let converter = DeduplicatingProtoConverter {};
            node.try_into_physical_plan_with_converter(context, self, &converter)
        }));
        read.unwrap_or_else(|_| Err(malformed(&"its reader panicked")))
    }

    /// A leaf that stands for `plan`, of which this codec writes all. Decoding the leaf returns the plan.
    ///
    /// A composition of codecs (`ComposedPhysicalExtensionCodec`) passes a function to the first codec that does not refuse it, and passes
    /// expressions to none, so a plan of this crate does not pass through one as it is.
    pub fn whole(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(WholePlanExec(plan))
    }

    fn message(
        &self,
        node: &Arc<dyn ExecutionPlan>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Node> {
        if let Some(WholePlanExec(plan)) = node.downcast_ref::<WholePlanExec>() {
            return self.encode_plan(plan).map(Node::Whole);
        }
        if let Some(hidden) = node.downcast_ref::<HiddenExec>() {
            let (property, input) = match hidden.hides() {
                Hide::Equivalences => (HiddenProperty::Equivalences, Vec::new()),
                Hide::Statistics => (HiddenProperty::Statistics, Vec::new()),
                // The rules that add these nodes remove them.
                Hide::Keys | Hide::Computations => {
                    return internal_err!("no plan hides computed keys or columns");
                }
                Hide::Children => {
                    let input = converter.execution_plan_to_proto(hidden.input(), self)?;
                    (HiddenProperty::Children, input.encode_to_vec())
                }
            };
            return Ok(Node::Hidden(HiddenMessage {
                hide: property.into(),
                input,
            }));
        }
        if let Some(coalesced) = node.downcast_ref::<CoalesceHashPartitionsExec>() {
            return Ok(Node::Coalesced(coalesced.partitions() as u64));
        }
        if let Some(exec) = node.downcast_ref::<TransformExec>() {
            let message = exec.transform().message().map_err(|reason| {
                external(CodecError::Unsupported {
                    kind: "transform",
                    name: exec.transform().name().to_owned(),
                    reason,
                })
            })?;
            let schema = protobuf::Schema::try_from(exec.schema().as_ref());
            return Ok(Node::Transform(TransformNode {
                schema: Some(schema.map_err(|error| malformed(&error))?),
                transform: Some(message),
            }));
        }
        for (codec, other) in (0..).zip(&self.others) {
            let mut bytes = Vec::new();
            if other
                .try_encode(Arc::clone(node), &mut bytes, converter)
                .is_ok()
            {
                return Ok(Node::Other(OtherMessage { codec, bytes }));
            }
        }
        Err(external(CodecError::Unsupported {
            kind: "node",
            name: node.name().to_owned(),
            reason: "it has no message",
        }))
    }

    fn other(&self, codec: u32) -> Result<&Arc<dyn PhysicalExtensionCodec>> {
        let other = usize::try_from(codec).ok().and_then(|i| self.others.get(i));
        other.ok_or_else(|| external(CodecError::lacks(&format!("a codec of number {codec}"))))
    }
}

/// The bytes behind the head of a plan's message. DataFusion and Arrow reserve as much memory as a damaged message says, so damage is found before
/// they read it.
fn checked(message: &[u8]) -> std::result::Result<&[u8], CodecError> {
    let lacks = || CodecError::lacks("its head");
    let (version, rest) = message.split_first_chunk::<4>().ok_or_else(lacks)?;
    let (checksum, bytes) = rest.split_first_chunk::<8>().ok_or_else(lacks)?;
    match u32::from_le_bytes(*version) {
        VERSION if xxh64(bytes, 0) == u64::from_le_bytes(*checksum) => Ok(bytes),
        VERSION => Err(CodecError::Malformed("it is damaged".to_owned())),
        other => Err(CodecError::Version(other)),
    }
}

/// Whether more than `depth` nodes are nested.
fn is_deeper(plan: &Arc<dyn ExecutionPlan>, depth: usize) -> bool {
    let mut level = vec![plan];
    for _ in 0..depth {
        level = level.into_iter().flat_map(|node| node.children()).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

fn external(error: CodecError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn malformed(error: &dyn std::fmt::Display) -> DataFusionError {
    external(CodecError::Malformed(error.to_string()))
}

impl PhysicalExtensionCodec for PlanCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let message = NodeMessage {
            version: VERSION,
            node: Some(self.message(&node, converter)?),
        };
        message.encode(buf).map_err(|error| malformed(&error))
    }

    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message = read(buf, |message: &NodeMessage| message.version).map_err(external)?;
        let node = message.node;
        let node = node.ok_or_else(|| external(CodecError::lacks("the node")))?;
        let input = || only_input(inputs.iter().cloned(), "a node of a message");
        Ok(match node {
            Node::Whole(bytes) => self.decode_plan(&bytes, context)?,
            Node::Hidden(hidden) => {
                let (hide, input) = match HiddenProperty::try_from(hidden.hide) {
                    Ok(HiddenProperty::Equivalences) => (Hide::Equivalences, input()?),
                    Ok(HiddenProperty::Statistics) => (Hide::Statistics, input()?),
                    Ok(HiddenProperty::Children) => {
                        let node = protobuf::PhysicalPlanNode::decode(hidden.input.as_slice());
                        let node = node.map_err(|error| malformed(&error))?;
                        let decoding = PhysicalPlanDecodeContext::new(context, self);
                        let input = converter.proto_to_execution_plan(&node, &decoding)?;
                        (Hide::Children, input)
                    }
                    Ok(HiddenProperty::None) | Err(_) => {
                        return Err(external(CodecError::lacks("a hidden property")));
                    }
                };
                Arc::new(HiddenExec::new(hide, input))
            }
            Node::Coalesced(partitions) => {
                let partitions = number(partitions).map_err(external)?;
                let input = input()?;
                if partitions == 0 || partitions > input.properties().partitioning.partition_count()
                {
                    let error = CodecError::lacks("a possible number of partitions");
                    return Err(external(error));
                }
                Arc::new(CoalesceHashPartitionsExec::new(input, partitions))
            }
            Node::Transform(node) => {
                let (Some(schema), Some(message)) = (&node.schema, node.transform) else {
                    return Err(external(CodecError::lacks("a transform with its schema")));
                };
                let schema = Schema::try_from(schema).map_err(|error| malformed(&error))?;
                let transform = transform(message).map_err(external)?;
                Arc::new(TransformExec::new(transform, input()?, Arc::new(schema)))
            }
            Node::Other(other) => {
                let codec = self.other(other.codec)?;
                codec.try_decode(&other.bytes, inputs, context, converter)?
            }
        })
    }

    fn try_encode_udf(&self, function: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        buf.extend(FUNCTIONS.encode(function).map_err(external)?);
        Ok(())
    }

    fn try_decode_udf(&self, _: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        FUNCTIONS.decode(buf).map(Arc::new).map_err(external)
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        buf.extend(encode_aggregate(function).map_err(external)?);
        Ok(())
    }

    fn try_decode_udaf(&self, _: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        decode_aggregate(buf).map(Arc::new).map_err(external)
    }

    fn try_encode_udwf(&self, function: &WindowUDF, _: &mut Vec<u8>) -> Result<()> {
        Err(external(CodecError::Unsupported {
            kind: "window function",
            name: function.name().to_owned(),
            reason: "no plan of this program has one",
        }))
    }

    fn try_encode_higher_order_function(
        &self,
        function: &HigherOrderUDF,
        _: &mut Vec<u8>,
    ) -> Result<()> {
        Err(external(CodecError::Unsupported {
            kind: "function",
            name: function.name().to_owned(),
            reason: "no plan of this program has one of higher order",
        }))
    }

    fn try_encode_expr(
        &self,
        expr: &Arc<dyn PhysicalExpr>,
        buf: &mut Vec<u8>,
        context: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        for (codec, other) in (0..).zip(&self.others) {
            let mut bytes = Vec::new();
            if other.try_encode_expr(expr, &mut bytes, context).is_ok() {
                let message = OtherMessage { codec, bytes };
                return message.encode(buf).map_err(|error| malformed(&error));
            }
        }
        Err(external(CodecError::Unsupported {
            kind: "expression",
            name: expr.to_string(),
            reason: "it has no message",
        }))
    }

    fn try_decode_expr(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        context: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let message = OtherMessage::decode(buf).map_err(|error| malformed(&error))?;
        let other = self.other(message.codec)?;
        other.try_decode_expr(&message.bytes, inputs, context)
    }
}
