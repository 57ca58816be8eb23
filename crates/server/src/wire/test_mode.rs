//! What the routes of test mode answer, and the line that the program prints in test mode.

use std::time::Duration;

use hindsight_kql_types::datetime;
use hindsight_store::Application;
use serde_json::{Value, json};

use crate::app::connection_string;
use crate::test_mode::Reading;

/// The clock: what it shows, in ticks, and how it is set.
pub(crate) fn clock(now: i64, reading: Reading) -> Value {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = datetime::write_full(now, &mut text);
    match reading {
        Reading::Machine => json!({ "now": text, "mode": "machine" }),
        Reading::Fixed(_) => json!({ "now": text, "mode": "fixed" }),
        Reading::Offset(ticks) => {
            json!({ "now": text, "mode": "offset", "offsetSeconds": ticks as f64 / 1e7 })
        }
    }
}

/// Nothing but that it is done.
pub(crate) fn done() -> Value {
    json!({})
}

/// The names of all snapshots.
pub(crate) fn snapshots(names: &[String]) -> Value {
    json!({ "snapshots": names })
}

/// Whether the condition holds, how long it was waited for, and the JSON of the rows.
pub(crate) fn wait(holds: bool, waited: Duration, result: &str) -> String {
    let seconds = waited.as_secs_f64();
    format!("{{\"holds\":{holds},\"waitedSeconds\":{seconds},\"result\":{result}}}")
}

/// How to reach a server in test mode.
#[derive(Debug)]
pub(crate) struct Started<'a> {
    /// The address that clients are given.
    pub(crate) base: &'a str,
    /// The address of plain HTTP.
    pub(crate) url: &'a str,
    /// The address of TLS, where there is one.
    pub(crate) tls_url: Option<&'a str>,
    /// The certificate of the local authority, where there is one.
    pub(crate) authority: Option<&'a std::path::Path>,
    /// The address of the issuer.
    pub(crate) issuer: &'a str,
    /// The application.
    pub(crate) app: &'a Application,
    /// The key that reads it.
    pub(crate) key: &'a str,
    /// The address that signs the owner of this machine in at the portal, once; `None` where the portal has none.
    pub(crate) portal: Option<&'a str>,
    /// The folder of its data; `None` for telemetry in memory.
    pub(crate) data: Option<&'a std::path::Path>,
}

/// The line that the program prints when it is ready.
pub(crate) fn started(started: &Started<'_>) -> Value {
    json!({
        "url": started.url,
        "tlsUrl": started.tls_url,
        "authority": started.authority,
        "issuer": started.issuer,
        "application": started.app.name,
        "appId": started.app.id.to_string(),
        "instrumentationKey": started.app.instrumentation_key.to_string(),
        "connectionString": connection_string(started.base, started.app),
        "apiKey": started.key,
        "portal": started.portal,
        "data": started.data,
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
    })
}
