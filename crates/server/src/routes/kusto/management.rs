//! `POST /v1/rest/mgmt`: management commands.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use hindsight_engine::{EngineError, QueryOptions, QueryRequest, QueryResult};
use hindsight_store::Table;

use super::super::JSON;
use super::asker::Asker;
use super::command::{Command, Databases, SchemaForm};
use super::database;
use super::payload::Payload;
use crate::app::App;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::wire::kusto::{SmallTable, data_set, schema};

/// `POST /v1/rest/mgmt`
pub(super) async fn post(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (asker, payload, _memory) = Asker::read(&app, request).await?;
    if !payload.is_command() {
        return Err(ApiError::bad(
            "This path executes management commands, which begin with '.'; queries are for /v2/rest/query",
        ));
    }
    run(&app, &asker, &payload).await
}

/// Executes a management command.
///
/// # Errors
/// [`ApiError::Bad`] for a command that is not supported, or about what does not exist.
pub(super) async fn run(app: &App, asker: &Asker, payload: &Payload) -> Result<Response, ApiError> {
    let named = payload.database.as_deref();
    let table = match Command::parse(&payload.text)? {
        Command::Version => schema::version(),
        Command::Cluster => schema::cluster(&asker.address(app)),
        Command::Functions => schema::functions(),
        Command::ExternalTables => schema::external_tables(),
        Command::MaterializedViews => schema::materialized_views(),
        Command::Databases(which) => {
            let apps = databases(app, asker, named, which).await?;
            let current = database::find(app, asker.principal(), named).await.ok();
            schema::databases(&borrowed(&apps), current.as_deref())
        }
        Command::Schema(which, form) => {
            let apps = databases(app, asker, named, which).await?;
            match form {
                SchemaForm::Rows => schema::schema_rows(&borrowed(&apps)),
                SchemaForm::Json => schema::schema_json(&borrowed(&apps)),
                SchemaForm::Csl => schema::schema_script(),
            }
        }
        Command::Tables(names) => {
            let record = database::find(app, asker.principal(), named).await?;
            schema::tables(&record, &tables(&record, names)?)
        }
        Command::TableDetails(names) => details(app, asker, named, names).await?,
        Command::TableSchema(name, form) => {
            let record = database::find(app, asker.principal(), named).await?;
            schema::table_schema(&record, table(&record, &name)?, form == SchemaForm::Json)
        }
    };
    let headers = [(axum::http::header::CONTENT_TYPE, JSON)];
    Ok((headers, data_set(&table)).into_response())
}

fn borrowed(apps: &[Arc<AppRecord>]) -> Vec<&AppRecord> {
    apps.iter().map(Arc::as_ref).collect()
}

/// The applications that a command is about. `named`: the database of the request.
async fn databases(
    app: &App,
    asker: &Asker,
    named: Option<&str>,
    which: Databases,
) -> Result<Vec<Arc<AppRecord>>, ApiError> {
    let principal = asker.principal();
    match which {
        Databases::All => database::readable(app, principal).await,
        Databases::Current => Ok(vec![database::find(app, principal, named).await?]),
        Databases::Named(names) => {
            let mut apps = Vec::new();
            for name in names {
                apps.push(database::find(app, principal, Some(&name)).await?);
            }
            Ok(apps)
        }
    }
}

/// The tables of these names, or all.
fn tables(app: &AppRecord, names: Option<Vec<String>>) -> Result<Vec<Table>, ApiError> {
    match names {
        Some(names) => names.iter().map(|name| table(app, name)).collect(),
        None => Ok(Table::ALL.to_vec()),
    }
}

fn table(app: &AppRecord, name: &str) -> Result<Table, ApiError> {
    Table::from_name(name).ok_or_else(|| {
        ApiError::bad(format!(
            "Entity ID '{name}' of kind 'Table' was not found in the database '{}'.",
            app.name
        ))
    })
}

/// `.show tables details`: a query counts the rows.
async fn details(
    app: &App,
    asker: &Asker,
    named: Option<&str>,
    names: Option<Vec<String>>,
) -> Result<SmallTable, ApiError> {
    let record = database::find(app, asker.principal(), named).await?;
    let tables = tables(&record, names)?;
    let access = asker.access(app, record.clone())?;
    let _permit = access.permit(app).await?;
    let listed: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let query = format!(
        "union withsource=name_ {} | summarize rows_ = count() by name_",
        listed.join(", ")
    );
    let request = QueryRequest {
        caller: access.caller(),
        query: query.into(),
        timespans: Vec::new(),
        applications: Vec::new(),
        workspace_names: false,
        options: QueryOptions::default(),
    };
    // In a box: a query's future is large, and this one runs within another.
    let result = Box::pin(app.engine.query(&request)).await?;
    if !result.missing.is_empty() {
        let message = "The rows cannot be counted, because telemetry is damaged".to_owned();
        return Err(EngineError::Unreadable(message).into());
    }
    let counts = counts(&result);
    let counted = |table: &Table| {
        let count = counts.get(table.name()).copied().unwrap_or_default();
        (*table, count)
    };
    let counted: Vec<(Table, i64)> = tables.iter().map(counted).collect();
    let retention = app.settings.retention.as_secs();
    Ok(schema::table_details(&record, &counted, retention))
}

/// The rows of each table that has any.
fn counts(result: &QueryResult) -> HashMap<String, i64> {
    let batches = result.tables.iter().flat_map(|table| &table.batches);
    let mut counts = HashMap::new();
    for batch in batches {
        let names = batch.columns().first().and_then(|c| c.as_string_view_opt());
        let rows = batch.columns().get(1);
        let rows = rows.and_then(|c| c.as_primitive_opt::<Int64Type>());
        if let (Some(names), Some(rows)) = (names, rows) {
            let pairs = names.iter().zip(rows.iter());
            counts.extend(pairs.filter_map(|(name, rows)| Some((name?.to_owned(), rows?))));
        }
    }
    counts
}
