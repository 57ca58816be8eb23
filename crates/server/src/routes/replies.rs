//! Replies that several families of routes give.

use super::route::{Reply, ok};

/// The result of a query.
pub(super) const RESULT: &[Reply] = &[ok("QueryReply", "The result's tables.")];
/// The description of applications.
pub(super) const METADATA: &[Reply] = &[ok("Metadata", "Tables, their columns, the applications.")];
