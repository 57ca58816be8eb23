//! The number and the duration of requests by route and status.

use std::collections::HashMap;
use std::sync::LazyLock;

use metrics::{Counter, Histogram};
use parking_lot::RwLock;

/// The metrics of one route and status.
#[derive(Clone)]
struct Handles {
    status: u16,
    requests: Counter,
    seconds: Histogram,
}

impl Handles {
    fn register(route: &str, status: u16) -> Handles {
        let (route, text) = (route.to_owned(), status.to_string());
        Handles {
            status,
            requests: metrics::counter!("hindsight_http_requests_total", "route" => route.clone(), "status" => text),
            seconds: metrics::histogram!("hindsight_http_request_seconds", "route" => route),
        }
    }
}

/// The metrics that were used, by route. A registration takes longer than some requests. There are as many as routes and
/// their statuses: the path of a request that no route matches is not one.
static USED: LazyLock<RwLock<HashMap<String, Vec<Handles>>>> = LazyLock::new(RwLock::default);

/// Counts a request that took this time.
pub(super) fn record(route: &str, status: u16, seconds: f64) {
    let handles = used(route, status).unwrap_or_else(|| {
        let handles = Handles::register(route, status);
        let mut all = USED.write();
        let of_route = all.entry(route.to_owned()).or_default();
        of_route.push(handles.clone());
        handles
    });
    handles.requests.increment(1);
    handles.seconds.record(seconds);
}

fn used(route: &str, status: u16) -> Option<Handles> {
    let all = USED.read();
    let mut of_route = all.get(route)?.iter();
    of_route.find(|used| used.status == status).cloned()
}
