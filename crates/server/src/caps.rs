//! How much each application sent today, for daily caps (`D20`).

use std::collections::HashMap;

use hindsight_store::AppId;
use parking_lot::Mutex;

/// Ticks in a day.
const DAY: i64 = 864_000_000_000;

/// Bytes by application since midnight UTC. A restart forgets them.
#[derive(Debug, Default)]
pub(crate) struct DailyUse(Mutex<(i64, HashMap<AppId, u64>)>);

impl DailyUse {
    /// Bytes of today.
    pub(crate) fn bytes(&self, app: AppId, now: i64) -> u64 {
        let state = self.0.lock();
        if state.0 == now / DAY {
            state.1.get(&app).copied().unwrap_or(0)
        } else {
            0
        }
    }

    /// Adds what was accepted.
    pub(crate) fn add(&self, app: AppId, bytes: u64, now: i64) {
        let mut state = self.0.lock();
        if state.0 != now / DAY {
            *state = (now / DAY, HashMap::new());
        }
        let used = state.1.entry(app).or_default();
        *used = used.saturating_add(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_day_begins_at_zero() {
        let (used, app) = (DailyUse::default(), AppId(uuid::Uuid::nil()));
        used.add(app, 5, DAY);
        used.add(app, 5, DAY + 1);
        assert_eq!(used.bytes(app, 2 * DAY - 1), 10);
        assert_eq!(used.bytes(app, 2 * DAY), 0);
    }
}
