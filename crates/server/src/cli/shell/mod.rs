//! `hindsight shell`: queries one after the other.

mod commands;
mod complete;
mod draw;
mod editor;
mod history;
mod keys;
mod line;
mod raw;
mod statements;

use std::io::BufRead;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use super::answer::Answer;
use super::ask::{AppArguments, Question, ask};
use super::output;
use super::query::{Format, Layout, show};
use super::target::Target;
use super::terminal::{Screen, stdin_is_terminal};
use commands::Command;
use complete::KqlCompleter;
use editor::{Editor, Entered};
use history::History;
use raw::RawMode;
use statements::is_whole;

/// How long a completion waits for the columns of a query.
const COLUMNS_WITHIN: Duration = Duration::from_secs(2);

/// `hindsight shell`
#[derive(Debug, Args)]
pub(super) struct Shell {
    #[command(flatten)]
    app: AppArguments,
    /// Limit queries to an ISO 8601 duration until now, such as PT12H, or an interval.
    #[arg(long, value_name = "P")]
    timespan: Option<String>,
    /// Output format [default: on a terminal the chart that `render` names, else a table]
    #[arg(long, value_enum)]
    output: Option<Format>,
    #[command(flatten)]
    layout: Layout,
}

/// A session.
struct Session {
    arguments: AppArguments,
    target: Target,
    app: String,
    timespan: Option<String>,
    format: Option<Format>,
    layout: Layout,
}

impl Shell {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let target = self.app.target().await?;
        let app = match self.app.app(&target).await {
            Ok(app) => app,
            Err(error) => {
                target.close().await?;
                return Err(error);
            }
        };
        let mut session = Session {
            arguments: self.app,
            target,
            app,
            timespan: self.timespan,
            format: self.output,
            layout: self.layout,
        };
        let handle = Handle::current();
        // Reading a terminal blocks its thread.
        let (session, outcome) = tokio::task::spawn_blocking(move || {
            let outcome = session.talk(&handle);
            (session, outcome)
        })
        .await?;
        session.target.close().await?;
        outcome?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Session {
    /// Reads and runs queries until the input ends.
    fn talk(&mut self, handle: &Handle) -> anyhow::Result<()> {
        if stdin_is_terminal() && Screen::stdout().terminal && RawMode::SUPPORTED {
            return self.talk_on_terminal(handle);
        }
        let mut text = String::new();
        for line in std::io::stdin().lock().lines() {
            text.push_str(&line.context("cannot read standard input")?);
            if is_whole(&text) {
                if !self.answer(&std::mem::take(&mut text), handle)? {
                    return Ok(());
                }
            } else {
                text.push('\n');
            }
        }
        self.answer(&text, handle)?;
        Ok(())
    }

    fn talk_on_terminal(&mut self, handle: &Handle) -> anyhow::Result<()> {
        let mut history = History::of_user()?;
        let mut editor = Editor::new();
        output::note(&format!(
            "Hindsight {}, application '{}'. A query ends with an empty line or `;`. `.help` lists commands, Ctrl-D leaves.",
            env!("CARGO_PKG_VERSION"),
            self.app
        ));
        if matches!(self.target, Target::Local { .. }) {
            output::note("No server has the data folder open: the shell holds it until it ends.");
        }
        loop {
            let completer = KqlCompleter::new(|input| self.columns(input, handle));
            let entered = editor.read(&history, &completer, is_whole)?;
            drop(completer);
            match entered {
                Entered::End => return Ok(()),
                Entered::Cancelled => {}
                Entered::Text(text) => {
                    history.add(text.trim_end())?;
                    if !self.answer(&text, handle)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Runs a query or a command; false if the session ends. What fails is told, and the session goes on.
    fn answer(&mut self, text: &str, handle: &Handle) -> anyhow::Result<bool> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(true);
        }
        let outcome = match Command::parse(text) {
            Some(Ok(Command::Exit)) => return Ok(false),
            Some(Ok(command)) => handle.block_on(self.obey(command)),
            Some(Err(message)) => Err(anyhow::anyhow!(message)),
            None => handle.block_on(self.query(text)),
        };
        if let Err(error) = outcome {
            output::complain(&format!("{error:#}"));
        }
        Ok(true)
    }

    /// Runs a query. Ctrl-C cancels it.
    async fn query(&self, kql: &str) -> anyhow::Result<()> {
        let question = Question {
            kql,
            timespan: self.timespan.as_deref(),
            extras: self.format != Some(Format::Json),
            cached: true,
        };
        let begun = Instant::now();
        let reply = tokio::select! {
            reply = ask(&self.target, &self.app, &question) => reply?,
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                output::note("cancelled");
                return Ok(());
            }
        };
        if reply.status != 200 {
            return Err(self
                .arguments
                .failure(&self.target, &self.app, &reply, kql)
                .await);
        }
        show(&reply.body, self.format, self.layout, begun.elapsed())?;
        Ok(())
    }

    async fn obey(&mut self, command: Command) -> anyhow::Result<()> {
        match command {
            Command::Help => output::print(commands::HELP),
            Command::Tables => output::print(&commands::tables()),
            Command::Schema(table) => output::print(&commands::columns(table)),
            Command::Apps => {
                let apps = self.arguments.apps(&self.target).await?;
                let lines = apps.iter().map(|app| format!("{}  {}\n", app.id, app.name));
                output::print(&lines.collect::<String>())
            }
            Command::App(name) => {
                let apps = self.arguments.apps(&self.target).await?;
                anyhow::ensure!(
                    apps.iter().any(|app| app.name == name || app.id == name),
                    super::ask::unknown(&name, &apps)
                );
                self.app = name;
                Ok(())
            }
            Command::Output(format) => {
                self.format = format;
                Ok(())
            }
            Command::Timespan(timespan) => {
                self.timespan = timespan;
                Ok(())
            }
            Command::Wide(wide) => {
                self.layout.wide = wide;
                Ok(())
            }
            Command::Exit => Ok(()),
        }
    }

    /// The names of the columns of a query's result: its rows are not read.
    fn columns(&self, kql: &str, handle: &Handle) -> Option<Vec<String>> {
        let kql = format!("{kql}\n| take 0");
        let question = Question {
            kql: &kql,
            cached: true,
            ..Question::default()
        };
        let asked =
            async { timeout(COLUMNS_WITHIN, ask(&self.target, &self.app, &question)).await };
        let reply = handle.block_on(asked).ok()?.ok()?;
        let answer: Answer<'_> = serde_json::from_slice(&reply.body).ok()?;
        let table = answer.tables.first()?;
        Some(
            table
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect(),
        )
    }
}
