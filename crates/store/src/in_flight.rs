//! The memory of requests that are being stored. Their rows are not in the memtable yet, so the room that they take would be given twice.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::app_id::AppId;

/// Bytes of requests that are being stored.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: Mutex<Requests>,
}

#[derive(Debug, Default)]
struct Requests {
    bytes: usize,
    apps: HashMap<AppId, usize>,
}

/// The reservation of a request; dropping it releases the memory.
#[derive(Debug)]
pub(crate) struct Reserved<'f> {
    in_flight: &'f InFlight,
    app: AppId,
    bytes: usize,
}

impl InFlight {
    /// Reserves `bytes` for a request of `app`, if `has_room` says so of the bytes that all requests and those of `app` have reserved before it.
    pub(crate) fn reserve(
        &self,
        app: AppId,
        bytes: usize,
        has_room: impl FnOnce(usize, usize) -> bool,
    ) -> Option<Reserved<'_>> {
        let mut requests = self.requests.lock();
        let own = requests.apps.get(&app).copied().unwrap_or_default();
        if !has_room(requests.bytes, own) {
            return None;
        }
        requests.bytes += bytes;
        *requests.apps.entry(app).or_default() += bytes;
        Some(Reserved {
            in_flight: self,
            app,
            bytes,
        })
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut requests = self.in_flight.requests.lock();
        requests.bytes = requests.bytes.saturating_sub(self.bytes);
        if let Some(own) = requests.apps.get_mut(&self.app) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                requests.apps.remove(&self.app);
            }
        }
    }
}
