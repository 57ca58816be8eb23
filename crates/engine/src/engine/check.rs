//! Checking a query without running it.

use std::sync::Arc;

use hindsight_kql::Catalog;

use super::QueryEngine;
use super::query::intersection;
use crate::catalog::StoreCatalog;
use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::exec::{Job, Times};
use crate::producer::Limits;
use crate::request::QueryRequest;
use crate::result::Checked;

impl QueryEngine {
    /// Parses and binds a query. It reads no row.
    ///
    /// # Errors
    /// As [`QueryEngine::prepare`] and [`QueryEngine::start`], but for the errors of the text, which are part of the result.
    pub async fn check(&self, request: QueryRequest) -> Result<Checked, EngineError> {
        let prepared = match self.prepare(request).await {
            Ok(prepared) => prepared,
            Err(EngineError::Query { diagnostics, .. }) => {
                return Ok(Checked::Invalid(diagnostics));
            }
            Err(error) => return Err(error),
        };
        let request = &prepared.request;
        let now = self.clock.now_ticks();
        let catalog = StoreCatalog::new(
            self.store.snapshot(),
            prepared.apps.clone(),
            self.known_apps().await?,
            request.caller.access.clone(),
        )
        .with_workspace_names(request.workspace_names)
        .with_databases(request.options.databases);
        let catalog = Arc::new(catalog);
        let job = Job {
            query: prepared.query.clone(),
            text: request.query.to_string(),
            catalog: Arc::clone(&catalog) as Arc<dyn Catalog>,
            tables: None,
            times: Times {
                now,
                timespan: intersection(&request.timespans, now)?,
                deadline: Deadline::after(self.query_timeout(&request.caller)),
            },
            parameters: request.options.parameters.clone(),
            limits: Limits { rows: 0, bytes: 0 },
            principal: Arc::clone(&request.caller.principal),
            sender: request.caller.sender.clone(),
            endpoint: request.caller.endpoint.clone(),
        };
        match self.executor.check(job).await {
            // As when it runs: a name out of reach refuses the whole request.
            _ if catalog.was_denied() => Err(EngineError::Forbidden),
            checked => checked,
        }
    }
}
