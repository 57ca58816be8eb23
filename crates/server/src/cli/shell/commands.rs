//! The commands of the shell.

use clap::ValueEnum;
use hindsight_store::Table;

use crate::cli::query::Format;

/// What `.help` prints.
pub(super) const HELP: &str = "\
.tables            the tables
.schema TABLE      the columns of a table
.apps              the applications
.app NAME          query another application
.timespan P        limit queries to a time, such as PT12H; `.timespan none` ends that
.output FORMAT     table, markdown, json, ndjson, csv or chart; `.output auto` is what a terminal gets by default
.wide on|off       show all columns of tables
.exit              leave, as Ctrl-D
";

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Tables,
    Schema(Table),
    Apps,
    App(String),
    /// `None`: by default.
    Output(Option<Format>),
    Timespan(Option<String>),
    Wide(bool),
    Exit,
}

impl Command {
    /// The command of a text, or what is wrong with it; `None` for a query.
    pub(super) fn parse(text: &str) -> Option<Result<Command, String>> {
        let text = match text {
            "exit" | "quit" => ".exit",
            "help" => ".help",
            text => text,
        };
        let text = text.trim_end_matches(';').trim();
        let command = text.strip_prefix('.')?;
        let (name, argument) = command
            .split_once(char::is_whitespace)
            .unwrap_or((command, ""));
        let argument = argument.trim();
        Some(match (name, argument) {
            ("help", "") => Ok(Command::Help),
            ("tables", "") => Ok(Command::Tables),
            ("schema", table) => Table::from_name(table)
                .map(Command::Schema)
                .ok_or_else(|| format!("there is no table '{table}'; `.tables` lists them")),
            ("apps", "") => Ok(Command::Apps),
            ("app", name) if !name.is_empty() => Ok(Command::App(name.to_owned())),
            ("output", "auto") => Ok(Command::Output(None)),
            ("output", format) => {
                Format::from_str(format, true).map(|format| Command::Output(Some(format)))
            }
            ("timespan", "none") => Ok(Command::Timespan(None)),
            ("timespan", timespan) if !timespan.is_empty() => {
                Ok(Command::Timespan(Some(timespan.to_owned())))
            }
            ("wide", "on" | "") => Ok(Command::Wide(true)),
            ("wide", "off") => Ok(Command::Wide(false)),
            ("exit" | "quit", "") => Ok(Command::Exit),
            _ => Err(format!("there is no command '{text}'; `.help` lists them")),
        })
    }
}

/// The names of the tables.
pub(super) fn tables() -> String {
    Table::ALL
        .iter()
        .map(|table| format!("{}\n", table.name()))
        .collect()
}

/// The columns of a table with their types.
pub(super) fn columns(table: Table) -> String {
    let columns = table.columns().iter();
    let widest = columns
        .clone()
        .map(|column| column.name.len())
        .max()
        .unwrap_or(0);
    columns
        .map(|column| format!("{:<widest$}  {}\n", column.name, column.scalar_type.name()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_queries() {
        assert_eq!(Command::parse("requests"), None);
        assert_eq!(Command::parse(".tables;"), Some(Ok(Command::Tables)));
        assert_eq!(Command::parse("exit"), Some(Ok(Command::Exit)));
        assert_eq!(
            Command::parse(".output csv"),
            Some(Ok(Command::Output(Some(Format::Csv))))
        );
        assert_eq!(
            Command::parse(".schema requests"),
            Some(Ok(Command::Schema(Table::Requests)))
        );
        assert!(
            Command::parse(".schema nope")
                .unwrap()
                .unwrap_err()
                .contains(".tables")
        );
        assert!(
            Command::parse(".nope")
                .unwrap()
                .unwrap_err()
                .contains(".help")
        );
        assert!(Command::parse(".output nope").unwrap().is_err());
    }
}
