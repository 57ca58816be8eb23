//! The service of nodes: how the nodes of a catalogue read each other's memtables and keep copies of each other's logs (`docs/cluster.md`, "Nodes").
//!
//! It is gRPC over the main port. Messages and frames are written here and not by tonic's server and channel, whose features would change
//! those of other crates.

mod client;
mod frames;
mod messages;
mod secret;
mod service;

pub(crate) use client::GrpcNodes;
pub(crate) use secret::NodeSecret;
pub(crate) use service::{PATH, call};
