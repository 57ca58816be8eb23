//! Events: searches and single events.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use hindsight_kql_syntax::ast::Query;
use hindsight_kql_types::ScalarType;
use hindsight_store::MissingData;

use super::QueryEngine;
use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::events;
use crate::request::{Caller, EventParameters, EventsParameters};
use crate::result::{EventsResult, ResultColumn, ResultTable};

impl QueryEngine {
    /// Finds events.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn events(
        &self,
        caller: &Caller,
        parameters: &EventsParameters,
    ) -> Result<EventsResult, EngineError> {
        let plan = events::plan(parameters, self.clock.now_ticks())?;
        let deadline = Deadline::after(self.query_timeout(caller));
        deadline.bound(self.find_events(caller, plan)).await
    }

    /// Finds one event by its id.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] where there is none.
    pub async fn event(
        &self,
        caller: &Caller,
        parameters: &EventParameters,
    ) -> Result<EventsResult, EngineError> {
        let plan = events::event_plan(parameters, self.clock.now_ticks())?;
        let deadline = Deadline::after(self.query_timeout(caller));
        let result = deadline.bound(self.find_events(caller, plan)).await?;
        if result.table.rows() == 0 && !result.missing.is_empty() {
            return Err(EngineError::Unreadable(format!(
                "The event '{}' is not in the telemetry that can be read; a part of it is damaged",
                parameters.id
            )));
        }
        if result.table.rows() == 0 {
            return Err(EngineError::NotFound(format!(
                "There is no event '{}'.",
                parameters.id
            )));
        }
        Ok(result)
    }

    async fn find_events(
        &self,
        caller: &Caller,
        plan: events::EventsPlan,
    ) -> Result<EventsResult, EngineError> {
        let text = plan.query.to_string();
        let executed = self.run_for_caller(caller, &plan.query, &text).await?;
        if let Some(partial) = executed.partial {
            return Err(EngineError::ResourcesExceeded(partial.message));
        }
        let mut missing = executed.missing;
        let count = match &plan.count {
            Some(query) => {
                let (count, more) = self.count(caller, query).await?;
                missing.extend(more);
                missing.sort_unstable();
                missing.dedup();
                Some(count)
            }
            None => None,
        };
        let table = executed
            .tables
            .into_iter()
            .next()
            .map_or_else(no_rows, |table| skip_rows(table, plan.skip));
        Ok(EventsResult {
            messages: plan.messages,
            count,
            table,
            select: plan.select,
            applied: plan.applied,
            computed: plan.computed,
            missing,
        })
    }

    /// The count, and what is missing from it.
    async fn count(
        &self,
        caller: &Caller,
        query: &Query,
    ) -> Result<(u64, Vec<MissingData>), EngineError> {
        let executed = self
            .run_for_caller(caller, query, &query.to_string())
            .await?;
        let value = executed.tables.first().and_then(first_long);
        value
            .and_then(|n| u64::try_from(n).ok())
            .map(|count| (count, executed.missing))
            .ok_or_else(|| EngineError::Internal("a count without a number".to_owned()))
    }
}

fn skip_rows(table: ResultTable, mut skip: usize) -> ResultTable {
    let mut batches = Vec::new();
    for batch in table.batches {
        let dropped = skip.min(batch.num_rows());
        skip -= dropped;
        if dropped < batch.num_rows() {
            batches.push(batch.slice(dropped, batch.num_rows() - dropped));
        }
    }
    ResultTable { batches, ..table }
}

fn no_rows() -> ResultTable {
    let columns = vec![ResultColumn {
        name: "itemId".to_owned(),
        kind: ScalarType::String,
    }];
    ResultTable {
        name: "PrimaryResult".to_owned(),
        columns,
        batches: Vec::new(),
    }
}

fn first_long(table: &ResultTable) -> Option<i64> {
    let batch = table.batches.iter().find(|batch| batch.num_rows() > 0)?;
    let column = batch.columns().first()?.as_primitive_opt::<Int64Type>()?;
    column.is_valid(0).then(|| column.value(0))
}
