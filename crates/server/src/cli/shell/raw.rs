//! Raw mode: the terminal hands over each key as it is pressed, and echoes nothing.

use anyhow::Context;
use std::io::Write;

/// Bracketed paste of xterm: what is pasted stands between two sequences.
const PASTE_ON: &[u8] = b"\x1b[?2004h";
const PASTE_OFF: &[u8] = b"\x1b[?2004l";

/// Raw mode until it is dropped.
pub(super) struct RawMode {
    #[cfg(unix)]
    before: rustix::termios::Termios,
}

impl RawMode {
    /// Whether this system has raw mode. Without it the system edits the lines.
    pub(super) const SUPPORTED: bool = cfg!(unix);

    /// Enters raw mode.
    ///
    /// # Errors
    /// That standard input is no terminal.
    pub(super) fn enter() -> anyhow::Result<RawMode> {
        #[cfg(unix)]
        {
            use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
            let input = std::io::stdin();
            let before = tcgetattr(&input).context("cannot read the mode of the terminal")?;
            let mut raw = before.clone();
            raw.make_raw();
            tcsetattr(&input, OptionalActions::Drain, &raw)
                .context("cannot set the mode of the terminal")?;
            let _ = send(PASTE_ON);
            Ok(RawMode { before })
        }
        #[cfg(not(unix))]
        {
            Err::<RawMode, _>(anyhow::anyhow!("not supported")).context("raw mode")
        }
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = send(PASTE_OFF);
        #[cfg(unix)]
        {
            use rustix::termios::{OptionalActions, tcsetattr};
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, &self.before);
        }
    }
}

fn send(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
