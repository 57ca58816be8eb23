//! The pager: a text that is longer than the screen is shown by `$PAGER`, or by `less`.

use std::io::{ErrorKind, Write};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::Context;

use super::{Screen, stdin_is_terminal};
use crate::cli::data::environment;
use crate::cli::output;

/// What `less` does if `LESS` does not say otherwise: it ends where the text fits, keeps colours and leaves the text on the screen.
const LESS: &str = "FRX";

/// Writes a text to standard output, through the pager if it is longer than the screen. `wide`: its lines are longer than the screen
/// too, and `less` cuts them instead of wrapping them.
pub(in super::super) fn page(text: &str, screen: Screen, wide: bool) -> anyhow::Result<()> {
    let fits = text.lines().count() < screen.height && !wide;
    if !screen.terminal || fits || !stdin_is_terminal() || !show(text, wide)? {
        return output::print(text);
    }
    Ok(())
}

/// Shows a text in the pager; false if there is none.
fn show(text: &str, wide: bool) -> anyhow::Result<bool> {
    let mut command = match environment("PAGER").map(|pager| pager.trim().to_owned()) {
        Some(pager) if pager.is_empty() || pager == "cat" => return Ok(false),
        Some(pager) => by_shell(&pager),
        None => Command::new("less"),
    };
    if environment("LESS").is_none() {
        command.env(
            "LESS",
            if wide {
                format!("{LESS}S")
            } else {
                LESS.to_owned()
            },
        );
    }
    // Ctrl-C is the pager's: this process waits for it.
    #[cfg(unix)]
    let _interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
    let mut pager = match command.stdin(Stdio::piped()).spawn() {
        Ok(pager) => pager,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).context("cannot start the pager"),
    };
    if let Some(mut input) = pager.stdin.take() {
        match input.write_all(text.as_bytes()) {
            // It was left before it had read all.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.context("cannot write to the pager")?,
        }
    }
    let status = pager.wait().context("cannot wait for the pager")?;
    Ok(!not_found(status))
}

/// A command with arguments, as a shell reads it.
fn by_shell(text: &str) -> Command {
    #[cfg(unix)]
    let (shell, flag) = ("sh", "-c");
    #[cfg(not(unix))]
    let (shell, flag) = ("cmd", "/C");
    let mut command = Command::new(shell);
    command.arg(flag).arg(text);
    command
}

/// Whether the shell found no such command.
fn not_found(status: ExitStatus) -> bool {
    status.code() == Some(127)
}
