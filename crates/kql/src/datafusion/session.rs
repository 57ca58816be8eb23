//! The sessions that run KQL plans.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::prelude::SessionConfig;

use super::grouping::{DictionaryScans, GroupByCodes};
use super::rules::{CORRECTIONS, Rules};
pub use super::rules::{DISTINCT_RULE, MissingRule};

/// The settings that the semantics of KQL require; callers add memory, partitions and object stores.
pub fn config() -> SessionConfig {
    let mut config = SessionConfig::new().with_information_schema(false);
    let options = config.options_mut();
    // Small inputs keep the order in which their rows were written.
    options.optimizer.enable_round_robin_repartition = false;
    options.optimizer.prefer_existing_sort = true;
    // The first groups by a minimum or maximum would be kept in a table of keys in which NaN does not equal itself.
    options.optimizer.enable_topk_aggregation = false;
    // DataFusion 55.2 derives a filter of rows from the minima and maxima that an aggregation has found, and considers those of columns alone: a minimum
    // or maximum of an expression beside them would miss rows.
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // A predicate that two aggregates share is computed once below them, and its field may then be nullable although the
    // plan's schema says otherwise. No code depends on that, so such a plan is accepted.
    options.execution.skip_physical_aggregate_schema_check = true;
    config
}

/// A context with [`config`] and its own memory pool.
///
/// # Errors
/// As [`context_with`].
pub fn context() -> Result<SessionContext, MissingRule> {
    context_with(config(), Arc::new(RuntimeEnv::default()))
}

/// A context for KQL queries: `config` starts as [`config`], `runtime` provides the memory pool.
///
/// # Errors
/// DataFusion does not have a rule that a correction names: without the correction, answers would be wrong.
pub fn context_with(
    config: SessionConfig,
    runtime: Arc<RuntimeEnv>,
) -> Result<SessionContext, MissingRule> {
    context_over(config, runtime, Vec::new())
}

/// As [`context_with`], with rules that optimise physical plans behind DataFusion's own.
///
/// # Errors
/// As [`context_with`].
pub fn context_over(
    config: SessionConfig,
    runtime: Arc<RuntimeEnv>,
    more: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
) -> Result<SessionContext, MissingRule> {
    let mut rules = Rules::of_datafusion().corrected(&CORRECTIONS)?;
    rules.physical.extend(more);
    Ok(with_rules(config, runtime, rules))
}

/// The rule that groups by codes where these scans return dictionaries. No rule of DataFusion knows the node that it plans.
pub fn group_by_codes(
    scans: Arc<dyn DictionaryScans>,
) -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
    Arc::new(GroupByCodes { scans })
}

/// A context whose optimisers use these rules.
pub(super) fn with_rules(
    config: SessionConfig,
    runtime: Arc<RuntimeEnv>,
    rules: Rules,
) -> SessionContext {
    let rules = rules.cancellable();
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        // Plans hold their functions. The registry, which is built and copied several times for each query, has the one that a rule
        // looks up.
        .with_aggregate_functions(vec![first_value_udaf()])
        .with_query_planner(Arc::new(rules.planner))
        .with_optimizer_rules(rules.logical)
        .with_physical_optimizer_rules(rules.physical)
        .build();
    SessionContext::new_with_state(state)
}
