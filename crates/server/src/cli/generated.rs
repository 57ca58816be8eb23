//! `hindsight completions` and `hindsight man`: made from the definition of the command line.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use super::output;

/// The program's name.
const NAME: &str = "hindsight";

/// `hindsight completions SHELL`
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// `hindsight man [COMMAND …]`
#[derive(Debug, Args)]
pub(super) struct ManPages {
    /// The command to describe, such as `app create` [default: the program]
    command: Vec<String>,
    /// Write the pages of all commands into this folder, which is created if it does not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Completions {
    pub(super) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, NAME, &mut script);
        output::print(&String::from_utf8(script)?)
    }
}

impl ManPages {
    pub(super) fn run(self, mut command: clap::Command) -> anyhow::Result<()> {
        if let Some(folder) = &self.dir {
            let cannot = || format!("cannot write {}", folder.display());
            std::fs::create_dir_all(folder).with_context(cannot)?;
            return clap_mangen::generate_to(command, folder).with_context(cannot);
        }
        command.build();
        let mut named = command;
        let mut title = NAME.to_owned();
        for name in &self.command {
            let Some(found) = named.find_subcommand(name) else {
                bail!("there is no command '{title} {name}'");
            };
            title = format!("{title}-{name}");
            named = found.clone();
        }
        let mut page = Vec::new();
        // The name of a page is the same as with `--dir`.
        Man::new(named.display_name(title)).render(&mut page)?;
        output::print(&String::from_utf8(page)?)
    }
}
