//! What the command line writes.

use std::io::Write;

use super::terminal::{Align, Fit, Grid};

/// Writes to standard output. A reader that went away (`| head`) is no failure.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// As [`print`]; false if the reader went away.
pub(super) fn print_on(text: &str) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes one line to standard error.
pub(super) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "hindsight: {text}");
}

/// Writes one line to standard error that is no complaint.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Rows under a header, each column as wide as its widest cell.
pub(super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let columns = header.iter().map(|name| (name.clone(), Align::Left));
    let grid = Grid {
        columns: columns.collect(),
        rows: rows.to_vec(),
    };
    grid.lay(Fit::Cut).text
}

/// A tick count as a date for people; nothing for none.
pub(super) fn date(at: Option<i64>) -> String {
    let mut text = String::new();
    if let Some(at) = at {
        // Writing into a text cannot fail.
        let _ = hindsight_kql_types::datetime::write_trimmed(at, &mut text);
    }
    text
}
