//! The settings of identity and TLS.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use hindsight_identity::issuer::Implicit;
use hindsight_identity::{TrustedIssuer, parse_trusted};
use uuid::Uuid;

use super::values::{choice, duration, number};
use super::{Setting, put};

/// Who is believed, and how connections are encrypted.
#[derive(Debug, Clone)]
pub(crate) struct IdentitySettings {
    /// Where the server listens for TLS.
    pub(crate) tls_listen: Option<String>,
    /// The certificate with its chain, as PEM.
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its private key, as PEM.
    pub(crate) tls_key: Option<PathBuf>,
    /// How often the two files are looked at; zero: never.
    pub(crate) tls_reload: Duration,
    /// Whether a local authority and certificate are made.
    pub(crate) tls_dev: bool,
    /// The embedded issuer's address; derived where it is empty.
    pub(crate) url: String,
    /// The tenant's id; made where nothing is said.
    pub(crate) tenant: Option<Uuid>,
    /// What tokens may be for, beside this server's own addresses.
    pub(crate) audiences: Vec<String>,
    /// Where the implicit flow is offered.
    pub(crate) implicit: Implicit,
    /// The trusted issuers as they were written.
    trusted: String,
    /// Whether trusted issuers may be on this machine or its network.
    pub(crate) allow_local_issuers: bool,
    /// Wrong credentials of an address in a minute.
    pub(crate) failures: u32,
    /// Failed sign-ins of one name or address in five minutes.
    pub(crate) failed_sign_ins: u32,
    /// Whether telemetry needs a credential beside the instrumentation key.
    pub(crate) ingest_credential: bool,
}

impl Default for IdentitySettings {
    fn default() -> IdentitySettings {
        IdentitySettings {
            tls_listen: None,
            tls_certificate: None,
            tls_key: None,
            tls_reload: Duration::ZERO,
            tls_dev: false,
            url: String::new(),
            tenant: None,
            audiences: Vec::new(),
            implicit: Implicit::Off,
            trusted: String::new(),
            allow_local_issuers: false,
            failures: 0,
            failed_sign_ins: 0,
            ingest_credential: false,
        }
    }
}

impl IdentitySettings {
    /// The other issuers whose tokens are accepted.
    pub(crate) fn trusted_issuers(&self) -> anyhow::Result<Vec<TrustedIssuer>> {
        parse_trusted(&self.trusted, &self.audiences).map_err(anyhow::Error::msg)
    }
}

const YES_NO: [(&str, bool); 2] = [("true", true), ("false", false)];

/// The table's part about identity and TLS.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "tls.listen",
        default: "",
        help: "Address and port of the server for TLS, beside `listen`; empty: none, or 127.0.0.1:2021 with `tls.dev`.",
        set: |s, v| put(&mut s.identity.tls_listen, text(v)),
    },
    Setting {
        key: "tls.certificate",
        default: "",
        help: "File with the certificate and its chain, as PEM.",
        set: |s, v| put(&mut s.identity.tls_certificate, path(v)),
    },
    Setting {
        key: "tls.key",
        default: "",
        help: "File with the certificate's private key, as PEM.",
        set: |s, v| put(&mut s.identity.tls_key, path(v)),
    },
    Setting {
        key: "tls.reload",
        default: "10s",
        help: "How often these two files are looked at; a renewed certificate is taken up for new connections. `0s`: never.",
        set: |s, v| put(&mut s.identity.tls_reload, duration(v)),
    },
    Setting {
        key: "tls.dev",
        default: "false",
        help: "Make a local authority and a certificate for this machine in the data folder, and use them.",
        set: |s, v| put(&mut s.identity.tls_dev, choice(v, &YES_NO)),
    },
    Setting {
        key: "auth.url",
        default: "",
        help: "The embedded issuer's address, such as https://login.example; empty: `public_url`, or where the server listens, TLS first.",
        set: |s, v| put(&mut s.identity.url, Ok(v.trim_end_matches('/').to_owned())),
    },
    Setting {
        key: "auth.tenant",
        default: "",
        help: "The tenant's id, a UUID, in the issuer's addresses; empty: one is made once and kept.",
        set: |s, v| {
            let tenant = (!v.trim().is_empty())
                .then(|| Uuid::parse_str(v.trim()).context("expected a UUID"));
            put(&mut s.identity.tenant, tenant.transpose())
        },
    },
    Setting {
        key: "auth.audiences",
        default: "https://api.applicationinsights.io,https://api.loganalytics.io,https://monitor.azure.com",
        help: "What tokens may be for (`resource`, `aud`), beside this server's own addresses.",
        set: |s, v| {
            let list = v.split(',').map(str::trim).filter(|part| !part.is_empty());
            put(
                &mut s.identity.audiences,
                Ok(list.map(str::to_owned).collect()),
            )
        },
    },
    Setting {
        key: "auth.implicit",
        default: "loopback",
        help: "Where `response_type=token` is offered: `off`, `loopback` (redirect addresses of the browser's machine) or `on` (D24).",
        set: |s, v| {
            let choices = [
                ("off", Implicit::Off),
                ("loopback", Implicit::Loopback),
                ("on", Implicit::On),
            ];
            put(&mut s.identity.implicit, choice(v, &choices))
        },
    },
    Setting {
        key: "auth.trusted_issuers",
        default: "",
        help: "Other issuers whose tokens are accepted, with `;` between: `https://idp.example/t audience=… tenant=… applications=shop,web rights=read`.",
        set: |s, v| {
            parse_trusted(v, &[]).map_err(anyhow::Error::msg)?;
            put(&mut s.identity.trusted, Ok(v.to_owned()))
        },
    },
    Setting {
        key: "auth.allow_local_issuers",
        default: "false",
        help: "Whether trusted issuers may be on this machine or its network, also over http: for tests and development.",
        set: |s, v| put(&mut s.identity.allow_local_issuers, choice(v, &YES_NO)),
    },
    Setting {
        key: "auth.failures_per_minute",
        default: "100",
        help: "Wrong credentials of one address in a minute; more are answered with 429.",
        set: |s, v| put(&mut s.identity.failures, number(v)),
    },
    Setting {
        key: "auth.failed_sign_ins",
        default: "10",
        help: "Wrong passwords of one name or address, and wrong secrets of clients of one address, in five minutes; more are answered with 429.",
        set: |s, v| put(&mut s.identity.failed_sign_ins, number(v)),
    },
    Setting {
        key: "ingest.require_credential",
        default: "false",
        help: "Whether telemetry needs a key or token with the right `ingest` beside the instrumentation key.",
        set: |s, v| put(&mut s.identity.ingest_credential, choice(v, &YES_NO)),
    },
];

fn text(value: &str) -> anyhow::Result<Option<String>> {
    Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty()))
}

fn path(value: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(text(value)?.map(PathBuf::from))
}
