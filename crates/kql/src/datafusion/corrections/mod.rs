//! Corrections of DataFusion, one file each.

pub(crate) mod distinct_projections;
pub(in crate::datafusion) mod functional_dependencies;
pub(crate) mod large_literal;
pub(in crate::datafusion) mod lost_order;
pub(in crate::datafusion) mod ordered_input;
pub(in crate::datafusion) mod self_equality;
pub(in crate::datafusion) mod statistics_cost;
pub(in crate::datafusion) mod statistics_names;
pub(in crate::datafusion) mod volatile_filter;
