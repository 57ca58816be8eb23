//! Plans as messages, for other processes of this program.
//!
//! [`PlanCodec`] complements the messages that DataFusion has for its own nodes and expressions with those of this crate: kernels,
//! aggregates, transforms and execution nodes. What has no message is refused by name. A plan that is refused runs where it was planned.

mod messages;
mod plan_codec;
mod transforms;
mod whole;

pub use hindsight_kql_library::codec::{CodecError, VERSION};
pub use plan_codec::PlanCodec;
