//! What earlier imports of an application have finished: files, and hours of tables of other servers.
//!
//! The file `imports/<application>` of the data folder has a line for each, which is synced after its items are on disk. It saves work
//! and nothing else: an item that is read again is not stored again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use hindsight_store::TICKS_PER_HOUR;

use super::pages::Interval;

/// The state of one application's imports.
pub(super) struct ImportState {
    file: File,
    files: HashSet<String>,
    /// Finished hours since the year 1, by source and table.
    hours: HashMap<String, BTreeSet<i64>>,
}

impl ImportState {
    /// Opens the state in a folder, which is created if it is missing.
    pub(super) fn open(folder: &Path, app: &str) -> anyhow::Result<ImportState> {
        let cannot = || format!("cannot write {}", folder.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let path = folder.join(app);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).with_context(cannot)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // A line whose writing was interrupted says nothing.
            file.write_all(b"\n")?;
        }
        let mut state = ImportState {
            file,
            files: HashSet::new(),
            hours: HashMap::new(),
        };
        // The last part has no end of its line, or is empty.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        for line in whole.lines() {
            state.read(line);
        }
        Ok(state)
    }

    fn read(&mut self, line: &str) {
        match line.split_once(' ') {
            Some(("file", identity)) => {
                self.files.insert(identity.to_owned());
            }
            Some(("hours", rest)) => {
                let mut parts = rest.splitn(3, ' ');
                let mut number = || parts.next()?.parse::<i64>().ok();
                if let (Some(first), Some(end)) = (number(), number())
                    && let Some(source) = parts.next()
                {
                    self.hours
                        .entry(source.to_owned())
                        .or_default()
                        .extend(first..end);
                }
            }
            _ => {}
        }
    }

    /// Takes nothing for finished.
    pub(super) fn forget(&mut self) {
        self.files.clear();
        self.hours.clear();
    }

    /// The identity of a file's content; `None` if an import has finished it.
    pub(super) fn identity(&self, path: &Path) -> anyhow::Result<Option<String>> {
        let cannot = || format!("cannot read {}", path.display());
        let full = std::fs::canonicalize(path).with_context(cannot)?;
        let found = std::fs::metadata(&full).with_context(cannot)?;
        let changed = found.modified()?.duration_since(std::time::UNIX_EPOCH);
        let changed = changed.map_or(0, |time| time.as_nanos());
        let name = full.display().to_string().replace('\n', "\\n");
        let identity = format!("{} {changed} {name}", found.len());
        Ok((!self.files.contains(&identity)).then_some(identity))
    }

    /// Notes that all items of a file are on disk.
    pub(super) fn finish_file(&mut self, identity: &str) -> anyhow::Result<()> {
        self.write(&format!("file {identity}\n"))?;
        self.files.insert(identity.to_owned());
        Ok(())
    }

    /// Notes that all items of the whole hours of an interval are on disk.
    pub(super) fn finish_hours(&mut self, source: &str, interval: Interval) -> anyhow::Result<()> {
        let first = interval.from.div_euclid(TICKS_PER_HOUR)
            + i64::from(interval.from.rem_euclid(TICKS_PER_HOUR) > 0);
        let end = interval.to.div_euclid(TICKS_PER_HOUR);
        if first >= end {
            return Ok(());
        }
        self.write(&format!("hours {first} {end} {source}\n"))?;
        self.hours
            .entry(source.to_owned())
            .or_default()
            .extend(first..end);
        Ok(())
    }

    fn write(&mut self, line: &str) -> anyhow::Result<()> {
        self.file.write_all(line.as_bytes())?;
        Ok(self.file.sync_data()?)
    }

    /// The parts of an interval that are not finished, in order. They begin and end with an hour, so that an hour is finished as a whole.
    pub(super) fn open_hours(&self, source: &str, interval: Interval) -> Vec<Interval> {
        let none = BTreeSet::new();
        let done = self.hours.get(source).unwrap_or(&none);
        let first = interval.from.div_euclid(TICKS_PER_HOUR);
        let end = interval.to.saturating_sub(1).div_euclid(TICKS_PER_HOUR) + 1;
        let mut open: Vec<Interval> = Vec::new();
        for hour in (first..end).filter(|hour| !done.contains(hour)) {
            let (from, to) = (hour * TICKS_PER_HOUR, (hour + 1) * TICKS_PER_HOUR);
            match open.last_mut() {
                Some(last) if last.to == from => last.to = to,
                _ => open.push(Interval { from, to }),
            }
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = TICKS_PER_HOUR;

    #[test]
    fn finished_hours_and_files_are_known_again_and_an_interrupted_line_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let open = || ImportState::open(&folder.path().join("imports"), "app").unwrap();
        let whole = Interval {
            from: 10 * HOUR,
            to: 15 * HOUR,
        };
        let file = folder.path().join("a file");
        std::fs::write(&file, "x").unwrap();
        let mut state = open();
        assert_eq!(state.open_hours("s", whole), [whole]);
        // Half an hour at each end is not finished.
        let part = Interval {
            from: 11 * HOUR - 1,
            to: 13 * HOUR + 1,
        };
        state.finish_hours("s", part).unwrap();
        let identity = state.identity(&file).unwrap().unwrap();
        state.finish_file(&identity).unwrap();
        let path = folder.path().join("imports/app");
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "hours 13 99";
        std::fs::write(&path, text).unwrap();
        let mut state = open();
        let open_parts = [(10, 11), (13, 15)].map(|(from, to)| Interval {
            from: from * HOUR,
            to: to * HOUR,
        });
        assert_eq!(state.open_hours("s", whole), open_parts);
        assert_eq!(state.open_hours("other", whole), [whole]);
        assert_eq!(state.identity(&file).unwrap(), None);
        std::fs::write(&file, "changed").unwrap();
        assert!(state.identity(&file).unwrap().is_some());
        state.finish_hours("s", whole).unwrap();
        assert_eq!(open().open_hours("s", whole), []);
    }
}
