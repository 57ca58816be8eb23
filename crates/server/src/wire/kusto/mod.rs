//! The replies of the Kusto protocol: data sets of version 1 and 2, errors, and the descriptions of databases.
//!
//! The forms are those of the published documentation of the protocol and of the replies that its clients' tests hold
//! (`docs/kusto.md`).

mod completion;
pub(crate) mod error;
mod rows;
pub(crate) mod schema;
mod small;
mod v1;
mod v2;
mod visualization;

pub(crate) use small::SmallTable;
pub(crate) use v1::{Writer as V1Writer, data_set};
pub(crate) use v2::{ErrorPlacement, Frames, Writer as V2Writer};

/// What a reply says of its request.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    /// Now, ticks.
    pub(crate) now: i64,
    /// The request's id.
    pub(crate) request_id: String,
    /// What the client calls the request.
    pub(crate) client_id: String,
}
