//! What a command knows of the terminal that it writes to, if it writes to one.

mod grid;
mod pager;
mod text;

use std::io::IsTerminal;

use terminal_size::{Height, Width, terminal_size_of};

pub(super) use grid::{Align, Fit, Grid};
pub(super) use pager::page;
pub(super) use text::{columns, cut, printable};

use super::data::environment;

/// The width of output that goes to no terminal.
const PLAIN_WIDTH: usize = 100;
/// The height of output that goes to no terminal.
const PLAIN_HEIGHT: usize = 30;
/// The least width that anything is fitted to.
const LEAST_WIDTH: usize = 20;

/// Standard output, as far as layout depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// Columns.
    pub(super) width: usize,
    /// Lines.
    pub(super) height: usize,
    /// Whether it is a terminal.
    pub(super) terminal: bool,
    /// Whether colours are written: on a terminal, unless `NO_COLOR` is set (<https://no-color.org>) or it is a dumb one.
    pub(super) colors: bool,
}

impl Screen {
    /// Standard output.
    pub(super) fn stdout() -> Screen {
        let out = std::io::stdout();
        let terminal = out.is_terminal();
        let size = terminal.then(|| terminal_size_of(&out)).flatten();
        let (width, height) = match size {
            Some((Width(width), Height(height))) if width > 0 && height > 0 => {
                (usize::from(width).max(LEAST_WIDTH), usize::from(height))
            }
            _ => (PLAIN_WIDTH, PLAIN_HEIGHT),
        };
        let plain = environment("NO_COLOR").is_some_and(|value| !value.is_empty())
            || environment("TERM").is_some_and(|name| name == "dumb");
        Screen {
            width,
            height,
            terminal,
            colors: terminal && !plain,
        }
    }

    /// A text that stands back behind the others.
    pub(super) fn dim(&self, text: &str) -> String {
        self.painted("2", text)
    }

    /// A text with the attributes of a select-graphic-rendition sequence (ECMA-48 §8.3.117), if there are colours.
    pub(super) fn painted(&self, attributes: &str, text: &str) -> String {
        if self.colors && !text.is_empty() {
            format!("\u{1b}[{attributes}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether standard error is a terminal.
pub(super) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether standard input is a terminal.
pub(super) fn stdin_is_terminal() -> bool {
    std::io::stdin().is_terminal()
}
