//! The engine as the server uses it.

use std::sync::Arc;

use anyhow::Context;
use hindsight_engine::{AddressDatabase, EngineConfig, QueryEngine, QueryNodes};
use hindsight_store::{Clock, Store};

use crate::config::Settings;
use crate::nodes::ClusterNodes;

/// The engine over a store, with the limits of the settings. `nodes` run parts of its queries.
pub(crate) fn open(
    store: Arc<Store>,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    nodes: Option<ClusterNodes>,
) -> anyhow::Result<Arc<QueryEngine>> {
    let config = EngineConfig {
        max_rows: settings.query_max_rows,
        max_bytes: settings.query_max_bytes,
        timeout: settings.query_timeout,
        max_applications: settings.query_max_applications,
        memory: usize::try_from(settings.query_memory).unwrap_or(usize::MAX),
        group_by_codes: settings.query_group_by_codes,
        keep_plans: settings.query_keep_plans,
        nodes: nodes.map(|nodes| Arc::new(nodes) as Arc<dyn QueryNodes>),
        distribute_bytes: settings.query_distribute_bytes,
        retention: settings.retention,
        max_wait: settings.query_max_wait,
        spill_folder: Some(settings.data.join("spill")),
        addresses: addresses(settings)?,
        ..EngineConfig::default()
    };
    QueryEngine::new(store, config, clock).context("cannot start the query engine")
}

/// The database of the setting `geo.database`.
///
/// # Errors
/// That its file cannot be read or is no database.
pub(crate) fn addresses(settings: &Settings) -> anyhow::Result<Option<Arc<AddressDatabase>>> {
    let Some(path) = &settings.geo_database else {
        return Ok(None);
    };
    let name = || format!("cannot use {} as geo.database", path.display());
    let content = std::fs::read(path).with_context(name)?;
    let database = AddressDatabase::from_bytes(content).with_context(name)?;
    Ok(Some(Arc::new(database)))
}
