//! The tools that assistants call: applications, schema, queries and samples.

use hindsight_store::{Column, Table};
use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};

use super::rpc::Failure;
use crate::cli::answer::{Answer, AnswerTable};
use crate::cli::ask::{AppArguments, Question, ask};
use crate::cli::place;
use crate::cli::target::Target;

/// Rows of a result by default and at most.
const ROWS: (usize, usize) = (100, 1_000);
/// Rows of samples by default and at most.
const SAMPLES: (usize, usize) = (5, 50);
/// Bytes of rows at most: assistants read no more.
const MOST_BYTES: usize = 256 << 10;

/// The tools over an application.
///
/// Each call connects anew: a server may be started and stopped between two calls, and without one the data folder is held only while a call
/// runs.
pub(super) struct Tools {
    arguments: AppArguments,
    /// Held while a call opens the data folder, and for as long as it has it open.
    folder: Mutex<()>,
}

/// A connection of a call.
struct Connection<'t> {
    target: Target,
    /// That no other call has the folder open, if this one has.
    _held: Option<MutexGuard<'t, ()>>,
}

/// A query that an assistant asks.
struct Asked {
    kql: String,
    application: Option<String>,
    timespan: Option<String>,
    form: Form,
}

/// How a result is written.
enum Form {
    /// Columns and at most this number of rows.
    Rows(usize),
    /// Objects without empty columns.
    Objects,
}

impl Asked {
    fn read(arguments: &Value, kql: String, form: Form) -> Result<Asked, Failure> {
        Ok(Asked {
            kql,
            application: text(arguments, "application")?,
            timespan: text(arguments, "timespan")?,
            form,
        })
    }
}

/// Why a tool gives no result: assistants read it, and try otherwise.
type Refused = anyhow::Error;

/// The descriptions of the tools.
pub(super) fn list() -> Value {
    let application = json!({ "type": "string", "description": "Name or id of the application. Without it: the one that this server was started for." });
    let timespan = json!({ "type": "string", "description": "ISO 8601 duration until now, such as PT12H, or interval. Without it: all times." });
    let tables = Table::ALL.map(Table::name);
    let tool = |name: &str,
                title: &str,
                description: &str,
                properties: Value,
                required: &[&str]| {
        json!({
            "name": name,
            "title": title,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    };
    json!([
        tool(
            "list_applications",
            "List applications",
            "The applications whose telemetry can be queried.",
            json!({}),
            &[]
        ),
        tool(
            "schema",
            "Schema",
            "The tables with their columns and types, or those of one table.",
            json!({ "table": { "type": "string", "enum": tables } }),
            &[],
        ),
        tool(
            "query",
            "Run a KQL query",
            "Runs a KQL query over the telemetry of an application and returns columns and rows. Aggregate, filter and `take` in the query: rows beyond `max_rows` are cut.",
            json!({
                "query": { "type": "string", "description": "The KQL text, such as `requests | summarize count() by resultCode`." },
                "application": application,
                "timespan": timespan,
                "max_rows": { "type": "integer", "minimum": 1, "maximum": ROWS.1, "default": ROWS.0 },
            }),
            &["query"],
        ),
        tool(
            "samples",
            "Sample rows",
            "The latest rows of a table, each without its empty columns.",
            json!({
                "table": { "type": "string", "enum": tables },
                "application": application,
                "timespan": timespan,
                "count": { "type": "integer", "minimum": 1, "maximum": SAMPLES.1, "default": SAMPLES.0 },
            }),
            &["table"],
        ),
    ])
}

impl Tools {
    pub(super) fn new(arguments: AppArguments) -> Tools {
        Tools {
            arguments,
            folder: Mutex::default(),
        }
    }

    /// The result of a call, as JSON text.
    ///
    /// # Errors
    /// A tool that does not exist, and arguments that its schema does not allow.
    pub(super) async fn call(&self, name: &str, arguments: &Value) -> Result<String, Failure> {
        let outcome = match name {
            "list_applications" => {
                allowed(arguments, &[])?;
                self.applications().await
            }
            "schema" => {
                allowed(arguments, &["table"])?;
                Ok(schema(table(arguments)?))
            }
            "query" => {
                allowed(arguments, &["query", "application", "timespan", "max_rows"])?;
                let kql = text(arguments, "query")?;
                let kql = kql.ok_or_else(|| Failure::parameters("`query` is missing"))?;
                let rows = count(arguments, "max_rows", ROWS)?;
                let asked = Asked::read(arguments, kql, Form::Rows(rows))?;
                self.query(asked).await
            }
            "samples" => {
                allowed(arguments, &["table", "application", "timespan", "count"])?;
                let table = table(arguments)?;
                let table = table.ok_or_else(|| Failure::parameters("`table` is missing"))?;
                let count = count(arguments, "count", SAMPLES)?;
                let kql = format!("{} | top {count} by timestamp desc", table.name());
                let asked = Asked::read(arguments, kql, Form::Objects)?;
                self.query(asked).await
            }
            other => return Err(Failure::parameters(&format!("there is no tool '{other}'"))),
        };
        Ok(match outcome {
            Ok(structured) => {
                let text = Value::from(structured.as_str());
                format!(
                    r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured},"isError":false}}"#
                )
            }
            Err(refused) => {
                let text = Value::from(format!("{refused:#}"));
                format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#)
            }
        })
    }

    /// A connection, which the caller closes.
    async fn connect(&self) -> anyhow::Result<Connection<'_>> {
        let held = self.folder.lock().await;
        let target = self.arguments.target().await?;
        let has_folder = matches!(target, Target::Local { .. });
        Ok(Connection {
            target,
            _held: has_folder.then_some(held),
        })
    }

    async fn applications(&self) -> Result<String, Refused> {
        let connection = self.connect().await?;
        let listed = self.arguments.apps(&connection.target).await;
        connection.target.close().await?;
        let listed = listed?;
        let listed = listed
            .iter()
            .map(|app| json!({ "name": app.name, "id": app.id }));
        Ok(json!({ "applications": listed.collect::<Vec<_>>() }).to_string())
    }

    /// Runs a query and writes its first result.
    async fn query(&self, asked: Asked) -> Result<String, Refused> {
        let connection = self.connect().await?;
        let outcome = self.ask(&connection.target, &asked).await;
        connection.target.close().await?;
        outcome
    }

    async fn ask(&self, target: &Target, asked: &Asked) -> Result<String, Refused> {
        let app = match &asked.application {
            Some(app) => app.clone(),
            None => self.arguments.app(target).await?,
        };
        let question = Question {
            kql: &asked.kql,
            timespan: asked.timespan.as_deref(),
            cached: true,
            ..Question::default()
        };
        let reply = ask(target, &app, &question).await?;
        if reply.status != 200 {
            return Err(self
                .arguments
                .failure(target, &app, &reply, &asked.kql)
                .await);
        }
        let answer: Answer<'_> = serde_json::from_slice(&reply.body)?;
        let Some(table) = answer.tables.first() else {
            anyhow::bail!("the query has no result");
        };
        let mut text = match asked.form {
            Form::Rows(most) => rows_of(table, most),
            Form::Objects => objects_of(table),
        };
        if let Some(error) = &answer.error {
            let reason = Value::from(place::innermost(error));
            // Before the bracket that ends the object.
            text.insert_str(text.len() - 1, &format!(r#","notWhole":{reason}"#));
        }
        Ok(text)
    }
}

/// Columns and rows, cut at a number of rows and at [`MOST_BYTES`]. Values are as in the reply of the query API.
fn rows_of(table: &AnswerTable<'_>, most: usize) -> String {
    let columns = table
        .columns
        .iter()
        .map(|column| json!({ "name": column.name, "type": column.kind }));
    let columns = Value::from(columns.collect::<Vec<_>>());
    let rows = table.rows.iter().take(most).map(|row| {
        let cells: Vec<&str> = row.iter().map(|cell| cell.get()).collect();
        format!("[{}]", cells.join(","))
    });
    let (rows, shown) = fitting(rows);
    let all = table.rows.len();
    format!(
        r#"{{"columns":{columns},"rows":[{rows}],"rowCount":{all},"truncated":{}}}"#,
        shown < all
    )
}

/// The rows as objects without empty columns, cut at [`MOST_BYTES`].
fn objects_of(table: &AnswerTable<'_>) -> String {
    let rows = table.rows.iter().map(|row| {
        let cells = table.columns.iter().zip(row);
        let filled = cells.filter(|(_, cell)| !matches!(cell.get(), "null" | "\"\""));
        let members = filled
            .map(|(column, cell)| format!("{}:{}", Value::from(column.name.as_str()), cell.get()));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    let (rows, shown) = fitting(rows);
    let all = table.rows.len();
    format!(
        r#"{{"rows":[{rows}],"rowCount":{all},"truncated":{}}}"#,
        shown < all
    )
}

/// The first texts that fit together into [`MOST_BYTES`], and how many they are.
fn fitting(texts: impl Iterator<Item = String>) -> (String, usize) {
    let (mut out, mut shown) = (String::new(), 0);
    for text in texts {
        if out.len() + text.len() > MOST_BYTES {
            break;
        }
        if shown > 0 {
            out.push(',');
        }
        out.push_str(&text);
        shown += 1;
    }
    (out, shown)
}

/// The columns of a table, or of all.
fn schema(only: Option<Table>) -> String {
    let column =
        |column: &Column| json!({ "name": column.name, "type": column.scalar_type.name() });
    let wanted = Table::ALL
        .into_iter()
        .filter(|table| only.is_none_or(|only| only == *table));
    let tables = wanted.map(|table| {
        let columns: Vec<Value> = table.columns().iter().map(column).collect();
        json!({ "name": table.name(), "columns": columns })
    });
    json!({ "tables": tables.collect::<Vec<_>>() }).to_string()
}

/// Refuses arguments that a tool does not have.
fn allowed(arguments: &Value, names: &[&str]) -> Result<(), Failure> {
    let Some(object) = arguments.as_object() else {
        return Err(Failure::parameters("`arguments` is no object"));
    };
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(Failure::parameters(&format!(
            "there is no argument '{name}'"
        ))),
        None => Ok(()),
    }
}

fn text(arguments: &Value, name: &str) -> Result<Option<String>, Failure> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Failure::parameters(&format!("`{name}` is no string"))),
    }
}

fn table(arguments: &Value) -> Result<Option<Table>, Failure> {
    let Some(name) = text(arguments, "table")? else {
        return Ok(None);
    };
    let found = Table::from_name(&name);
    let names = || Table::ALL.map(Table::name).join(", ");
    found.map(Some).ok_or_else(|| {
        Failure::parameters(&format!(
            "there is no table '{name}'; there are {}",
            names()
        ))
    })
}

fn count(arguments: &Value, name: &str, (default, most): (usize, usize)) -> Result<usize, Failure> {
    let Some(value) = arguments.get(name).filter(|value| !value.is_null()) else {
        return Ok(default);
    };
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| Failure::parameters(&format!("`{name}` is no number from 1 to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_cut_and_say_so() {
        let answer: Answer<'_> = serde_json::from_str(
            r#"{"tables":[{"columns":[{"name":"a","type":"long"},{"name":"b","type":"string"}],"rows":[[9007199254740993,""],[2,"x"]]}]}"#,
        )
        .unwrap();
        let table = answer.tables.first().unwrap();
        assert_eq!(
            rows_of(table, 1),
            r#"{"columns":[{"name":"a","type":"long"},{"name":"b","type":"string"}],"rows":[[9007199254740993,""]],"rowCount":2,"truncated":true}"#
        );
        assert_eq!(
            objects_of(table),
            r#"{"rows":[{"a":9007199254740993},{"a":2,"b":"x"}],"rowCount":2,"truncated":false}"#
        );
    }

    #[test]
    fn arguments_are_checked() {
        assert!(allowed(&json!({ "x": 1 }), &["y"]).is_err());
        assert_eq!(count(&json!({}), "n", (5, 50)), Ok(5));
        assert!(count(&json!({ "n": 51 }), "n", (5, 50)).is_err());
        assert!(table(&json!({ "table": "nope" })).is_err());
        assert_eq!(
            table(&json!({ "table": "requests" })),
            Ok(Some(Table::Requests))
        );
        assert!(text(&json!({ "query": 1 }), "query").is_err());
    }
}
