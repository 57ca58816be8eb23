//! The table of settings: each is one entry. The field, the TOML key, the environment variable and the documentation follow
//! from it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use hindsight_identity::issuer::Implicit;
use hindsight_identity::{TrustedIssuer, parse_trusted};
use hindsight_objects::Address;
use hindsight_otlp::ResourceDimensions;
use hindsight_store::{CataloguePlace, NodeRole, Replicas, Tier};
use uuid::Uuid;

use super::values::{
    Listen, address, bytes, choice, duration, list, listen, number, optional, optional_path,
    optional_string, path, positive, resource_dimensions, size, string, yes_or_no,
};
use crate::nodes::NodeSecret;
use crate::proxies::TrustedProxies;
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

    /// A value as it may be shown: no secret, and a URL without its password.
    pub(super) fn shown(&self, text: &str) -> String {
        if self.key == "node.secret" && !text.trim().is_empty() {
            return "***".to_owned();
        }
        let parts = text.split_once("://").and_then(|(scheme, rest)| {
            let (account, rest) = rest.rsplit_once('@')?;
            let (user, _) = account.split_once(':')?;
            Some((scheme, user, rest))
        });
        match parts {
            Some((scheme, user, rest)) => format!("{scheme}://{user}:***@{rest}"),
            None => text.to_owned(),
        }
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
    "Data folder.";

    "listen" = "127.0.0.1:2020" => listen: String, string,
    "Address and port for HTTP, and for TLS if there is a certificate. Port 0 selects a free port.";

    "public_url" = "" => public_url: String, address,
    "Base URL given to clients, such as https://telemetry.example. Empty: the address of a request in its reply; in connection strings the address of TLS, or that of `listen`.";

    "log.filter" = "info" => log_filter: String, string,
    "Log filter, such as `info` or `hindsight=debug,warn`.";

    "log.format" = "text" => log_json: bool, |text: &str| choice(text, &[("text", false), ("json", true)]),
    "Log format: `text` or `json`.";

    "cache.lifetime" = "120s" => cache_lifetime: Duration, duration,
    "Maximum age of a cached reply.";

    "cache.stale" = "5s" => cache_stale: Duration, duration,
    "Maximum age of a cached reply if telemetry has arrived since then in a table that the reply has read.";

    "cache.bytes" = "128MiB" => cache_bytes: u64, bytes,
    "Memory limit of the reply cache.";

    "cache.max_reply_bytes" = "4MiB" => cache_max_reply_bytes: usize, size,
    "Largest query reply that is buffered and cached. A larger reply is streamed while it is computed.";

    "query.timeout" = "180s" => query_timeout: Duration, duration,
    "Query timeout if the client requests none.";

    "query.max_wait" = "600s" => query_max_wait: Duration, duration,
    "Longest query timeout that a client can request with `Prefer: wait=`.";

    "query.max_rows" = "500000" => query_max_rows: u64, number,
    "Maximum rows of a result. Further rows are cut, and the reply reports a partial error.";

    "query.max_bytes" = "64000000" => query_max_bytes: u64, bytes,
    "Maximum bytes of a result. Further rows are cut, and the reply reports a partial error.";

    "query.max_body_bytes" = "2MiB" => query_max_body_bytes: usize, size,
    "Maximum bytes of the body of a query request.";

    "query.memory" = "2GiB" => query_memory: u64, bytes,
    "Memory limit of all running queries together.";

    "query.max_applications" = "100" => query_max_applications: usize, number,
    "Maximum applications of one query.";

    "query.group_by_codes" = "true" => query_group_by_codes: bool, yes_or_no,
    "Whether `summarize` groups rows by the codes of texts that `store.column_cache` holds. Answers are the same without it.";

    "query.keep_plans" = "true" => query_keep_plans: bool, yes_or_no,
    "Whether the plans of queries are kept for later requests of the same text. Answers are the same without it.";

    "query.distribute_bytes" = "256MiB" => query_distribute_bytes: u64, bytes,
    "Bytes of segments from which on a part of a query runs at all nodes of a cluster that run queries, estimated from the sizes of the segments and the columns that are read. 0: always.";

    "geo.database" = "" => geo_database: Option<PathBuf>, optional_path,
    "File of MaxMind's format, such as GeoLite2-City.mmdb, in which `geo_info_from_ip_address` looks addresses up. It is read into memory at the start. Empty: every address is unknown, and replies say so.";

    "query.concurrency" = "5" => query_concurrency: usize, positive,
    "Maximum running queries of one principal. Further queries wait.";

    "query.rate" = "200" => query_rate: usize, positive,
    "Maximum queries that one principal starts within `query.rate_window`. Further queries wait.";

    "query.rate_window" = "30s" => query_rate_window: Duration, duration,
    "Length of the window that `query.rate` counts in.";

    "query.queue" = "200" => query_queue: usize, number,
    "Maximum waiting queries of one principal. Further queries are refused with 429.";

    "query.queue_time" = "3m" => query_queue_time: Duration, duration,
    "Longest time that a query waits. It is then refused with 429.";

    "ingest.max_body_bytes" = "16MiB" => ingest_max_body_bytes: usize, size,
    "Maximum bytes of the body of an ingestion request, as sent.";

    "ingest.max_decompressed_bytes" = "64MiB" => ingest_max_decompressed_bytes: usize, size,
    "Maximum bytes of the body of an ingestion request after decompression.";

    "ingest.max_items" = "64000" => ingest_max_items: usize, number,
    "Maximum items of an ingestion request.";

    "ingest.max_item_bytes" = "65536" => ingest_max_item_bytes: usize, size,
    "Maximum bytes of the JSON of one item.";

    "ingest.max_age" = "" => ingest_max_age: Option<Duration>, |text: &str| optional(text, duration),
    "Maximum age of an item; an older one is refused. The cloud has 48h. Empty: `retention.age`.";

    "ingest.max_ahead" = "10m" => ingest_max_ahead: Duration, duration,
    "How far the time of an item may lie in the future. An item further ahead is refused.";

    "otlp.http_listen" = "auto" => otlp_http_listen: Listen, listen,
    "Address and port for OpenTelemetry over HTTP, beside `listen`, which takes it too. `auto`: port 4318 of the address of `listen`, unless that selects a free port; empty: none. The server starts without it if the port is taken.";

    "otlp.grpc_listen" = "auto" => otlp_grpc_listen: Listen, listen,
    "The same for OpenTelemetry over gRPC. `auto`: port 4317.";

    "otlp.application" = "" => otlp_application: Option<String>, optional_string,
    "Name or id of the application that takes OpenTelemetry data which names none: by an API key, by an instrumentation key in a header or in the URL, or by an attribute of a resource. Empty: such data are refused.";

    "otlp.keep_semantic_attributes" = "false" => otlp_keep_semantic_attributes: bool, yes_or_no,
    "Whether the attributes that fill columns, such as `http.route`, are custom dimensions as well, as the exporter of the OpenTelemetry Collector has it.";

    "otlp.resource_dimensions" = "none" => otlp_resource_dimensions: ResourceDimensions, resource_dimensions,
    "Attributes of a resource that are custom dimensions of each of its items: `none`, `all`, or a list of names separated by commas.";

    "otlp.max_series" = "100000" => otlp_max_series: usize, positive,
    "Maximum cumulative series of metrics of one application, each of about 100 bytes of memory. Points of further series are refused. Senders with delta temporality need none.";

    "otlp.series_idle" = "24h" => otlp_series_idle: Duration, duration,
    "How long a cumulative series is remembered that is not sent.";

    "ingest.concurrency" = "16" => ingest_concurrency: usize, positive,
    "Maximum ingestion requests of one application that are decoded and stored at once. Further requests wait. Requests without a known instrumentation key count as those of one application.";

    "ingest.queue" = "200" => ingest_queue: usize, number,
    "Maximum waiting ingestion requests of one application. Further requests are refused with 503.";

    "ingest.queue_time" = "2s" => ingest_queue_time: Duration, duration,
    "Longest time that an ingestion request waits. It is then refused with 503.";

    "metrics.leaf" = "spec" => metric_leaf: LeafForm, |text: &str| choice(text, &[("spec", LeafForm::Flat), ("object", LeafForm::Object)]),
    "Form of the innermost elements of segmented metrics: `spec` (flat, dimension values typed) or `object` (as the cloud replies: the values of a metric in an object, dimension values as strings). A client overrides it with `Prefer: ai.metric-leaf=`.";

    "prometheus.access" = "local" => prometheus_access: FiguresAccess, figures_access,
    "Who may read `/metrics`: `local` (from this machine; a reverse proxy on this machine must be named in `http.trusted_proxies`), `credential` (with any valid API key or token) or `everyone`.";

    "apps.minimum_tier" = "basic" => minimum_tier: Tier, tier,
    "Lowest pricing tier that may use metrics, events and queries: `free`, `basic` or `enterprise`. An application of a lower tier gets 402.";

    "store.catalogue" = "" => catalogue: CataloguePlace, catalogue,
    "Where the catalogue is: empty for a file of SQLite in the data folder, or a database of PostgreSQL, `postgres://user:password@host:port/database`. See cluster.md.";

    "node.role" = "all" => node_role: NodeRole, node_role,
    "What this node of a catalogue in PostgreSQL does: `ingest` (takes telemetry), `query` (runs queries), `maintain` (merges and expires segments) or `all`. Requests for anything else get 503.";

    "node.name" = "" => node_name: String, string,
    "Name of this node in messages and in `hindsight cluster status`. Empty: its id, which the data folder keeps.";

    "node.address" = "" => node_address: String, address,
    "Base URL at which other nodes reach this one, such as http://10.0.0.5:2020: they read the items that it has not sealed yet. It needs a secret. Empty: none; a node that takes telemetry is then the only one of its catalogue.";

    "node.secret" = "" => node_secret: Option<NodeSecret>, NodeSecret::parse,
    "Secret that all nodes of a catalogue share, of at least 16 characters. It belongs in the environment or in `node.secret_file`.";

    "node.secret_file" = "" => node_secret_file: Option<PathBuf>, optional_path,
    "File with the secret of nodes, in place of `node.secret`.";

    "store.replicas" = "auto" => store_replicas: Replicas, |text: &str| choice(text, &[("auto", Replicas::Auto), ("0", Replicas::None), ("1", Replicas::One)]),
    "How many other nodes have a copy of the log before telemetry is acknowledged, so that a node whose disk is lost loses nothing. `auto`: one, as long as another node that takes telemetry runs. `1`: one, and telemetry is refused with 503 while no other node has it. `0`: none. A server that shares its catalogue with no other node has no copy. See cluster.md.";

    "store.objects" = "" => store_objects: Option<Address>, |text: &str| optional(text, objects),
    "Where segments are: empty for the data folder, a bucket of S3 or of a service with its interface, `s3://bucket/prefix`, a container of Azure Blob Storage, `az://container/prefix`, a bucket of Google Cloud Storage, `gs://bucket/prefix`, or a folder that several machines share, `file:///folder`. With a catalogue in PostgreSQL, several nodes may share them. Credentials and the address of the service are those of the environment (`AWS_ACCESS_KEY_ID`, `AZURE_STORAGE_ACCOUNT_NAME`, `GOOGLE_APPLICATION_CREDENTIALS`, …). See cluster.md.";

    "store.segment_cache" = "16GiB" => store_segment_cache: u64, bytes,
    "With `store.objects`: bytes of segments that are kept in the data folder as a cache. Segments that are being read come on top.";

    "store.orphan_age" = "7d" => store_orphan_age: Duration, duration,
    "With `store.objects`: age from which on objects that no catalogue lists are deleted, such as those of an interrupted merge.";

    "store.memory" = "1GiB" => store_memory: usize, size,
    "Memory limit of items that are not yet in segments. A quarter of it triggers a flush. One application may use three times what is free, so three quarters if it is alone; beyond it its telemetry is refused with 503. Freed memory goes back to the system after ten seconds, and at once while the process has more than the caches, a quarter of this and 128 MiB.";

    "store.footer_cache" = "128MiB" => store_footer_cache: usize, size,
    "Memory limit of the cached footers of segments; an eighth of it keeps blocks of the filters that look-ups and searches for terms read.";

    "store.text_index" = "true" => store_text_index: bool, yes_or_no,
    "Whether segments get an index of the terms of messages, and queries use it: `has` and the other text operators then read only the parts of a segment that may match. Answers are the same without it.";

    "store.value_index" = "true" => store_value_index: bool, yes_or_no,
    "Whether segments get an index of the values of `id`, `operation_Id` and `itemId`, and queries use it: to look records up by them then reads a page of the column and not a row group. Answers are the same without it.";

    "store.column_cache" = "256MiB" => store_column_cache: usize, size,
    "Memory limit of the cached columns of segments, decoded as queries read them; an eighth of it remembers which rows meet conditions over large texts. `0` keeps none: queries then decode columns each time.";

    "store.compaction_interval" = "1m" => compaction_interval: Duration, duration,
    "How often small segments are merged into larger ones.";

    "retention.age" = "90d" => retention: Duration, duration,
    "How long items are kept.";

    "retention.bytes" = "" => retention_bytes: Option<u64>, |text: &str| optional(text, bytes),
    "Maximum bytes of one application. Beyond it the oldest items expire. Empty: no limit.";

    "retention.interval" = "10m" => retention_interval: Duration, duration,
    "How often items past their retention are looked for.";

    "retention.grace" = "1d" => retention_grace: Duration, duration,
    "How long the files of expired items are kept in the folder `expired` before they are deleted. `hindsight retention restore` brings them back.";

    "retention.max_clock_jump" = "7d" => max_clock_jump: Duration, duration,
    "How far the clock may be ahead of the latest trusted time, as after a time out of operation. Beyond it nothing expires until `hindsight retention confirm`.";

    "http.max_connections" = "4096" => max_connections: usize, positive,
    "Maximum connections of each listener, and at most a quarter of the files that the process may open. Beyond it the connections that have waited longest for their clients are closed: idle ones first, then those whose request bodies do not arrive, then those whose replies are not read. `/health` and `/ready` are answered all the same.";

    "http.max_connections_per_address" = "1024" => max_connections_per_address: usize, positive,
    "Maximum connections of one address (of IPv6: one /64 network) at each listener. Beyond it its longest idle connections are closed.";

    "http.body_memory" = "512MiB" => body_memory: usize, size,
    "Memory limit of all request bodies together, with what is decompressed and decoded from them: an eighth for bodies that are arriving, an eighth for telemetry that waits, an eighth for queries, five eighths for telemetry that is decoded and stored. Of each part one application or principal has at most half while it has more than one request. Beyond it requests are refused with 503.";

    "http.max_bodies_per_address" = "1024" => max_bodies_per_address: usize, positive,
    "Maximum request bodies of one address (of IPv6: one /64 network) that are arriving. Beyond it the one that has been arriving longest is refused with 503.";

    "http.trusted_proxies" = "" => trusted_proxies: TrustedProxies, TrustedProxies::parse,
    "Addresses and networks of reverse proxies, such as `10.0.0.0/8, ::1`. From these peers alone the client's address, scheme and host are taken from `Forwarded` or `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`, and they may have any number of connections.";

    "http.header_timeout" = "15s" => header_timeout: Duration, duration,
    "Longest time for the request line and headers to arrive, counted from the connection's start or the previous request. The connection is then closed.";

    "http.write_timeout" = "60s" => write_timeout: Duration, duration,
    "Longest time that a client reads nothing of a reply. The connection is then closed and its query cancelled.";

    "http.body_timeout" = "60s" => body_timeout: Duration, duration,
    "Longest time for a request body to arrive. The request is then answered with 408.";

    "shutdown.timeout" = "10s" => shutdown_timeout: Duration, duration,
    "Longest time that a shutdown waits for open requests.";

    "tls.listen" = "" => tls_listen: Option<String>, optional_string,
    "Further address and port, for TLS alone. Empty: none; `listen` takes TLS and plain HTTP if there is a certificate.";

    "tls.certificate" = "" => tls_certificate: Option<PathBuf>, optional_path,
    "PEM file with the certificate and its chain.";

    "tls.key" = "" => tls_key: Option<PathBuf>, optional_path,
    "PEM file with the private key of the certificate.";

    "tls.reload" = "10s" => tls_reload: Duration, duration,
    "How often both PEM files are checked for a renewed certificate, which new connections then use. `0s`: never.";

    "tls.dev" = "false" => tls_dev: bool, yes_or_no,
    "Create a local certificate authority and a certificate for this machine in the data folder, and serve TLS with them.";

    "auth.url" = "" => auth_url: String, address,
    "Base URL of the embedded OAuth issuer, such as https://login.example. Empty: `public_url`, or the address of a request, or that of TLS for a request without it.";

    "auth.tenant" = "" => auth_tenant: Option<Uuid>, tenant,
    "Tenant id (a UUID) in the issuer's URLs. Empty: generated at the first start and kept.";

    "auth.audiences" = "https://api.applicationinsights.io,https://api.loganalytics.io,https://monitor.azure.com" => auth_audiences: Vec<String>, list,
    "Accepted audiences of tokens (`resource`, `aud`) beside the server's own URLs.";

    "auth.implicit" = "loopback" => auth_implicit: Implicit, implicit,
    "Where the implicit flow (`response_type=token`) is offered: `off`, `loopback` (only to redirect URIs on the loopback interface) or `on`.";

    "auth.trusted_issuers" = "" => auth_trusted_issuers: String, trusted_issuers,
    "Other issuers whose tokens are accepted, separated by `;`: `https://idp.example/t audience=… tenant=… applications=shop,web rights=read`.";

    "auth.allow_local_issuers" = "false" => auth_allow_local_issuers: bool, yes_or_no,
    "Allow trusted issuers on this machine and its network, and plain http for them. For tests and development.";

    "auth.failures_per_minute" = "100" => auth_failures_per_minute: u32, number,
    "Maximum wrong credentials from one address within a minute. Further requests get 429.";

    "auth.failed_sign_ins" = "10" => auth_failed_sign_ins: u32, number,
    "Maximum wrong passwords for one user name from one address, and wrong secrets of one client from one address, within five minutes. Ten times as many are allowed for one name or one address, and a hundred times as many in total; addresses where the name signed in within 30 days are exempt from these. Further attempts get 429.";

    "portal.enabled" = "true" => portal_enabled: bool, yes_or_no,
    "Serve the portal: the pages at `/portal/` and `/docs`, and the endpoints below `/portal/api/`.";

    "portal.sign_in" = "true" => portal_sign_in: bool, yes_or_no,
    "Let the owner of this machine sign in to the portal with the link that `hindsight serve` and `hindsight portal` print: good once, for ten minutes, from this machine.";

    "portal.folder" = "" => portal_folder: Option<PathBuf>, optional_path,
    "Folder from which the portal's files are served, for who develops them. Empty: those in the program.";

    "ingest.require_credential" = "false" => ingest_require_credential: bool, yes_or_no,
    "Require an API key or token with the right `ingest` beside the instrumentation key.";
}

/// Who may read `/metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FiguresAccess {
    /// Requests from this machine.
    Local,
    /// Requests with a valid credential.
    Credential,
    /// All requests.
    Everyone,
}

/// Bytes of the program file, and of what small requests and queries take.
const BESIDE: u64 = 128 << 20;

impl Settings {
    /// The bytes of memory of the process from which on freed memory is not kept: what the caches and a memtable that is flushed take, and
    /// [`BESIDE`].
    pub(crate) fn purge_above(&self) -> u64 {
        let caches = self
            .store_column_cache
            .saturating_add(self.store_footer_cache);
        let kept = caches.saturating_add(self.store_memory / 4);
        (kept as u64).saturating_add(BESIDE)
    }

    /// The other issuers whose tokens are accepted.
    pub(crate) fn trusted_issuers(&self) -> anyhow::Result<Vec<TrustedIssuer>> {
        parse_trusted(&self.auth_trusted_issuers, &self.auth_audiences).map_err(anyhow::Error::msg)
    }
}

fn objects(text: &str) -> anyhow::Result<Address> {
    Ok(text.parse()?)
}

fn catalogue(text: &str) -> anyhow::Result<CataloguePlace> {
    Ok(text.parse()?)
}

fn node_role(text: &str) -> anyhow::Result<NodeRole> {
    NodeRole::parse(text).context("expected `all`, `ingest`, `query` or `maintain`")
}

fn tier(text: &str) -> anyhow::Result<Tier> {
    Tier::parse(text).context("expected `free`, `basic` or `enterprise`")
}

fn figures_access(text: &str) -> anyhow::Result<FiguresAccess> {
    let choices = [
        ("local", FiguresAccess::Local),
        ("credential", FiguresAccess::Credential),
        ("everyone", FiguresAccess::Everyone),
    ];
    choice(text, &choices)
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
