//! `POST /test/wait`: evaluates a query whenever telemetry arrives that it reads, until a condition on its rows holds.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array, AsArray};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hindsight_engine::{
    Access, Caller, EngineError, Part, PreparedQuery, QueryOptions, QueryRequest, QueryStream,
};
use hindsight_kql_types::ScalarType;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::request::{application, test_mode};
use super::values::{duration, invalid};
use crate::app::App;
use crate::error::ApiError;
use crate::reply::Reads;
use crate::routes::JSON;
use crate::routes::asked::Asked;
use crate::wire::query::{self, Extras, Form, Writer};
use crate::wire::test_mode as wire;

/// How long a request waits that says nothing of it.
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time that a request may wait.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(600);
/// The principal of these queries.
const PRINCIPAL: &str = "test";

/// The query, its condition and how long to wait for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Body {
    application: Option<String>,
    query: String,
    timespan: Option<String>,
    /// The least number of rows.
    min_count: Option<u64>,
    /// A KQL expression of type `bool` over aggregates of the rows.
    condition: Option<String>,
    /// A duration.
    timeout: Option<Value>,
}

/// What the rows must fulfil.
#[derive(Debug, Clone, Copy)]
enum Condition {
    MinCount(u64),
    /// The last table of the result is the value of the condition.
    InResult,
}

/// One evaluation of the query.
struct Evaluation {
    holds: bool,
    /// The rows, as a reply to a query has them.
    result: String,
    reads: Reads,
}

/// `POST /test/wait`
pub(super) async fn wait(
    State(app): State<Arc<App>>,
    Asked(body): Asked<Body>,
) -> Result<Response, ApiError> {
    let begun = Instant::now();
    let test = test_mode(&app)?;
    let deadline = begun + timeout(body.timeout.as_ref())?;
    let (prepared, condition) = prepare(&app, body).await?;
    let arrivals = app.replies.arrivals();
    let mut changes = arrivals.subscribe();
    loop {
        let late = Instant::now() >= deadline;
        let seen = arrivals.count();
        let Evaluation {
            holds,
            result,
            reads,
        } = evaluate(&app, &prepared, condition).await?;
        if holds || late {
            let reply = wire::wait(holds, begun.elapsed(), &result);
            return Ok(([(header::CONTENT_TYPE, JSON)], reply).into_response());
        }
        // What arrived during the evaluation counts, too.
        while !arrivals.any_since(&reads, seen) {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return Err(ApiError::Internal("no arrivals are reported".to_owned()));
                    }
                }
                // A last evaluation: the condition may depend on the time.
                () = tokio::time::sleep_until(deadline) => break,
                () = test.stopping() => {
                    return Err(ApiError::Unavailable("The server is stopping".to_owned()));
                }
            }
        }
    }
}

fn timeout(value: Option<&Value>) -> Result<Duration, ApiError> {
    let Some(value) = value else {
        return Ok(USUAL_TIMEOUT);
    };
    let found = Duration::try_from(duration("timeout", value)?).ok();
    found
        .filter(|timeout| *timeout <= LONGEST_TIMEOUT)
        .ok_or_else(|| {
            let most = LONGEST_TIMEOUT.as_secs();
            invalid("timeout", format!("A time-out is 0 to {most} seconds"))
        })
}

async fn prepare(app: &App, body: Body) -> Result<(PreparedQuery, Condition), ApiError> {
    let id = match (&body.application, test_mode(app)?.app()) {
        (Some(name), _) => application(app, name).await?,
        (None, Some(id)) => id,
        (None, None) => return Err(invalid("application", "Name an application".to_owned())),
    };
    let request = QueryRequest {
        caller: Caller {
            principal: PRINCIPAL.into(),
            access: Access::All,
            app: id,
            sender: None,
            endpoint: None,
            wait: None,
        },
        query: body.query.into(),
        timespans: body.timespan.into_iter().collect(),
        applications: Vec::new(),
        workspace_names: false,
        options: QueryOptions::default(),
    };
    match (body.min_count, body.condition) {
        (Some(_), Some(_)) => Err(invalid(
            "condition",
            "Give 'minCount' or 'condition', not both".to_owned(),
        )),
        (None, Some(condition)) => {
            let prepared = app.engine.prepare_with_condition(request, &condition).await;
            Ok((prepared?, Condition::InResult))
        }
        (count, None) => {
            let prepared = app.engine.prepare(request).await?;
            Ok((prepared, Condition::MinCount(count.unwrap_or(1))))
        }
    }
}

async fn evaluate(
    app: &App,
    prepared: &PreparedQuery,
    condition: Condition,
) -> Result<Evaluation, ApiError> {
    loop {
        let evaluated = match app.engine.start(prepared).await {
            Ok(stream) => read(stream, condition).await,
            Err(error) => Err(error.into()),
        };
        // A query that met a damaged segment runs again without it. Each round knows of another one.
        if !matches!(evaluated, Err(ApiError::Engine(EngineError::Unreadable(_)))) {
            return evaluated;
        }
    }
}

/// Writes the rows of the query and reads the condition.
async fn read(mut stream: QueryStream, condition: Condition) -> Result<Evaluation, ApiError> {
    let mut result = String::new();
    let mut writer = Writer::begin(Form::Thin(Extras::default()), &mut result);
    let (mut tables, mut rows, mut value) = (0, 0, false);
    // With a condition in the result, the second table is its value.
    let is_condition = |tables| matches!(condition, Condition::InResult) && tables == 2;
    while let Some(part) = stream.next().await? {
        match part {
            Part::Table { name, columns } => {
                tables += 1;
                if is_condition(tables) {
                    let kinds: Vec<ScalarType> = columns.iter().map(|column| column.kind).collect();
                    require_bool(&kinds)?;
                } else {
                    writer.table(&name, columns, &mut result);
                }
            }
            Part::Rows(batch) if is_condition(tables) => {
                value = batch
                    .columns()
                    .first()
                    .is_some_and(|column| is_true(column));
            }
            Part::Rows(batch) => {
                if tables == 1 {
                    rows += batch.num_rows() as u64;
                }
                writer.rows(&batch, 0, usize::MAX, &mut result);
            }
        }
    }
    let summary = stream.summary();
    writer.end(&summary, query::not_whole(&summary).as_ref(), &mut result);
    Ok(Evaluation {
        holds: match condition {
            Condition::MinCount(least) => rows >= least,
            Condition::InResult => value,
        },
        result,
        reads: Reads::from(stream.reads()),
    })
}

/// Whether the first value of a column is true and not null.
fn is_true(column: &dyn Array) -> bool {
    let values = column.as_boolean_opt();
    values.is_some_and(|values| !values.is_empty() && values.is_valid(0) && values.value(0))
}

fn require_bool(kinds: &[ScalarType]) -> Result<(), ApiError> {
    match kinds {
        [ScalarType::Bool] => Ok(()),
        other => {
            let found: Vec<&str> = other.iter().map(|kind| kind.name()).collect();
            let found = found.join(", ");
            let message = format!("The condition is of type {found}; expected is one bool");
            Err(invalid("condition", message))
        }
    }
}
