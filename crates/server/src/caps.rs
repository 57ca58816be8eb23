//! How much each application sent today, for daily caps (`D20`).
//!
//! The counts are kept in a small file beside the store, so that a restart does not open a spent cap again. It is written every
//! few seconds while telemetry comes in, and at the end: after a crash the last seconds may be missing from the counts.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use hindsight_store::AppId;
use parking_lot::Mutex;

/// Ticks in a day.
const DAY: i64 = 864_000_000_000;
/// The file in the data folder: the day, then an application and its bytes on each line.
const FILE: &str = "daily-use";
/// How much time passes between two writes.
const EVERY: Duration = Duration::from_secs(5);

/// Bytes by application since midnight UTC.
#[derive(Debug)]
pub(crate) struct DailyUse {
    path: PathBuf,
    state: Mutex<State>,
    /// One writer at a time.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Days since the first.
    day: i64,
    bytes: HashMap<AppId, u64>,
    /// When the file was written last.
    written: Duration,
}

impl DailyUse {
    /// The counts of the data folder `data`. A file that cannot be read counts nothing: it must not keep a server from
    /// starting.
    pub(crate) fn open(data: &std::path::Path) -> DailyUse {
        let path = data.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let state = read(&text).unwrap_or_else(|| {
            if !text.is_empty() {
                tracing::warn!(path = %path.display(), "the file of daily use is not readable; counting from zero");
            }
            State::default()
        });
        DailyUse {
            path,
            state: Mutex::new(state),
            writing: Mutex::new(()),
        }
    }

    /// Bytes of today.
    pub(crate) fn bytes(&self, app: AppId, now: i64) -> u64 {
        let state = self.state.lock();
        if state.day == now / DAY {
            state.bytes.get(&app).copied().unwrap_or(0)
        } else {
            0
        }
    }

    /// Adds what was accepted, at the time `now` and so long after the clock's beginning. Says whether it is time to
    /// [`DailyUse::save`].
    #[must_use]
    pub(crate) fn add(&self, app: AppId, bytes: u64, now: i64, elapsed: Duration) -> bool {
        let mut state = self.state.lock();
        if state.day != now / DAY {
            state.day = now / DAY;
            state.bytes.clear();
        }
        let used = state.bytes.entry(app).or_default();
        *used = used.saturating_add(bytes);
        let due = elapsed.saturating_sub(state.written) >= EVERY;
        if due {
            state.written = elapsed;
        }
        due
    }

    /// Forgets the bytes of one application, or of all.
    pub(crate) fn forget(&self, app: Option<AppId>) {
        let mut state = self.state.lock();
        match app {
            Some(app) => drop(state.bytes.remove(&app)),
            None => state.bytes.clear(),
        }
    }

    /// Writes the counts.
    pub(crate) fn save(&self) {
        let _one = self.writing.lock();
        let text = text(&self.state.lock());
        let new = self.path.with_extension("new");
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &self.path));
        if let Err(error) = written {
            tracing::warn!(%error, path = %self.path.display(), "the daily use cannot be written");
        }
    }
}

fn text(state: &State) -> String {
    let mut lines = vec![state.day.to_string()];
    lines.extend(
        state
            .bytes
            .iter()
            .map(|(app, bytes)| format!("{app} {bytes}")),
    );
    lines.join("\n") + "\n"
}

fn read(text: &str) -> Option<State> {
    let mut lines = text.lines();
    let day = lines.next()?.parse().ok()?;
    let app = |line: &str| {
        let (app, bytes) = line.split_once(' ')?;
        Some((app.parse().ok()?, bytes.parse().ok()?))
    };
    Some(State {
        day,
        bytes: lines.map(app).collect::<Option<_>>()?,
        written: Duration::ZERO,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_day_begins_at_zero() {
        let folder = tempfile::tempdir().unwrap();
        let (used, app) = (DailyUse::open(folder.path()), AppId(uuid::Uuid::nil()));
        let _ = used.add(app, 5, DAY, Duration::ZERO);
        let _ = used.add(app, 5, DAY + 1, Duration::ZERO);
        assert_eq!(used.bytes(app, 2 * DAY - 1), 10);
        assert_eq!(used.bytes(app, 2 * DAY), 0);
    }

    #[test]
    fn a_restart_goes_on_counting() {
        let folder = tempfile::tempdir().unwrap();
        let app = AppId(uuid::Uuid::from_u128(7));
        let used = DailyUse::open(folder.path());
        assert!(!used.add(app, 5, DAY, Duration::from_secs(1)));
        assert!(used.add(app, 5, DAY, Duration::from_secs(6)));
        assert!(!used.add(app, 5, DAY, Duration::from_secs(7)));
        used.save();
        let again = DailyUse::open(folder.path());
        assert_eq!(again.bytes(app, DAY), 15);
        assert_eq!(again.bytes(app, 2 * DAY), 0);
        std::fs::write(folder.path().join(FILE), "nonsense").unwrap();
        assert_eq!(DailyUse::open(folder.path()).bytes(app, DAY), 0);
    }
}
