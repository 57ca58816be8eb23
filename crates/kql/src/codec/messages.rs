//! The messages of execution nodes.

use datafusion_proto::protobuf::Schema;

use crate::transform::TransformMessage;

/// An execution node, without its inputs.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeMessage {
    #[prost(uint32, tag = "1")]
    pub(super) version: u32,
    #[prost(oneof = "Node", tags = "2, 3, 4, 5, 6")]
    pub(super) node: Option<Node>,
}

/// The kinds of execution nodes.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Node {
    /// A whole plan.
    #[prost(bytes, tag = "2")]
    Whole(Vec<u8>),
    /// A node that hides a property of its input.
    #[prost(message, tag = "3")]
    Hidden(HiddenMessage),
    /// The number of partitions that hash partitions are coalesced into.
    #[prost(uint64, tag = "4")]
    Coalesced(u64),
    /// A transform.
    #[prost(message, tag = "5")]
    Transform(TransformNode),
    /// A node of another codec.
    #[prost(message, tag = "6")]
    Other(OtherMessage),
}

/// A node that hides a property of its input.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HiddenMessage {
    #[prost(enumeration = "HiddenProperty", tag = "1")]
    pub(super) hide: i32,
    /// The input, if it is hidden itself.
    #[prost(bytes, tag = "2")]
    pub(super) input: Vec<u8>,
}

/// The property that is hidden. No property has the number 0, which is that of an absent field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum HiddenProperty {
    None = 0,
    Equivalences = 1,
    Children = 2,
    Statistics = 3,
}

/// A transform with the schema of its output.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TransformNode {
    #[prost(message, optional, tag = "1")]
    pub(super) schema: Option<Schema>,
    #[prost(oneof = "TransformMessage", tags = "10, 11, 12, 13")]
    pub(super) transform: Option<TransformMessage>,
}

/// A message of one of the codecs that a `PlanCodec` was given.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OtherMessage {
    /// The number of the codec, from 0.
    #[prost(uint32, tag = "1")]
    pub(super) codec: u32,
    #[prost(bytes, tag = "2")]
    pub(super) bytes: Vec<u8>,
}
