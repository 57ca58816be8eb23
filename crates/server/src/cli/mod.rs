//! The command line: its forms are a contract that scripts rely on.

mod answer;
mod app;
mod ask;
mod audit;
mod backup;
mod banner;
mod chart;
mod client;
mod cluster;
mod config;
mod connection_limit;
mod data;
mod demo;
mod examples;
mod export;
mod export_file;
mod generated;
mod import;
mod import_state;
mod ingest;
mod item_reader;
mod key;
pub(crate) mod listen;
mod mcp;
mod output;
mod pages;
mod place;
mod portal;
mod progress;
mod query;
mod retention;
mod roles;
mod serve;
mod shell;
mod slow_client;
mod store;
mod tail;
mod target;
mod terminal;
mod test_mode;
mod user;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::documentation;

/// Application Insights on your own machine: ingests telemetry and serves the query REST API (metrics, events, KQL).
#[derive(Debug, Parser)]
#[command(name = "hindsight", version, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    /// The arguments of this process. What is wrong with them ends it.
    pub(crate) fn of_process() -> Arguments {
        let matches = definition().get_matches();
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The definition of the command line, with examples.
fn definition() -> clap::Command {
    examples::with_examples(Arguments::command())
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server.
    ///
    /// Every setting has a default, an environment variable and a key of the TOML file: `hindsight settings` lists them, and
    /// `hindsight config check --show` prints the values that are in force.
    Serve(serve::Serve),
    /// Create, list, show, change and delete applications. Works while a server runs.
    #[command(subcommand)]
    App(app::AppCommand),
    /// Create, list and delete API keys. Works while a server runs.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Manage users of the embedded OAuth issuer and their roles. Works while a server runs.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Manage clients of the embedded OAuth issuer, their secrets and roles. Works while a server runs.
    #[command(subcommand)]
    Client(client::ClientCommand),
    /// Print a link that signs the owner of this machine in to the portal of the running server: good once, for ten minutes.
    Portal(portal::Portal),
    /// Show the audit log: sign-ins, issued tokens and administrative changes.
    Audit(audit::Audit),
    /// Show the nodes that share a catalogue in PostgreSQL, or forget one that is lost. Works while servers run.
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Run a KQL query, and show its result as a table, a chart or data.
    Query(query::Query),
    /// Run KQL queries one after the other, with history and completion.
    ///
    /// A query may have several lines; it ends with an empty line or `;`. Tab completes tables, columns, functions and operators, Ctrl-R
    /// searches the history, Ctrl-C cancels the running query, and Ctrl-D leaves. `.help` lists the commands of the shell.
    Shell(shell::Shell),
    /// Follow items as they arrive at a server, until Ctrl-C.
    Tail(tail::Tail),
    /// Ingest telemetry envelopes from files.
    Ingest(ingest::Ingest),
    /// Write the items of an application to files: lines of JSON, CSV or Parquet.
    Export(export::Export),
    /// Import history: exports of the cloud, replies of its query API or the API itself, lines of `hindsight export`. Repeated after an
    /// interruption, it stores nothing twice.
    Import(import::Import),
    /// Back up a data folder, also while a server runs. Everything that was acknowledged before is in the backup.
    Backup(backup::Backup),
    /// Restore a backup to a new data folder. Never overwrites anything.
    Restore(backup::Restore),
    /// Read a backup whole and report what is damaged. Exits with 1 if anything is.
    Verify(backup::Verify),
    /// Check a data folder, or rebuild its catalogue.
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Confirm the clock that retention goes by, and bring back what has expired.
    #[command(subcommand)]
    Retention(retention::RetentionCommand),
    /// Serve assistants over the Model Context Protocol: applications, schema, queries and samples.
    ///
    /// An assistant starts this command itself and talks to it over standard input and output. Its configuration names the command, for
    /// example `{"mcpServers": {"hindsight": {"command": "hindsight", "args": ["mcp", "--app", "shop"]}}}`.
    Mcp(mcp::Mcp),
    /// Check the configuration.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print all settings with their environment variables and defaults, as Markdown.
    Settings,
    /// Print the KQL reference, as Markdown: what is supported and what is refused.
    Docs,
    /// Print a script that completes commands and flags in a shell.
    Completions(generated::Completions),
    /// Print a manual page, or write those of all commands.
    Man(generated::ManPages),
}

/// Runs a command. An error is one line on standard error and exit code 1.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    match start(arguments.command) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Bytes of a thread's stack: planning a query recurses over its tree. Only what is touched costs memory.
const STACK: usize = 8 << 20;

fn start(command: Command) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .on_thread_park(crate::moderation::before_wait)
        .thread_stack_size(STACK)
        .build()?;
    runtime.block_on(async {
        match command {
            Command::Serve(command) => command.run().await?,
            Command::App(command) => command.run().await?,
            Command::Key(command) => command.run().await?,
            Command::User(command) => command.run().await?,
            Command::Client(command) => command.run().await?,
            Command::Portal(command) => command.run().await?,
            Command::Audit(command) => command.run().await?,
            Command::Cluster(command) => command.run().await?,
            Command::Query(command) => return command.run().await,
            Command::Shell(command) => return command.run().await,
            Command::Tail(command) => return command.run().await,
            Command::Ingest(command) => return command.run().await,
            Command::Export(command) => command.run().await?,
            Command::Import(command) => return command.run().await,
            Command::Backup(command) => return command.run().await,
            Command::Restore(command) => return command.run().await,
            Command::Verify(command) => return command.run().await,
            Command::Store(command) => return command.run().await,
            Command::Retention(command) => command.run().await?,
            Command::Mcp(command) => return command.run().await,
            Command::Config(command) => return command.run(),
            Command::Completions(command) => command.run(definition())?,
            Command::Man(command) => command.run(definition())?,
            Command::Settings => output::print(&documentation())?,
            Command::Docs => output::print(&hindsight_engine::language_reference())?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
