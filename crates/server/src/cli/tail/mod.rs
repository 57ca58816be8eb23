//! `hindsight tail`: items as they arrive.
//!
//! Items are found as [`crate::arriving`] says.

mod items;

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hindsight_kql_types::datetime;
use hindsight_store::Table;

use super::answer::{self, Answer};
use super::ask::{AppArguments, Question, ask};
use super::target::{Reply, Target};
use super::terminal::Screen;
use super::{output, place};
use crate::arriving::{EVERY, OVERLAP, TABLES};
use crate::config::duration;
use items::{ARRIVED, Item};

/// The most items that one query of a look reads; further ones are read by the next query.
const PAGE: usize = 5_000;

/// `hindsight tail [FILTER]`
#[derive(Debug, Args)]
pub(super) struct Tail {
    /// A predicate of KQL, such as 'severityLevel >= 3'. Without it: all items.
    filter: Option<String>,
    #[command(flatten)]
    app: AppArguments,
    /// A table, such as traces; may be repeated [default: all but those of metrics and browser timings]
    #[arg(long, value_delimiter = ',', value_parser = table)]
    table: Vec<Table>,
    /// Begin with the items that arrived so long ago, such as 10m.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    since: Duration,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    output: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A line for each item: time, type and what matters most.
    Text,
    /// An object for each item, one a line, without empty columns.
    Json,
}

fn table(name: &str) -> Result<Table, String> {
    let names = || Table::ALL.map(Table::name).join(", ");
    Table::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

impl Tail {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let Some(target) = self.app.server()? else {
            let folder = self.app.folder().path()?;
            // A folder that does not exist is reported first.
            super::data::open(self.app.folder()).await?;
            let folder = folder.display();
            bail!(
                "no server has the data folder {folder} open, so nothing arrives in it; `hindsight serve --data {folder}` starts one"
            );
        };
        tokio::select! {
            followed = self.follow(target) => followed,
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                Ok(())
            }
        }?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes items until the reader goes away.
    async fn follow(&self, mut target: Target) -> anyhow::Result<()> {
        let app = self.app.app(&target).await?;
        let now = now(&self.app, &target, &app).await?;
        let since = i64::try_from(self.since.as_nanos() / 100).unwrap_or(i64::MAX);
        let mut position = Position::new(now.saturating_sub(since));
        let mut waiting = false;
        loop {
            match self.look(&target, &app, &mut position).await? {
                Looked::Read => {
                    if waiting {
                        output::note("connected again");
                        waiting = false;
                    }
                }
                Looked::Closed => return Ok(()),
                Looked::Unreachable(reason) => {
                    if !waiting {
                        output::complain(&format!("{reason}; waiting for the server"));
                        waiting = true;
                    }
                }
            }
            tokio::time::sleep(EVERY).await;
            // A server that was started again has another token, and maybe another address.
            if waiting && let Some(server) = self.app.server().ok().flatten() {
                target = server;
            }
        }
    }

    /// Writes the items that have arrived since the last look.
    async fn look(
        &self,
        target: &Target,
        app: &str,
        position: &mut Position,
    ) -> anyhow::Result<Looked> {
        let (mut from, mut limit) = (position.from(), PAGE);
        loop {
            let kql = self.kql(from, limit);
            let question = Question {
                kql: &kql,
                ..Question::default()
            };
            let reply = match ask(target, app, &question).await {
                Ok(reply) if reply.status == 200 => reply,
                Ok(reply) if passes(&reply) && position.looked => {
                    return Ok(Looked::Unreachable(format!(
                        "the server answers with status {}",
                        reply.status
                    )));
                }
                Ok(reply) => return Err(self.app.failure(target, app, &reply, &kql).await),
                Err(error) if position.looked => {
                    return Ok(Looked::Unreachable(format!("{error:#}")));
                }
                Err(error) => return Err(error),
            };
            let text = std::str::from_utf8(&reply.body)?;
            let answer: Answer<'_> =
                serde_json::from_str(text).context("the reply holds no tables")?;
            let items = items::read(&answer).context("the reply holds no items")?;
            position.looked = true;
            let (read, last) = (items.len(), items.last().map(|item| item.arrived));
            if !self.write(items, position)? {
                return Ok(Looked::Closed);
            }
            let cut = answer.error.as_ref();
            match last {
                Some(last) if (read >= limit || cut.is_some()) && last > from => {
                    (from, limit) = (last, PAGE);
                }
                // All of these items arrived at once.
                Some(_) if read >= limit && cut.is_none() => limit *= 4,
                _ => {
                    if let Some(error) = cut {
                        output::complain(&format!(
                            "items are missing: {}",
                            place::innermost(error)
                        ));
                    }
                    return Ok(Looked::Read);
                }
            }
        }
    }

    /// Writes the items that were not written before; false if the reader went away.
    fn write(&self, items: Vec<Item<'_>>, position: &mut Position) -> anyhow::Result<bool> {
        let screen = Screen::stdout();
        let mut out = String::new();
        for item in items {
            if position.note(item.arrived, &item.id) {
                match self.output {
                    Form::Text => item.write_text(screen, &mut out),
                    Form::Json => item.write_json(&mut out),
                }
            }
        }
        Ok(out.is_empty() || output::print_on(&out)?)
    }

    /// The query for the items that arrived at `from` or later, oldest first.
    fn kql(&self, from: i64, limit: usize) -> String {
        let tables: &[Table] = if self.table.is_empty() {
            &TABLES
        } else {
            &self.table
        };
        let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
        let filter = self
            .filter
            .as_deref()
            .filter(|filter| !filter.trim().is_empty());
        let filter = filter.map_or(String::new(), |filter| format!("| where {filter}\n"));
        let mut time = String::new();
        // Writing into a text cannot fail.
        let _ = datetime::write_full(from, &mut time);
        format!(
            "union {}\n{filter}| extend ['{ARRIVED}'] = ingestion_time()\n| where ['{ARRIVED}'] >= datetime({time})\n| top {limit} by ['{ARRIVED}'] asc",
            names.join(", ")
        )
    }
}

/// The outcome of a look.
enum Looked {
    /// All items were written.
    Read,
    /// The reader of the output went away.
    Closed,
    /// The server did not answer; the next look reads what this one did not.
    Unreachable(String),
}

/// Whether a later request may succeed: a server that starts, stops, is busy, or was started again with another token.
fn passes(reply: &Reply) -> bool {
    matches!(reply.status, 401 | 408 | 429 | 500..)
}

/// The server's time, in ticks.
async fn now(arguments: &AppArguments, target: &Target, app: &str) -> anyhow::Result<i64> {
    let question = Question {
        kql: "print now()",
        ..Question::default()
    };
    let reply = ask(target, app, &question).await?;
    if reply.status != 200 {
        return Err(arguments.failure(target, app, &reply, question.kql).await);
    }
    let text = std::str::from_utf8(&reply.body)?;
    let answer: Answer<'_> = serde_json::from_str(text).context("the reply holds no tables")?;
    let cell = answer
        .tables
        .first()
        .and_then(|table| table.rows.first()?.first());
    let time = cell.and_then(|cell| datetime::parse(&answer::text(cell)));
    time.context("the server does not tell its time")
}

/// How far items were written.
struct Position {
    /// The time of arrival before which no item is written.
    begun: i64,
    /// The latest time of arrival of an item that was written.
    latest: i64,
    /// The items that were written and may be read again, with their times of arrival.
    written: HashMap<String, i64>,
    /// Whether a look was answered.
    looked: bool,
}

impl Position {
    fn new(begun: i64) -> Position {
        Position {
            begun,
            latest: begun,
            written: HashMap::new(),
            looked: false,
        }
    }

    /// The time of arrival from which a look reads. Earlier items are forgotten: they are not read again.
    fn from(&mut self) -> i64 {
        let from = self.begun.max(self.latest.saturating_sub(OVERLAP));
        self.written.retain(|_, arrived| *arrived >= from);
        from
    }

    /// Notes an item; false if it was written before.
    fn note(&mut self, arrived: i64, id: &str) -> bool {
        self.latest = self.latest.max(arrived);
        self.written.insert(id.to_owned(), arrived).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_store::TICKS_PER_SECOND;

    #[test]
    fn an_item_is_written_once_and_forgotten_when_it_is_not_read_again() {
        let mut position = Position::new(100 * TICKS_PER_SECOND);
        assert!(position.note(100 * TICKS_PER_SECOND, "a"));
        assert!(!position.note(100 * TICKS_PER_SECOND, "a"));
        assert_eq!(position.from(), 100 * TICKS_PER_SECOND);
        assert!(position.note(115 * TICKS_PER_SECOND, "b"));
        // An item of a request that was synced later is still read.
        assert_eq!(position.from(), 105 * TICKS_PER_SECOND);
        assert!(position.note(106 * TICKS_PER_SECOND, "c"));
        assert_eq!(position.written.len(), 2);
        assert_eq!(position.from(), 105 * TICKS_PER_SECOND);
    }
}
