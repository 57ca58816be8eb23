//! `hindsight config`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};

use super::data::{environment, variables};
use super::output;
use super::terminal::{Align, Fit, Grid};
use crate::config::{Inspection, inspect};

/// `hindsight config …`
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Read the settings as `hindsight serve` does, and name everything that is wrong with them. Exits with 1 if anything is.
    Check(Check),
}

/// `hindsight config check`
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Read settings from a TOML file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print all settings with the values that are in force, and where each comes from.
    #[arg(long)]
    show: bool,
}

impl ConfigCommand {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let ConfigCommand::Check(check) = self;
        check.run()
    }
}

impl Check {
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut inspection = inspect(self.config.as_deref(), environment)?;
        inspection.problems.extend(together(&inspection));
        if self.show {
            output::print(&shown(&inspection))?;
        }
        for note in inspection.unknown_variables(variables()) {
            output::note(&format!("note: {note}"));
        }
        for problem in &inspection.problems {
            output::complain(problem);
        }
        if inspection.problems.is_empty() {
            if !self.show {
                output::print("the settings are valid\n")?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        Ok(ExitCode::FAILURE)
    }
}

/// What is wrong with settings that are valid one by one, as `hindsight serve` finds it when it starts. Nothing is written.
fn together(inspection: &Inspection) -> Vec<String> {
    let settings = &inspection.settings;
    let issuers = settings.trusted_issuers().map(|_| ());
    let tls = crate::tls::check(settings);
    let addresses = crate::engine::addresses(settings).map(|_| ());
    let portal = match &settings.portal_folder {
        Some(folder) if !folder.is_dir() => Err(anyhow!(
            "`portal.folder`: there is no folder {}",
            folder.display()
        )),
        _ => Ok(()),
    };
    let found = [issuers, tls, addresses, portal].into_iter();
    found
        .filter_map(Result::err)
        .map(|error| format!("{error:#}"))
        .collect()
}

fn shown(inspection: &Inspection) -> String {
    let columns = ["SETTING", "VALUE", "FROM"];
    let rows = inspection.values.iter().map(|value| {
        let text = if value.text.is_empty() {
            "(empty)"
        } else {
            &value.text
        };
        vec![
            value.key.to_owned(),
            text.to_owned(),
            value.origin.to_string(),
        ]
    });
    let grid = Grid {
        columns: columns.map(|name| (name.to_owned(), Align::Left)).to_vec(),
        rows: rows.collect(),
    };
    grid.lay(Fit::Wide).text
}
