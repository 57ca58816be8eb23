//! Settings: flag over environment over TOML file over default, all from one table.
//!
//! The table is also the documentation: `hindsight settings` prints it.

mod identity;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use hindsight_store::Tier;
use toml::de::{DeTable, DeValue};

pub(crate) use identity::IdentitySettings;
pub(crate) use values::duration;
use values::{bytes, choice, number, optional, positive, size};

use crate::wire::metrics::LeafForm;

/// Everything that can be set.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// Where the server listens.
    pub(crate) listen: String,
    /// The address that clients are told; derived from `listen` where it is empty.
    pub(crate) public_url: String,
    /// Which log lines are written.
    pub(crate) log_filter: String,
    /// Whether log lines are JSON.
    pub(crate) log_json: bool,
    /// How long answers are served from the cache.
    pub(crate) cache_lifetime: Duration,
    /// Bytes of the cache.
    pub(crate) cache_bytes: u64,
    /// Bytes of a reply above which it is sent while it is made, and not kept.
    pub(crate) cache_max_reply_bytes: usize,
    /// How long a query may run.
    pub(crate) query_timeout: Duration,
    /// How long a query may run where the client asks for more.
    pub(crate) query_max_wait: Duration,
    /// Rows of a result.
    pub(crate) query_max_rows: u64,
    /// Bytes of a result.
    pub(crate) query_max_bytes: u64,
    /// Bytes of a request's body for queries.
    pub(crate) query_max_body_bytes: usize,
    /// Memory of all queries together.
    pub(crate) query_memory: u64,
    /// Applications in one query.
    pub(crate) query_max_applications: usize,
    /// Queries of a principal at once.
    pub(crate) query_concurrency: usize,
    /// Queries of a principal that begin within the window.
    pub(crate) query_rate: usize,
    /// The window of the rate.
    pub(crate) query_rate_window: Duration,
    /// Queries of a principal that may wait.
    pub(crate) query_queue: usize,
    /// How long a query may wait.
    pub(crate) query_queue_time: Duration,
    /// Bytes of an ingestion request as it is sent.
    pub(crate) ingest_max_body_bytes: usize,
    /// Bytes of it after decompression.
    pub(crate) ingest_max_decompressed_bytes: usize,
    /// Items of it.
    pub(crate) ingest_max_items: usize,
    /// Bytes of an item.
    pub(crate) ingest_max_item_bytes: usize,
    /// How old an item may be; the retention where nothing is said.
    pub(crate) ingest_max_age: Option<Duration>,
    /// How far ahead of now an item may be.
    pub(crate) ingest_max_ahead: Duration,
    /// Ingestion requests that are decoded at once.
    pub(crate) ingest_concurrency: usize,
    /// How segment leaves look by default.
    pub(crate) metric_leaf: LeafForm,
    /// The tier that operations need.
    pub(crate) minimum_tier: Tier,
    /// How long items are kept.
    pub(crate) retention: Duration,
    /// Bytes of an application that are kept.
    pub(crate) retention_bytes: Option<u64>,
    /// How long a request's head may take to arrive.
    pub(crate) header_timeout: Duration,
    /// Connections at once, of each listener.
    pub(crate) max_connections: usize,
    /// How long a client may take nothing of its reply.
    pub(crate) write_timeout: Duration,
    /// How long a request's body may take to arrive.
    pub(crate) body_timeout: Duration,
    /// How long a stop waits for open requests.
    pub(crate) shutdown_timeout: Duration,
    /// Identity and TLS.
    pub(crate) identity: IdentitySettings,
}

/// One setting.
pub(crate) struct Setting {
    /// The key in the file, such as `query.timeout`; the environment variable follows from it.
    pub(crate) key: &'static str,
    /// The default as it would be written.
    pub(crate) default: &'static str,
    /// What it does.
    pub(crate) help: &'static str,
    set: fn(&mut Settings, &str) -> anyhow::Result<()>,
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

/// Every setting, in the order of the documentation.
fn all() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain(identity::SETTINGS)
}

const SETTINGS: &[Setting] = &[
    Setting {
        key: "data",
        default: "./hindsight-data",
        help: "The data folder.",
        set: |s, v| put(&mut s.data, Ok(v.into())),
    },
    Setting {
        key: "listen",
        default: "127.0.0.1:2020",
        help: "Address and port of the server; port 0 takes a free one.",
        set: |s, v| put(&mut s.listen, Ok(v.to_owned())),
    },
    Setting {
        key: "public_url",
        default: "",
        help: "The address that clients are told, such as https://telemetry.example; empty: from `listen`.",
        set: |s, v| put(&mut s.public_url, Ok(v.trim_end_matches('/').to_owned())),
    },
    Setting {
        key: "log.filter",
        default: "info",
        help: "Which log lines are written, as `info` or `hindsight=debug,warn`.",
        set: |s, v| put(&mut s.log_filter, Ok(v.to_owned())),
    },
    Setting {
        key: "log.format",
        default: "text",
        help: "`text` or `json`.",
        set: |s, v| {
            put(
                &mut s.log_json,
                choice(v, &[("text", false), ("json", true)]),
            )
        },
    },
    Setting {
        key: "cache.lifetime",
        default: "120s",
        help: "How long an answer may be served from the cache (D18).",
        set: |s, v| put(&mut s.cache_lifetime, duration(v)),
    },
    Setting {
        key: "cache.bytes",
        default: "128MiB",
        help: "Memory of the cache.",
        set: |s, v| put(&mut s.cache_bytes, bytes(v)),
    },
    Setting {
        key: "cache.max_reply_bytes",
        default: "4MiB",
        help: "Bytes of a query's reply that are held back and, if that is all of it, kept in the cache; a larger reply is sent while it is made.",
        set: |s, v| put(&mut s.cache_max_reply_bytes, size(v)),
    },
    Setting {
        key: "query.timeout",
        default: "180s",
        help: "How long a query may run where the client says nothing (D19).",
        set: |s, v| put(&mut s.query_timeout, duration(v)),
    },
    Setting {
        key: "query.max_wait",
        default: "600s",
        help: "How long a query may run at most where the client asks with `Prefer: wait=` (D19).",
        set: |s, v| put(&mut s.query_max_wait, duration(v)),
    },
    Setting {
        key: "query.max_rows",
        default: "500000",
        help: "Rows of a result; more are cut, and the reply says so (D19).",
        set: |s, v| put(&mut s.query_max_rows, number(v)),
    },
    Setting {
        key: "query.max_bytes",
        default: "64000000",
        help: "Bytes of a result; more are cut, and the reply says so (D19).",
        set: |s, v| put(&mut s.query_max_bytes, bytes(v)),
    },
    Setting {
        key: "query.max_body_bytes",
        default: "2MiB",
        help: "Bytes of a query request's body.",
        set: |s, v| put(&mut s.query_max_body_bytes, size(v)),
    },
    Setting {
        key: "query.memory",
        default: "2GiB",
        help: "Memory of all running queries together.",
        set: |s, v| put(&mut s.query_memory, bytes(v)),
    },
    Setting {
        key: "query.max_applications",
        default: "100",
        help: "Applications in one query (D19).",
        set: |s, v| put(&mut s.query_max_applications, number(v)),
    },
    Setting {
        key: "query.concurrency",
        default: "5",
        help: "Queries of one principal that run at once (D19).",
        set: |s, v| put(&mut s.query_concurrency, positive(v)),
    },
    Setting {
        key: "query.rate",
        default: "200",
        help: "Queries of one principal that begin within `query.rate_window`; more wait (D19).",
        set: |s, v| put(&mut s.query_rate, positive(v)),
    },
    Setting {
        key: "query.rate_window",
        default: "30s",
        help: "The time in which `query.rate` counts (D19).",
        set: |s, v| put(&mut s.query_rate_window, duration(v)),
    },
    Setting {
        key: "query.queue",
        default: "200",
        help: "Queries of one principal that may wait; more are refused with 429 (D19).",
        set: |s, v| put(&mut s.query_queue, number(v)),
    },
    Setting {
        key: "query.queue_time",
        default: "3m",
        help: "How long a query may wait before it is refused with 429 (D19).",
        set: |s, v| put(&mut s.query_queue_time, duration(v)),
    },
    Setting {
        key: "ingest.max_body_bytes",
        default: "16MiB",
        help: "Bytes of an ingestion request as it is sent.",
        set: |s, v| put(&mut s.ingest_max_body_bytes, size(v)),
    },
    Setting {
        key: "ingest.max_decompressed_bytes",
        default: "64MiB",
        help: "Bytes of an ingestion request after decompression.",
        set: |s, v| put(&mut s.ingest_max_decompressed_bytes, size(v)),
    },
    Setting {
        key: "ingest.max_items",
        default: "64000",
        help: "Items of an ingestion request.",
        set: |s, v| put(&mut s.ingest_max_items, number(v)),
    },
    Setting {
        key: "ingest.max_item_bytes",
        default: "65536",
        help: "Bytes of one item's JSON.",
        set: |s, v| put(&mut s.ingest_max_item_bytes, size(v)),
    },
    Setting {
        key: "ingest.max_age",
        default: "",
        help: "How old an item may be, such as 48h as in the cloud; empty: the retention (D25).",
        set: |s, v| put(&mut s.ingest_max_age, optional(v, duration)),
    },
    Setting {
        key: "ingest.max_ahead",
        default: "10m",
        help: "How far ahead of now an item may be (D25).",
        set: |s, v| put(&mut s.ingest_max_ahead, duration(v)),
    },
    Setting {
        key: "ingest.concurrency",
        default: "16",
        help: "Ingestion requests that are worked on at once; bounds their memory.",
        set: |s, v| put(&mut s.ingest_concurrency, positive(v)),
    },
    Setting {
        key: "metrics.leaf",
        default: "spec",
        help: "How segment leaves look by default: `spec` or `object` (D2).",
        set: |s, v| {
            put(
                &mut s.metric_leaf,
                choice(v, &[("spec", LeafForm::Flat), ("object", LeafForm::Object)]),
            )
        },
    },
    Setting {
        key: "apps.minimum_tier",
        default: "basic",
        help: "The pricing tier that operations need: `free`, `basic` or `enterprise` (D20).",
        set: |s, v| {
            put(
                &mut s.minimum_tier,
                Tier::parse(v).context("expected `free`, `basic` or `enterprise`"),
            )
        },
    },
    Setting {
        key: "retention.age",
        default: "90d",
        help: "How long items are kept.",
        set: |s, v| put(&mut s.retention, duration(v)),
    },
    Setting {
        key: "retention.bytes",
        default: "",
        help: "Bytes of one application above which its oldest items are deleted; empty: no limit.",
        set: |s, v| put(&mut s.retention_bytes, optional(v, bytes)),
    },
    Setting {
        key: "http.max_connections",
        default: "4096",
        help: "Connections at once, of each listener; when there are more, those that have been idle longest are closed. Never more than a quarter of the files that the process may open.",
        set: |s, v| put(&mut s.max_connections, positive(v)),
    },
    Setting {
        key: "http.header_timeout",
        default: "15s",
        help: "How long a request's line and headers may take to arrive, also after the request before; then the connection ends.",
        set: |s, v| put(&mut s.header_timeout, duration(v)),
    },
    Setting {
        key: "http.write_timeout",
        default: "60s",
        help: "How long a client may take nothing of its reply; then the connection ends, and the query with it.",
        set: |s, v| put(&mut s.write_timeout, duration(v)),
    },
    Setting {
        key: "http.body_timeout",
        default: "60s",
        help: "How long a request's body may take to arrive; slower ones end with 408.",
        set: |s, v| put(&mut s.body_timeout, duration(v)),
    },
    Setting {
        key: "shutdown.timeout",
        default: "10s",
        help: "How long a stop waits for open requests.",
        set: |s, v| put(&mut s.shutdown_timeout, duration(v)),
    },
];

fn put<T>(place: &mut T, value: anyhow::Result<T>) -> anyhow::Result<()> {
    *place = value?;
    Ok(())
}

impl Settings {
    /// The defaults.
    pub(crate) fn defaults() -> anyhow::Result<Settings> {
        let mut settings = Settings::blank();
        for setting in all() {
            (setting.set)(&mut settings, setting.default)
                .with_context(|| format!("default of {}", setting.key))?;
        }
        Ok(settings)
    }

    /// Defaults, then the file, then the environment. Flags are applied by the caller with [`Settings::set`].
    pub(crate) fn load(
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Settings> {
        let mut settings = Settings::defaults()?;
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            settings
                .apply_toml(&text)
                .with_context(|| path.display().to_string())?;
        }
        for setting in all() {
            let variable = setting.variable();
            if let Some(value) = environment(&variable) {
                (setting.set)(&mut settings, &value)
                    .with_context(|| format!("environment variable {variable}"))?;
            }
        }
        Ok(settings)
    }

    /// Sets one setting by its key.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let setting = all()
            .find(|setting| setting.key == key)
            .with_context(|| format!("unknown setting `{key}`"))?;
        (setting.set)(self, value).with_context(|| format!("setting `{key}`"))
    }

    fn apply_toml(&mut self, text: &str) -> anyhow::Result<()> {
        let table = DeTable::parse(text)?;
        self.apply_table(text, "", table.get_ref())
    }

    fn apply_table(&mut self, text: &str, prefix: &str, table: &DeTable<'_>) -> anyhow::Result<()> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            let line = || format!("line {}", line_of(text, name.span().start));
            match value.get_ref() {
                DeValue::Table(inner) => self.apply_table(text, &format!("{key}."), inner)?,
                scalar => self
                    .set(&key, &scalar_text(scalar).with_context(line)?)
                    .with_context(line)?,
            }
        }
        Ok(())
    }

    /// Values that the defaults replace; the table of settings is what counts.
    fn blank() -> Settings {
        Settings {
            data: PathBuf::new(),
            listen: String::new(),
            public_url: String::new(),
            log_filter: String::new(),
            log_json: false,
            cache_lifetime: Duration::ZERO,
            cache_bytes: 0,
            cache_max_reply_bytes: 0,
            query_timeout: Duration::ZERO,
            query_max_wait: Duration::ZERO,
            query_max_rows: 0,
            query_max_bytes: 0,
            query_max_body_bytes: 0,
            query_memory: 0,
            query_max_applications: 0,
            query_concurrency: 1,
            query_rate: 1,
            query_rate_window: Duration::ZERO,
            query_queue: 0,
            query_queue_time: Duration::ZERO,
            ingest_max_body_bytes: 0,
            ingest_max_decompressed_bytes: 0,
            ingest_max_items: 0,
            ingest_max_item_bytes: 0,
            ingest_max_age: None,
            ingest_max_ahead: Duration::ZERO,
            ingest_concurrency: 1,
            metric_leaf: LeafForm::Flat,
            minimum_tier: Tier::Free,
            retention: Duration::ZERO,
            retention_bytes: None,
            max_connections: 0,
            header_timeout: Duration::ZERO,
            write_timeout: Duration::ZERO,
            body_timeout: Duration::ZERO,
            shutdown_timeout: Duration::ZERO,
            identity: IdentitySettings::default(),
        }
    }
}

/// The documentation of all settings, as a Markdown table.
pub(crate) fn documentation() -> String {
    let mut out = String::from(
        "Flag over environment over TOML file (`--config`) over default.\n\n| key in the file | environment | default | meaning |\n|---|---|---|---|\n",
    );
    for setting in all() {
        let default = if setting.default.is_empty() {
            "(empty)"
        } else {
            setting.default
        };
        out.push_str(&format!(
            "| `{}` | `{}` | `{default}` | {} |\n",
            setting.key,
            setting.variable(),
            setting.help
        ));
    }
    out
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

fn scalar_text(value: &DeValue<'_>) -> anyhow::Result<String> {
    Ok(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(value) => value.as_str().replace('_', ""),
        DeValue::Float(value) => value.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        other => bail!("a {} is no value of a setting", other.type_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_valid() {
        let settings = Settings::defaults().unwrap();
        assert_eq!(settings.query_timeout, Duration::from_secs(180));
        assert_eq!(settings.retention, Duration::from_secs(90 * 86_400));
        assert_eq!(settings.ingest_max_item_bytes, 65_536);
    }

    #[test]
    fn environment_wins_over_file_and_file_over_default() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.toml");
        std::fs::write(
            &path,
            "listen = \"0.0.0.0:1\"\n[query]\ntimeout = \"5s\"\nmax_rows = 1_000\n",
        )
        .unwrap();
        let environment = |name: &str| (name == "HINDSIGHT_QUERY_TIMEOUT").then(|| "7s".to_owned());
        let settings = Settings::load(Some(&path), environment).unwrap();
        assert_eq!(settings.listen, "0.0.0.0:1");
        assert_eq!(settings.query_max_rows, 1000);
        assert_eq!(settings.query_timeout, Duration::from_secs(7));
    }

    #[test]
    fn unknown_keys_and_bad_values_are_named_with_their_line() {
        let check = |text: &str, expected: &[&str]| {
            let error = format!(
                "{:#}",
                Settings::defaults().unwrap().apply_toml(text).unwrap_err()
            );
            assert!(expected.iter().all(|part| error.contains(part)), "{error}");
        };
        check("\n[query]\ntime = \"5s\"\n", &["line 3", "query.time"]);
        check("[query]\ntimeout = \"5 parsecs\"", &["line 2", "parsecs"]);
        check("listen = [1]", &["line 1", "array"]);
        check("listen = ", &["line 1"]);
    }

    #[test]
    fn quantities_have_units() {
        assert_eq!(bytes("64MiB").unwrap(), 64 << 20);
        assert_eq!(bytes("64_000_000").unwrap(), 64_000_000);
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        assert_eq!(duration("90d").unwrap(), Duration::from_secs(7_776_000));
        assert!(duration("x").is_err());
    }

    #[test]
    fn the_documentation_names_every_setting() {
        let text = documentation();
        assert_eq!(
            include_str!("../../../docs/settings.md"),
            format!("# Settings\n\n{text}"),
            "docs/settings.md is not fresh: `(printf '# Settings\\n\\n'; hindsight settings) > docs/settings.md`"
        );
        assert!(
            SETTINGS
                .iter()
                .all(|setting| text.contains(&format!("`{}`", setting.key)))
        );
        assert!(text.contains("`HINDSIGHT_INGEST_MAX_ITEM_BYTES`"));
    }
}
