//! `hindsight query`.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::data::DataFolder;
use super::output;
use super::place;
use super::target::{Reply, Target};
use crate::wire::csv;

/// `hindsight query 'KQL' | -f FILE | -`
#[derive(Debug, Args)]
pub(super) struct Query {
    /// The KQL query. `-` reads it from standard input.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    kql: Option<String>,
    /// Read the query from a file.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    data: DataFolder,
    /// Query the server at this URL instead of the data folder.
    #[arg(long, conflicts_with = "data")]
    url: Option<String>,
    /// The name or id of the application.
    #[arg(long)]
    app: String,
    /// API key for `--url`.
    #[arg(long, requires = "url", env = "HINDSIGHT_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Limit the query to an ISO 8601 duration until now, such as PT12H, or an interval.
    #[arg(long, value_name = "P")]
    timespan: Option<String>,
    /// Output format.
    #[arg(long, value_enum, default_value = "table")]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
}

impl Query {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let text = self.text()?;
        let target = match &self.url {
            Some(url) => Target::at(url, self.key.as_deref())?,
            None => Target::folder(&self.data).await?,
        };
        let app = utf8_percent_encode(&self.app, NON_ALPHANUMERIC);
        let mut body = json!({ "query": text });
        if let (Some(timespan), Some(object)) = (&self.timespan, body.as_object_mut()) {
            object.insert("timespan".to_owned(), timespan.as_str().into());
        }
        let reply = target
            .post(
                &format!("/v1/apps/{app}/query"),
                "application/json",
                body.to_string().into_bytes(),
            )
            .await;
        target.close().await?;
        self.show(&text, &reply?)
    }

    fn text(&self) -> anyhow::Result<String> {
        match (&self.file, self.kql.as_deref()) {
            (Some(path), _) => std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display())),
            (None, Some("-")) => {
                let mut text = String::new();
                std::io::stdin().lock().read_to_string(&mut text)?;
                Ok(text)
            }
            (None, Some(text)) => Ok(text.to_owned()),
            (None, None) => bail!("a query is needed"),
        }
    }

    fn show(&self, query: &str, reply: &Reply) -> anyhow::Result<ExitCode> {
        let value: Value = serde_json::from_slice(&reply.body)
            .with_context(|| format!("status {} without a JSON body", reply.status))?;
        if reply.status != 200 {
            bail!("{}", failure(reply.status, &value, query));
        }
        if self.output == Format::Json {
            output::print(&format!("{}\n", String::from_utf8_lossy(&reply.body)))?;
        } else {
            let tables = value
                .get("tables")
                .and_then(Value::as_array)
                .context("the reply holds no tables")?;
            for (index, table) in tables.iter().enumerate() {
                if index > 0 {
                    output::print("\n")?;
                }
                output::print(&render(table, self.output))?;
            }
        }
        if let Some(error) = value.get("error") {
            output::complain(&format!("the result is not whole: {}", innermost(error)));
            return Ok(ExitCode::from(2));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A failure: every error of the query with its place, or else the most exact message in one line.
fn failure(status: u16, value: &Value, query: &str) -> String {
    let error = value.get("error").unwrap_or(value);
    let errors = place::errors(error, query).unwrap_or_else(|| innermost(error));
    format!("status {status}: {errors}")
}

/// The most exact message of nested errors.
fn innermost(error: &Value) -> String {
    let details = error.get("details").and_then(|details| details.get(0));
    if let Some(inner) = error.get("innererror").or(details) {
        return innermost(inner);
    }
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let code = text("code")
        .map(|code| format!("{code}: "))
        .unwrap_or_default();
    format!("{code}{}", text("message").unwrap_or("no message"))
}

fn render(table: &Value, format: Format) -> String {
    let list = |key: &str| {
        table
            .get(key)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let header: Vec<String> = list("columns")
        .iter()
        .map(|column| {
            column
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let rows: Vec<Vec<String>> = list("rows")
        .iter()
        .map(|row| {
            row.as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .map(plain)
                .collect()
        })
        .collect();
    if format == Format::Table {
        return output::table(&header, &rows);
    }
    let mut out = String::new();
    csv::line(header.into_iter(), &mut out);
    for row in rows {
        csv::line(row.into_iter(), &mut out);
    }
    out
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_message_is_shown_with_its_place() {
        let value = json!({"error": {"message": "outer", "code": "BadArgumentError", "innererror": {
            "code": "SyntaxError", "message": "x", "innererror": {"code": "SYN0002", "message": "no", "line": 1, "pos": 4, "token": "b"}}}});
        assert_eq!(
            failure(400, &value, "aaa b"),
            "status 400: SYN0002: no\n --> line [1,4]\n1 | aaa b\n  |     ^"
        );
        let value = json!({"error": {"message": "outer", "innererror": {"code": "NotFoundError", "message": "no app"}}});
        assert_eq!(
            failure(404, &value, "aaa b"),
            "status 404: NotFoundError: no app"
        );
    }

    #[test]
    fn tables_become_text_and_csv() {
        let table =
            json!({"columns": [{"name": "a"}, {"name": "b"}], "rows": [[1, null], ["x,y", true]]});
        assert_eq!(render(&table, Format::Csv), "a,b\r\n1,\r\n\"x,y\",true\r\n");
        assert!(render(&table, Format::Table).contains("x,y  true"));
    }
}
