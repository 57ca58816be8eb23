//! A second copy of each node's log at another node (`docs/cluster.md`, "A second copy of the log").
//!
//! The *origin* takes telemetry, and the *holder* has a copy of its log. Every record of the origin's log that is acknowledged and in no
//! segment is durable at the origin and at the holder that the catalogue names. A copy is extended while origin and holder run and
//! reach each other; after any failure the origin makes another one, of a larger *generation*, from its own files. So a copy
//! has no gaps, and nothing is decided about one that is in doubt.
//!
//! A query reads a copy in place of an origin that does not reply (`read`, `lease`), and a copy of a lost origin is sealed (`recover`).

pub(crate) mod held;
mod holder;
mod lease;
pub(crate) mod memory;
pub(crate) mod origin;
pub(crate) mod read;
mod recover;
