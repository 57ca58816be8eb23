//! KQL queries.

use hindsight_store::AppId;

use super::{Asked, QueryEngine};
use crate::catalog::{StoreCatalog, find_permitted, out_of_reach};
use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::exec::Times;
use crate::request::{PreparedQuery, QueryRequest, TimeRange};
use crate::result::QueryResult;
use crate::stream::QueryStream;
use crate::time::parse_period;

impl QueryEngine {
    /// Parses a KQL query and its timespans, and resolves the applications that it reads.
    ///
    /// # Errors
    /// [`EngineError::Query`] for an invalid text, [`EngineError::BadParameter`] for an invalid timespan or too many applications,
    /// [`EngineError::Forbidden`] for an application that the principal may not read.
    pub async fn prepare(&self, request: QueryRequest) -> Result<PreparedQuery, EngineError> {
        let apps = self.target_apps(&request).await?;
        let parsed = hindsight_kql_syntax::parse(&request.query);
        if !parsed.diagnostics.is_empty() {
            return Err(EngineError::Query {
                text: request.query.to_string(),
                diagnostics: parsed.diagnostics,
            });
        }
        intersection(&request.timespans, self.clock.now_ticks())?;
        Ok(PreparedQuery {
            request,
            apps,
            query: parsed.query,
            is_text_parsed: true,
        })
    }

    /// Starts a query and returns the stream of its results.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn start(&self, prepared: &PreparedQuery) -> Result<QueryStream, EngineError> {
        let request = &prepared.request;
        let now = self.clock.now_ticks();
        let times = Times {
            now,
            timespan: intersection(&request.timespans, now)?,
            deadline: Deadline::after(self.query_timeout(&request.caller)),
        };
        let catalog = StoreCatalog::new(
            self.snapshot(&request.caller).await?,
            prepared.apps.clone(),
            self.known_apps().await?,
            request.caller.access.clone(),
        )
        .with_workspace_names(request.workspace_names)
        .with_databases(request.options.databases);
        self.run(
            Asked {
                query: &prepared.query,
                text: &request.query,
                is_text_parsed: prepared.is_text_parsed,
            },
            &request.caller,
            catalog,
            times,
            &request.options,
        )
        .await
    }

    /// Runs a query and collects all of its rows.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn query(&self, request: &QueryRequest) -> Result<QueryResult, EngineError> {
        let prepared = self.prepare(request.clone()).await?;
        loop {
            // A query that meets a damaged segment runs again without it. Each round knows of another one.
            let outcome = match self.start(&prepared).await {
                Ok(stream) => stream.collect().await,
                Err(error) => Err(error),
            };
            match outcome {
                Err(EngineError::Unreadable(_)) => {}
                other => return other,
            }
        }
    }

    /// The applications that a query reads: that of the URL and those of the body. One that is not permitted fails the query.
    async fn target_apps(&self, request: &QueryRequest) -> Result<Vec<AppId>, EngineError> {
        let mut names: Vec<&String> = request.applications.iter().collect();
        names.sort();
        names.dedup();
        let most = self.config.max_applications;
        if names.len() > most {
            return Err(too_many(names.len(), most));
        }
        let mut apps = vec![request.caller.app];
        if names.is_empty() {
            return Ok(apps);
        }
        let known = self.known_apps().await?;
        for name in names {
            let access = &request.caller.access;
            let app =
                find_permitted(&known, access, name).ok_or_else(|| out_of_reach(access, name))?;
            if !apps.contains(&app) {
                apps.push(app);
            }
        }
        if apps.len() > most {
            return Err(too_many(apps.len(), most));
        }
        Ok(apps)
    }
}

fn too_many(apps: usize, most: usize) -> EngineError {
    EngineError::BadParameter {
        parameter: "applications".to_owned(),
        message: format!(
            "The query names {apps} applications; the limit (query.max_applications) is {most}."
        ),
        position: None,
    }
}

/// The intersection of the timespans.
pub(super) fn intersection(
    timespans: &[String],
    now: i64,
) -> Result<Option<TimeRange>, EngineError> {
    let mut common: Option<TimeRange> = None;
    for text in timespans {
        let range = parse_period(text)?.resolve(now);
        common = Some(common.map_or(range, |c| TimeRange {
            start: c.start.max(range.start),
            end: c.end.min(range.end),
        }));
    }
    Ok(common)
}
