//! Subtables: `mv-apply` and `partition` run their pipelines over all subtables in one plan.

pub(crate) mod pipeline;
pub(crate) mod placeholder_rows;
pub(crate) mod placeholders;
pub(crate) mod value;
