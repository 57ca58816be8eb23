//! The program's parts put together once: `main` and tests build the same [`App`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use hindsight_engine::QueryEngine;
use hindsight_identity::issuer::{Issuer, IssuerSettings};
use hindsight_identity::{Right, Rights, Verifier, api_key, secret};
use hindsight_kql_types::ticks::to_unix_millis;
use hindsight_store::{
    AppId, Application, Clock, NewApplication, NewKey, NodeConfig, Store, StoreConfig, StoreError,
};
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::auth::Gate;
use crate::bodies::{BodyLimits, BodyMemory};
use crate::caps::DailyUse;
use crate::config::Settings;
use crate::directory::Directory;
use crate::intake::series::AllSeries;
use crate::live::LiveMetrics;
use crate::nodes::{ClusterNodes, GrpcNodes, NodeSecret};
use crate::reply::ReplyCache;
use crate::shutdown::Shutdown;
use crate::test_mode::TestMode;
use crate::throttle::{Limits, Rate, Throttle};

/// The file that lets the command line of this machine talk to the server that holds a folder.
const TOKEN_FILE: &str = "server-token";

/// Everything that a request needs.
pub(crate) struct App {
    /// The settings.
    pub(crate) settings: Settings,
    /// The telemetry.
    pub(crate) store: Arc<Store>,
    /// Applications and keys.
    pub(crate) directory: Arc<Directory>,
    /// Runs queries.
    pub(crate) engine: Arc<QueryEngine>,
    /// The reply cache.
    pub(crate) replies: ReplyCache,
    /// Checks credentials.
    pub(crate) gate: Gate,
    /// The embedded issuer.
    pub(crate) issuer: Arc<Issuer>,
    /// Live metrics of watched applications.
    pub(crate) live: Arc<LiveMetrics>,
    /// Tells queries that the server stops.
    pub(crate) shutdown: Shutdown,
    /// Limits queries.
    pub(crate) throttle: Throttle,
    /// The memory of request bodies.
    pub(crate) bodies: BodyMemory,
    /// Cumulative series of OpenTelemetry.
    pub(crate) series: AllSeries,
    /// Bytes that each application ingested today.
    pub(crate) daily: DailyUse,
    /// The time.
    pub(crate) clock: Arc<dyn Clock>,
    /// The metrics of `/metrics`.
    pub(crate) prometheus: PrometheusHandle,
    /// The state of test mode; `None` without `--test`.
    pub(crate) test: Option<TestMode>,
}

impl App {
    /// As [`App::build_with`], in test mode (`docs/testing.md`).
    pub(crate) async fn build_in_test_mode(
        settings: Settings,
        test: TestMode,
    ) -> anyhow::Result<Arc<App>> {
        let config = store_config(&settings, |config| test.configure(config));
        App::open(settings, config, Some(test)).await
    }

    /// Opens the data folder and everything over it, with a last change to the store's settings: tests set the clock.
    pub(crate) async fn build_with(
        settings: Settings,
        change: impl FnOnce(&mut StoreConfig),
    ) -> anyhow::Result<Arc<App>> {
        let config = store_config(&settings, change);
        App::open(settings, config, None).await
    }

    async fn open(
        mut settings: Settings,
        mut config: StoreConfig,
        test: Option<TestMode>,
    ) -> anyhow::Result<Arc<App>> {
        if let Some(file) = &settings.node_secret_file {
            settings.node_secret = Some(NodeSecret::read(file)?);
        }
        let client = node_client(&settings)?;
        config.node_client = client.clone().map(|client| Arc::new(client) as _);
        let clock = config.clock.clone();
        let store = Store::open(config).await?;
        let directory = Arc::new(Directory::open(store.catalogue().clone()).await?);
        let token = write_token(&settings.data)?;
        let nodes = client.map(|client| ClusterNodes::new(store.clone(), client));
        let engine = crate::engine::open(store.clone(), &settings, clock.clone(), nodes)?;
        let limits = Limits {
            concurrency: settings.query_concurrency,
            rate: Rate {
                queries: settings.query_rate,
                window: settings.query_rate_window,
            },
            queue: settings.query_queue,
            queue_time: settings.query_queue_time,
        };
        let issuer = open_issuer(&settings, &store, clock.clone()).await?;
        let verifier = Verifier::new(
            issuer.clone(),
            settings.trusted_issuers()?,
            settings.auth_allow_local_issuers,
            clock.clone(),
        )?;
        Ok(Arc::new(App {
            issuer,
            engine,
            replies: ReplyCache::new(
                settings.cache_bytes,
                settings.cache_lifetime,
                settings.cache_stale,
                clock.clone(),
            ),
            gate: Gate::new(
                token,
                verifier,
                directory.clone(),
                store.catalogue().clone(),
                clock.clone(),
                settings.auth_failures_per_minute,
            ),
            directory,
            live: LiveMetrics::new(clock.clone()),
            shutdown: Shutdown::default(),
            throttle: Throttle::new(limits),
            bodies: BodyMemory::new(BodyLimits {
                memory: settings.body_memory,
                per_address: settings.max_bodies_per_address,
                concurrency: settings.ingest_concurrency,
                queue: settings.ingest_queue,
                queue_time: settings.ingest_queue_time,
            }),
            series: AllSeries::open(&settings.data, clock.now_ticks()),
            daily: DailyUse::open(&settings.data),
            clock,
            prometheus: crate::telemetry::prometheus(),
            test,
            store,
            settings,
        }))
    }

    /// Now, in ticks.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now_ticks()
    }

    /// Now, in UTC, without the parts of a millisecond.
    pub(crate) fn timestamp(&self) -> Timestamp {
        Timestamp::from_millisecond(to_unix_millis(self.now())).unwrap_or(Timestamp::MAX)
    }

    /// Creates the application `default` if there is no application; returns it.
    pub(crate) async fn create_first_app(&self) -> anyhow::Result<Option<Application>> {
        if !self.store.catalogue().apps().await?.is_empty() {
            return Ok(None);
        }
        let created = create_app(self.store.catalogue(), "default", self.now()).await;
        match created {
            // Another node has just done so.
            Err(error) if self.store.is_shared() && is_taken(&error) => Ok(None),
            created => created.map(Some),
        }
    }

    /// Seals what is in memory and releases the folder.
    pub(crate) async fn close(&self) -> anyhow::Result<()> {
        if self.test.is_some() {
            // The folder is removed: nothing needs to be sealed.
            self.store.reset(None);
        }
        self.daily.save();
        let sealed = self.store.close().await;
        // A leftover token opens nothing: the next server writes its own.
        let _ = std::fs::remove_file(token_path(&self.settings.data));
        sealed.context("cannot close the store")
    }
}

/// What reaches other nodes; `None` without a secret.
fn node_client(settings: &Settings) -> anyhow::Result<Option<GrpcNodes>> {
    let Some(secret) = &settings.node_secret else {
        if !settings.node_address.is_empty() {
            anyhow::bail!(
                "`node.address` needs a secret that all nodes share (`node.secret` or `node.secret_file`)"
            );
        }
        return Ok(None);
    };
    GrpcNodes::new(secret).map(Some)
}

/// The store's settings, after a last change.
fn store_config(settings: &Settings, change: impl FnOnce(&mut StoreConfig)) -> StoreConfig {
    let mut config = StoreConfig::new(&settings.data);
    config.catalogue = settings.catalogue.clone();
    config.node = NodeConfig {
        name: settings.node_name.clone(),
        role: settings.node_role,
        address: settings.node_address.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    config.replicas = settings.store_replicas;
    config.retention = settings.retention;
    config.retention_bytes = settings.retention_bytes;
    config.retention_interval = settings.retention_interval;
    config.hot_limit_bytes = settings.store_memory;
    config.hot_bytes = settings.store_memory / 4;
    config.footer_cache_bytes = settings.store_footer_cache;
    config.text_index = settings.store_text_index;
    config.value_index = settings.store_value_index;
    config.column_cache_bytes = settings.store_column_cache;
    config.compaction_interval = settings.compaction_interval;
    config.after_merge = hindsight_allocator::purge_all;
    config.retention_grace = settings.retention_grace;
    config.max_clock_jump = settings.max_clock_jump;
    change(&mut config);
    config
}

/// The embedded issuer at the address that is known before the server listens.
async fn open_issuer(
    settings: &Settings,
    store: &Store,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Arc<Issuer>> {
    let issuer = IssuerSettings {
        audiences: settings.auth_audiences.clone(),
        implicit: settings.auth_implicit,
        attempts: settings.auth_failed_sign_ins,
        portal: settings.portal_enabled,
        tenant: settings.auth_tenant.map(|tenant| tenant.to_string()),
    };
    let addresses = [&settings.auth_url, &settings.public_url];
    let base = addresses.into_iter().find(|address| !address.is_empty());
    let base = base
        .cloned()
        .unwrap_or_else(|| format!("http://{}", settings.listen));
    let issuer = Issuer::open(store.catalogue().clone(), clock, issuer, &base).await?;
    Ok(Arc::new(issuer))
}

/// Makes an application with random identities.
pub(crate) async fn create_app(
    catalogue: &hindsight_store::Catalogue,
    name: &str,
    now: i64,
) -> anyhow::Result<Application> {
    let name = name.trim();
    if name.is_empty()
        || name.len() > 128
        || name.contains(['/', '\\', '?', '#', '\''])
        || name.chars().any(char::is_control)
    {
        anyhow::bail!("an application's name has 1 to 128 characters and none of / \\ ? # '");
    }
    let new = NewApplication {
        id: AppId(secret::new_id()),
        name: name.to_owned(),
        instrumentation_key: secret::new_id(),
        created: now,
    };
    Ok(catalogue.create_app(new).await?)
}

/// Makes a key that may read an application; its text is returned once and not kept.
pub(crate) async fn create_key(
    catalogue: &hindsight_store::Catalogue,
    app: AppId,
    name: &str,
    now: i64,
    expires: Option<i64>,
) -> anyhow::Result<(String, String)> {
    let rights = Rights::NONE.with(Right::Read);
    create_key_with(catalogue, app, name, rights, now, expires).await
}

/// Makes a key with these rights on an application; its text is returned once and not kept.
pub(crate) async fn create_key_with(
    catalogue: &hindsight_store::Catalogue,
    app: AppId,
    name: &str,
    rights: Rights,
    now: i64,
    expires: Option<i64>,
) -> anyhow::Result<(String, String)> {
    let key = api_key::generate()?;
    let new = NewKey {
        id: key.id.clone(),
        app,
        name: name.to_owned(),
        hash: key.hash,
        scopes: rights.text(),
        created: now,
        expires,
    };
    catalogue.create_key(new).await?;
    Ok((key.id, key.text))
}

/// What an SDK needs to send telemetry to this server.
pub(crate) fn connection_string(base: &str, app: &Application) -> String {
    format!(
        "InstrumentationKey={};IngestionEndpoint={base}/;LiveEndpoint={base}/;ApplicationId={}",
        app.instrumentation_key, app.id
    )
}

/// The environment variables with which an application of OpenTelemetry sends to this server.
pub(crate) fn otlp_environment(base: &str, app: &Application) -> [(&'static str, String); 3] {
    let key = app.instrumentation_key;
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", base.to_owned()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf".to_owned()),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            format!("x-instrumentation-key={key}"),
        ),
    ]
}

fn token_path(data: &Path) -> PathBuf {
    data.join(TOKEN_FILE)
}

/// The token of the server that holds a folder, if this user may read it.
pub(crate) fn read_token(data: &Path) -> Option<String> {
    std::fs::read_to_string(token_path(data))
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// Writes a new token that only this user can read. On a full disk there is no file, and the server answers queries all the same.
fn write_token(data: &Path) -> anyhow::Result<String> {
    let path = token_path(data);
    let token = secret::random()?;
    match crate::private_file::write(&path, &token) {
        Err(error) if is_full(&error) => {
            tracing::warn!(path = %path.display(), "the disk is full: commands cannot reach this server");
        }
        written => written?,
    }
    Ok(token)
}

fn is_taken(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<StoreError>();
    matches!(cause, Some(StoreError::NameTaken { .. }))
}

fn is_full(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::StorageFull)
}
