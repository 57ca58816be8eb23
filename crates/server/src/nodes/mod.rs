//! The service of nodes: how the nodes of a catalogue read each other's memtables, keep copies of each other's logs, and run parts of each other's queries (`docs/cluster.md`, "Nodes").
//!
//! It is gRPC over the main port. Messages and frames are written here and not by tonic's server and channel, whose features would change
//! those of other crates.

mod call_body;
mod client;
mod fragments;
mod frames;
mod messages;
mod replies;
mod secret;
mod service;

pub(crate) use client::GrpcNodes;
pub(crate) use fragments::ClusterNodes;
pub(crate) use secret::NodeSecret;
pub(crate) use service::{PATH, call};
