//! Events: an OData request becomes a KQL syntax tree (`D13`–`D16`).

mod apply;
mod limits;
mod paths;
mod plan;
mod search;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use plan::{EventsPlan, event_plan, plan};
