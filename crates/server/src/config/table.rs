//! The table of settings: each is one entry. The field, the TOML key, the environment variable and the documentation follow
//! from it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use hindsight_identity::issuer::Implicit;
use hindsight_identity::{TrustedIssuer, parse_trusted};
use hindsight_store::Tier;
use uuid::Uuid;

use super::values::{
    address, bytes, choice, duration, list, number, optional, optional_path, optional_string, path,
    positive, size, string, yes_or_no,
};
use crate::wire::metrics::LeafForm;

/// One setting.
pub(crate) struct Setting {
    /// The key in the file, such as `query.timeout`; the environment variable follows from it.
    pub(crate) key: &'static str,
    /// The default as it would be written.
    pub(crate) default: &'static str,
    /// What it does.
    pub(crate) help: &'static str,
    /// Reads a value's text into the setting's field.
    pub(super) set: fn(&mut Settings, &str) -> anyhow::Result<()>,
}

impl Setting {
    /// `HINDSIGHT_QUERY_TIMEOUT`
    pub(crate) fn variable(&self) -> String {
        format!(
            "HINDSIGHT_{}",
            self.key.replace('.', "_").to_ascii_uppercase()
        )
    }
}

/// Each entry: key and default as they are written in a file, the field with its type, what reads a value's text, and what the
/// setting does.
macro_rules! settings {
    ($($key:literal = $default:literal => $field:ident: $type:ty, $read:expr, $help:literal;)*) => {
        /// Everything that can be set.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $(#[doc = $help] pub(crate) $field: $type,)*
        }

        impl Settings {
            /// The defaults.
            pub(crate) fn defaults() -> anyhow::Result<Settings> {
                Ok(Settings {
                    $($field: ($read)($default).context(concat!("default of ", $key))?,)*
                })
            }
        }

        /// Every setting, in the order of the documentation.
        pub(super) const SETTINGS: &[Setting] = &[
            $(Setting {
                key: $key,
                default: $default,
                help: $help,
                set: |settings, text| {
                    settings.$field = ($read)(text)?;
                    Ok(())
                },
            },)*
        ];
    };
}

settings! {
    "data" = "./hindsight-data" => data: PathBuf, path,
    "The data folder.";

    "listen" = "127.0.0.1:2020" => listen: String, string,
    "Address and port of the server; port 0 takes a free one.";

    "public_url" = "" => public_url: String, address,
    "The address that clients are told, such as https://telemetry.example; empty: from `listen`.";

    "log.filter" = "info" => log_filter: String, string,
    "Which log lines are written, as `info` or `hindsight=debug,warn`.";

    "log.format" = "text" => log_json: bool, |text: &str| choice(text, &[("text", false), ("json", true)]),
    "`text` or `json`.";

    "cache.lifetime" = "120s" => cache_lifetime: Duration, duration,
    "How long an answer may be served from the cache (D18).";

    "cache.bytes" = "128MiB" => cache_bytes: u64, bytes,
    "Memory of the cache.";

    "cache.max_reply_bytes" = "4MiB" => cache_max_reply_bytes: usize, size,
    "Bytes of a query's reply that are held back and, if that is all of it, kept in the cache; a larger reply is sent while it is made.";

    "query.timeout" = "180s" => query_timeout: Duration, duration,
    "How long a query may run where the client says nothing (D19).";

    "query.max_wait" = "600s" => query_max_wait: Duration, duration,
    "How long a query may run at most where the client asks with `Prefer: wait=` (D19).";

    "query.max_rows" = "500000" => query_max_rows: u64, number,
    "Rows of a result; more are cut, and the reply says so (D19).";

    "query.max_bytes" = "64000000" => query_max_bytes: u64, bytes,
    "Bytes of a result; more are cut, and the reply says so (D19).";

    "query.max_body_bytes" = "2MiB" => query_max_body_bytes: usize, size,
    "Bytes of a query request's body.";

    "query.memory" = "2GiB" => query_memory: u64, bytes,
    "Memory of all running queries together.";

    "query.max_applications" = "100" => query_max_applications: usize, number,
    "Applications in one query (D19).";

    "query.concurrency" = "5" => query_concurrency: usize, positive,
    "Queries of one principal that run at once (D19).";

    "query.rate" = "200" => query_rate: usize, positive,
    "Queries of one principal that begin within `query.rate_window`; more wait (D19).";

    "query.rate_window" = "30s" => query_rate_window: Duration, duration,
    "The time in which `query.rate` counts (D19).";

    "query.queue" = "200" => query_queue: usize, number,
    "Queries of one principal that may wait; more are refused with 429 (D19).";

    "query.queue_time" = "3m" => query_queue_time: Duration, duration,
    "How long a query may wait before it is refused with 429 (D19).";

    "ingest.max_body_bytes" = "16MiB" => ingest_max_body_bytes: usize, size,
    "Bytes of an ingestion request as it is sent.";

    "ingest.max_decompressed_bytes" = "64MiB" => ingest_max_decompressed_bytes: usize, size,
    "Bytes of an ingestion request after decompression.";

    "ingest.max_items" = "64000" => ingest_max_items: usize, number,
    "Items of an ingestion request.";

    "ingest.max_item_bytes" = "65536" => ingest_max_item_bytes: usize, size,
    "Bytes of one item's JSON.";

    "ingest.max_age" = "" => ingest_max_age: Option<Duration>, |text: &str| optional(text, duration),
    "How old an item may be, such as 48h as in the cloud; empty: the retention (D25).";

    "ingest.max_ahead" = "10m" => ingest_max_ahead: Duration, duration,
    "How far ahead of now an item may be (D25).";

    "ingest.concurrency" = "16" => ingest_concurrency: usize, positive,
    "Ingestion requests that are worked on at once; bounds their memory.";

    "metrics.leaf" = "spec" => metric_leaf: LeafForm, |text: &str| choice(text, &[("spec", LeafForm::Flat), ("object", LeafForm::Object)]),
    "How segment leaves look by default: `spec` or `object` (D2).";

    "apps.minimum_tier" = "basic" => minimum_tier: Tier, tier,
    "The pricing tier that operations need: `free`, `basic` or `enterprise` (D20).";

    "retention.age" = "90d" => retention: Duration, duration,
    "How long items are kept.";

    "retention.bytes" = "" => retention_bytes: Option<u64>, |text: &str| optional(text, bytes),
    "Bytes of one application above which its oldest items are deleted; empty: no limit.";

    "http.max_connections" = "4096" => max_connections: usize, positive,
    "Connections at once, of each listener; when there are more, those that have been idle longest are closed. Never more than a quarter of the files that the process may open.";

    "http.header_timeout" = "15s" => header_timeout: Duration, duration,
    "How long a request's line and headers may take to arrive, also after the request before; then the connection ends.";

    "http.write_timeout" = "60s" => write_timeout: Duration, duration,
    "How long a client may take nothing of its reply; then the connection ends, and the query with it.";

    "http.body_timeout" = "60s" => body_timeout: Duration, duration,
    "How long a request's body may take to arrive; slower ones end with 408.";

    "shutdown.timeout" = "10s" => shutdown_timeout: Duration, duration,
    "How long a stop waits for open requests.";

    "tls.listen" = "" => tls_listen: Option<String>, optional_string,
    "Address and port of the server for TLS, beside `listen`; empty: none, or 127.0.0.1:2021 with `tls.dev`.";

    "tls.certificate" = "" => tls_certificate: Option<PathBuf>, optional_path,
    "File with the certificate and its chain, as PEM.";

    "tls.key" = "" => tls_key: Option<PathBuf>, optional_path,
    "File with the certificate's private key, as PEM.";

    "tls.reload" = "10s" => tls_reload: Duration, duration,
    "How often these two files are looked at; a renewed certificate is taken up for new connections. `0s`: never.";

    "tls.dev" = "false" => tls_dev: bool, yes_or_no,
    "Make a local authority and a certificate for this machine in the data folder, and use them.";

    "auth.url" = "" => auth_url: String, address,
    "The embedded issuer's address, such as https://login.example; empty: `public_url`, or where the server listens, TLS first.";

    "auth.tenant" = "" => auth_tenant: Option<Uuid>, tenant,
    "The tenant's id, a UUID, in the issuer's addresses; empty: one is made once and kept.";

    "auth.audiences" = "https://api.applicationinsights.io,https://api.loganalytics.io,https://monitor.azure.com" => auth_audiences: Vec<String>, list,
    "What tokens may be for (`resource`, `aud`), beside this server's own addresses.";

    "auth.implicit" = "loopback" => auth_implicit: Implicit, implicit,
    "Where `response_type=token` is offered: `off`, `loopback` (redirect addresses of the browser's machine) or `on` (D24).";

    "auth.trusted_issuers" = "" => auth_trusted_issuers: String, trusted_issuers,
    "Other issuers whose tokens are accepted, with `;` between: `https://idp.example/t audience=… tenant=… applications=shop,web rights=read`.";

    "auth.allow_local_issuers" = "false" => auth_allow_local_issuers: bool, yes_or_no,
    "Whether trusted issuers may be on this machine or its network, also over http: for tests and development.";

    "auth.failures_per_minute" = "100" => auth_failures_per_minute: u32, number,
    "Wrong credentials of one address in a minute; more are answered with 429.";

    "auth.failed_sign_ins" = "10" => auth_failed_sign_ins: u32, number,
    "Wrong passwords of one name or address, and wrong secrets of clients of one address, in five minutes; more are answered with 429.";

    "ingest.require_credential" = "false" => ingest_require_credential: bool, yes_or_no,
    "Whether telemetry needs a key or token with the right `ingest` beside the instrumentation key.";
}

impl Settings {
    /// The other issuers whose tokens are accepted.
    pub(crate) fn trusted_issuers(&self) -> anyhow::Result<Vec<TrustedIssuer>> {
        parse_trusted(&self.auth_trusted_issuers, &self.auth_audiences).map_err(anyhow::Error::msg)
    }
}

fn tier(text: &str) -> anyhow::Result<Tier> {
    Tier::parse(text).context("expected `free`, `basic` or `enterprise`")
}

fn tenant(text: &str) -> anyhow::Result<Option<Uuid>> {
    optional(text, |text: &str| {
        Uuid::parse_str(text.trim()).context("expected a UUID")
    })
}

fn implicit(text: &str) -> anyhow::Result<Implicit> {
    let choices = [
        ("off", Implicit::Off),
        ("loopback", Implicit::Loopback),
        ("on", Implicit::On),
    ];
    choice(text, &choices)
}

/// Checked here and kept as text: the audiences of issuers that name none are another setting.
fn trusted_issuers(text: &str) -> anyhow::Result<String> {
    parse_trusted(text, &[]).map_err(anyhow::Error::msg)?;
    Ok(text.to_owned())
}
