//! The identity of an application.

use uuid::Uuid;

/// The identity of an application: what the service calls its `appId`.
///
/// Every batch and every segment belongs to exactly one, and a query sees only those that it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppId(pub Uuid);

impl std::fmt::Display for AppId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for AppId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<AppId, uuid::Error> {
        Uuid::parse_str(text).map(AppId)
    }
}
