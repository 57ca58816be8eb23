//! `hindsight query`.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{self, Answer, Limits};
use super::ask::{AppArguments, Question, ask};
use super::chart;
use super::terminal::{Screen, page, stderr_is_terminal};
use super::{output, place};

/// The most rows of a table on a terminal, unless `--max-rows` says otherwise.
pub(super) const MOST_ROWS: usize = 1_000;

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
    app: AppArguments,
    /// Limit the query to an ISO 8601 duration until now, such as PT12H, or an interval.
    #[arg(long, value_name = "P")]
    timespan: Option<String>,
    /// Output format [default: on a terminal the chart that `render` names, else a table]
    #[arg(long, value_enum)]
    output: Option<Format>,
    #[command(flatten)]
    layout: Layout,
}

/// How much of a result a terminal shows.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Layout {
    /// Show all columns of a table, and their cells whole, instead of what fits the terminal.
    #[arg(long)]
    pub(super) wide: bool,
    /// The most rows of a table on a terminal, 0 for all [default: 1000]
    #[arg(long, value_name = "N")]
    pub(super) max_rows: Option<usize>,
    /// Write to the terminal at once, without the pager ($PAGER, or less).
    #[arg(long)]
    pub(super) no_pager: bool,
}

/// The forms of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Aligned columns.
    Table,
    /// A table of GitHub Flavored Markdown.
    Markdown,
    /// The reply of the query API.
    Json,
    /// An object for each row, one a line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
    /// The chart that `render` names.
    Chart,
}

impl Query {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let kql = self.text()?;
        let target = self.app.target().await?;
        let outcome = async {
            let app = self.app.app(&target).await?;
            let question = Question {
                kql: &kql,
                timespan: self.timespan.as_deref(),
                // They would be in the reply that is written.
                extras: self.output != Some(Format::Json),
                cached: true,
            };
            let begun = Instant::now();
            let reply = ask(&target, &app, &question).await?;
            if reply.status != 200 {
                return Err(self.app.failure(&target, &app, &reply, &kql).await);
            }
            Ok((reply, begun.elapsed()))
        };
        let outcome = outcome.await;
        target.close().await?;
        let (reply, elapsed) = outcome?;
        show(&reply.body, self.output, self.layout, elapsed)
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
}

/// Writes a reply with status 200 in a form. A result that is not whole gets exit code 2.
pub(super) fn show(
    body: &[u8],
    format: Option<Format>,
    layout: Layout,
    elapsed: Duration,
) -> anyhow::Result<ExitCode> {
    let reply = std::str::from_utf8(body).context("the reply is not UTF-8")?;
    let answer: Answer<'_> = serde_json::from_str(reply).context("the reply holds no tables")?;
    let screen = Screen::stdout();
    let text = match format {
        Some(Format::Json) => format!("{reply}\n"),
        Some(Format::Csv) => each(&answer, answer::csv, "\n"),
        Some(Format::Markdown) => each(&answer, answer::markdown, "\n"),
        Some(Format::Ndjson) => each(&answer, answer::ndjson, ""),
        Some(Format::Table) => tables(&answer, layout, screen),
        Some(Format::Chart) => drawn(&answer, screen).map_err(anyhow::Error::msg)?,
        None if screen.terminal && chart::is_asked(&answer) => match drawn(&answer, screen) {
            Ok(text) => text,
            Err(reason) => {
                let note = screen.dim(&format!("shown as a table: {reason}"));
                format!("{}{note}\n", tables(&answer, layout, screen))
            }
        },
        None => tables(&answer, layout, screen),
    };
    if layout.no_pager {
        output::print(&text)?;
    } else {
        page(&text, screen, layout.wide)?;
    }
    if stderr_is_terminal() {
        output::note(&summary(&answer, elapsed));
    }
    if let Some(error) = &answer.error {
        output::complain(&format!(
            "the result is not whole: {}",
            place::innermost(error)
        ));
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::SUCCESS)
}

/// Every result in a form, with a text between two of them.
fn each(
    answer: &Answer<'_>,
    form: fn(&answer::AnswerTable<'_>) -> String,
    between: &str,
) -> String {
    let texts: Vec<String> = answer.tables.iter().map(form).collect();
    texts.join(between)
}

fn tables(answer: &Answer<'_>, layout: Layout, screen: Screen) -> String {
    let on_terminal = if screen.terminal { MOST_ROWS } else { 0 };
    let limits = Limits {
        screen,
        wide: layout.wide,
        rows: layout.max_rows.unwrap_or(on_terminal),
    };
    let texts: Vec<String> = (answer.tables.iter())
        .map(|table| answer::table(table, &limits))
        .collect();
    texts.join("\n")
}

/// The chart of the first result, or why there is none.
fn drawn(answer: &Answer<'_>, screen: Screen) -> Result<String, String> {
    chart::draw(answer, screen)
}

/// A line about a result: rows, time and what was read.
fn summary(answer: &Answer<'_>, elapsed: Duration) -> String {
    let rows = answer.rows() as u64;
    let noun = if rows == 1 { "row" } else { "rows" };
    let mut text = format!(
        "{} {noun} in {:.3} s",
        answer::grouped(rows),
        elapsed.as_secs_f64()
    );
    let scanned = |what: &str| {
        let path = format!("/query/inputDatasetStatistics/{what}/scanned");
        let statistics = answer.statistics.as_ref();
        statistics
            .and_then(|value| value.pointer(&path))
            .and_then(Value::as_u64)
    };
    if let (Some(rows), Some(bytes)) = (scanned("rows"), scanned("bytes")) {
        text += &format!(
            "; {} rows and {} read",
            answer::grouped(rows),
            amount(bytes)
        );
    }
    text
}

/// Bytes with three digits and a unit.
fn amount(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = UNITS.iter();
    let mut name = unit.next().copied().unwrap_or_default();
    for next in unit {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        name = next;
    }
    let digits = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (12_345, "12.3 kB"),
            (999_600, "1.00 MB"),
            (1_234_567_890, "1.23 GB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
    }

    #[test]
    fn a_line_tells_rows_time_and_what_was_read() {
        let answer: Answer<'_> = serde_json::from_str(
            r#"{"tables":[{"name":"t","columns":[],"rows":[[],[]]}],"statistics":{"query":{"inputDatasetStatistics":{"rows":{"scanned":12345},"bytes":{"scanned":6789}}}}}"#,
        )
        .unwrap();
        assert_eq!(
            summary(&answer, Duration::from_millis(34)),
            "2 rows in 0.034 s; 12,345 rows and 6.79 kB read"
        );
    }
}
