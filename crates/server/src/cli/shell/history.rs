//! The queries that were entered before, in a file that its owner alone can read.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::data::environment;
use crate::private_file;

/// The most queries that are kept.
const MOST: usize = 1_000;

/// The queries, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<String>,
    /// `None`: nothing is kept.
    path: Option<PathBuf>,
}

impl History {
    /// The history of this user: `HINDSIGHT_HISTORY` (empty: none is kept), or `hindsight/history` in the folder for the state of programs
    /// (XDG Base Directory Specification).
    ///
    /// # Errors
    /// That the file cannot be read.
    pub(super) fn of_user() -> anyhow::Result<History> {
        let folder = || {
            let state = environment("XDG_STATE_HOME").filter(|path| Path::new(path).is_absolute());
            let local = environment("LOCALAPPDATA").filter(|_| cfg!(windows));
            let home = environment("HOME").filter(|home| !home.is_empty());
            let state = state.or(local).map(PathBuf::from);
            state.or_else(|| Some(Path::new(&home?).join(".local").join("state")))
        };
        let path = match environment("HINDSIGHT_HISTORY") {
            Some(path) if path.is_empty() => None,
            Some(path) => Some(PathBuf::from(path)),
            None => folder().map(|folder| folder.join("hindsight").join("history")),
        };
        History::open(path)
    }

    fn open(path: Option<PathBuf>) -> anyhow::Result<History> {
        let Some(path) = path else {
            return Ok(History::default());
        };
        let mut text = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut text)
                    .with_context(|| format!("cannot read {}", path.display()))?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        }
        let mut history = History {
            entries: text.lines().map(unescaped).collect(),
            path: Some(path),
        };
        if history.entries.len() > MOST {
            history.entries.drain(..history.entries.len() - MOST);
            history.rewrite()?;
        }
        Ok(history)
    }

    /// The n-th query before the present one, from 1 on.
    pub(super) fn back(&self, count: usize) -> Option<&str> {
        let index = self.entries.len().checked_sub(count)?;
        self.entries.get(index).map(String::as_str)
    }

    /// The latest query before the `count` latest ones that holds a text, and how many before the present one it is.
    pub(super) fn search(&self, text: &str, count: usize) -> Option<(usize, &str)> {
        let mut entries = self.entries.iter().rev().enumerate().skip(count);
        let (index, found) = entries.find(|(_, entry)| entry.contains(text))?;
        Some((index + 1, found))
    }

    /// Keeps a query. One that begins with a space, or is the same as the one before, is not kept.
    ///
    /// # Errors
    /// That the file cannot be written.
    pub(super) fn add(&mut self, query: &str) -> anyhow::Result<()> {
        if query.trim().is_empty() || query.starts_with(' ') || self.back(1) == Some(query) {
            return Ok(());
        }
        self.entries.push(query.to_owned());
        let Some(path) = &self.path else {
            return Ok(());
        };
        append(path, &format!("{}\n", escaped(query)))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn rewrite(&self) -> anyhow::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let lines: String = self
            .entries
            .iter()
            .map(|entry| format!("{}\n", escaped(entry)))
            .collect();
        private_file::write(path, &lines)
    }
}

/// Appends to a file that its owner alone can read.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // One that was there may have been opened to others.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.write_all(line.as_bytes())
}

/// A query in one line.
fn escaped(query: &str) -> String {
    query.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_come_back_from_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state").join("history");
        let mut history = History::open(Some(path.clone())).unwrap();
        for query in [
            "requests\n| count",
            "print '\\n'",
            "print '\\n'",
            " secret",
            "",
        ] {
            history.add(query).unwrap();
        }
        let history = History::open(Some(path.clone())).unwrap();
        assert_eq!(history.back(1), Some("print '\\n'"));
        assert_eq!(history.back(2), Some("requests\n| count"));
        assert_eq!(history.back(3), None);
        assert_eq!(history.search("count", 0), Some((2, "requests\n| count")));
        assert_eq!(history.search("count", 2), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
    }

    #[test]
    fn the_latest_queries_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let lines: String = (0..MOST + 5).map(|n| format!("print {n}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        let history = History::open(Some(path.clone())).unwrap();
        assert_eq!(history.back(MOST), Some("print 5"));
        assert_eq!(
            std::fs::read_to_string(&path).unwrap().lines().count(),
            MOST
        );
    }
}
