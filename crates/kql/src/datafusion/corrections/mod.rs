//! Corrections of DataFusion's rules, one file each.

pub(crate) mod distinct_projections;
pub(super) mod functional_dependencies;
pub(super) mod growing_filter;
pub(super) mod input_equivalences;
pub(super) mod key_names;
pub(crate) mod large_literal;
pub(super) mod lost_order;
pub(super) mod ordered_input;
pub(super) mod reversed_comparison;
pub(super) mod self_equality;
pub(super) mod statistics_cost;
pub(super) mod statistics_names;
pub(super) mod volatile_filter;
