//! The address of a catalogue in PostgreSQL.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// What the server does for each connection: it ends statements and transactions that take too long, and connections of clients that
/// vanished, which would otherwise hold their locks.
const SESSION: &str = "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s \
    -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEPALIVE: Duration = Duration::from_secs(10);
const USER_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether and how connections are encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Encryption {
    Off,
    /// TLS; the server's certificate is of one of the machine's authorities, or of one in this PEM file.
    Verified(Option<PathBuf>),
}

/// The address of a catalogue in PostgreSQL, with the password.
#[derive(Clone)]
pub struct PostgresUrl {
    pub(super) config: Config,
    pub(super) encryption: Encryption,
    name: Arc<str>,
}

/// Why a text is not the address of a catalogue in PostgreSQL. It never repeats the text, which may hold a password.
#[derive(Debug, thiserror::Error)]
#[error("{0}; expected `postgres://user:password@host:port/database`")]
pub struct BadUrl(String);

impl PostgresUrl {
    /// The address without the password, for messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl FromStr for PostgresUrl {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<PostgresUrl, BadUrl> {
        let bad = |what: &str| BadUrl(what.to_owned());
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(bad("the address of the catalogue is not one of PostgreSQL"));
        }
        let (address, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (mut mode, mut authorities, mut others) = (None, None, Vec::new());
        for parameter in parameters.split('&').filter(|part| !part.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => authorities = Some(PathBuf::from(value)),
                _ => others.push(parameter),
            }
        }
        let mut config: Config = format!("{address}?{}", others.join("&"))
            .parse()
            .map_err(|_| bad("the address of the catalogue cannot be read"))?;
        if config.get_user().is_none() || config.get_dbname().is_none() {
            return Err(bad(
                "the address of the catalogue lacks a user or a database",
            ));
        }
        let encryption = match mode {
            Some("disable") => Encryption::Off,
            Some("verify-full") => Encryption::Verified(authorities),
            Some(_) => return Err(bad("`sslmode` is `disable` or `verify-full`")),
            None if authorities.is_none() && config.get_hosts().iter().all(is_local) => {
                Encryption::Off
            }
            None => Encryption::Verified(authorities),
        };
        let options = format!("{} {SESSION}", config.get_options().unwrap_or_default());
        config
            .ssl_mode(match encryption {
                Encryption::Off => SslMode::Disable,
                Encryption::Verified(_) => SslMode::Require,
            })
            .application_name(format!("hindsight, process {}", std::process::id()))
            .options(options.trim())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(USER_TIMEOUT)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE / 2)
            .keepalives_retries(3);
        let name = name(&config).into();
        Ok(PostgresUrl {
            config,
            encryption,
            name,
        })
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let address = name.parse::<std::net::IpAddr>();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

/// The address without its password.
fn name(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(number, host)| {
        let port = ports.get(number).or(ports.first()).unwrap_or(&5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    });
    format!(
        "postgres://{}@{}/{}",
        config.get_user().unwrap_or_default(),
        hosts.collect::<Vec<_>>().join(","),
        config.get_dbname().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_and_the_debug_form_have_no_password() {
        let url: PostgresUrl = "postgres://ada:secret@db.example:5433/telemetry"
            .parse()
            .unwrap();
        assert_eq!(&**url.name(), "postgres://ada@db.example:5433/telemetry");
        assert_eq!(format!("{url:?}"), **url.name());
        assert_eq!(url.encryption, Encryption::Verified(None));
        for bad in [
            "mysql://ada:secret@db.example/telemetry",
            "postgres://ada:secret@db.example:port/telemetry",
            "postgres://ada:secret@db.example",
            "postgres://ada:secret@db.example/telemetry?sslmode=prefer",
            "postgres://ada:secret@db.example/telemetry?secret=1",
        ] {
            let error = bad.parse::<PostgresUrl>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn connections_are_encrypted_unless_the_server_is_on_this_machine() {
        let encryption = |url: &str| url.parse::<PostgresUrl>().unwrap().encryption;
        assert_eq!(encryption("postgres://a@localhost/b"), Encryption::Off);
        assert_eq!(encryption("postgres://a@[::1]/b"), Encryption::Off);
        assert_eq!(
            encryption("postgres://a@/b?host=/run/postgresql"),
            Encryption::Off
        );
        assert_eq!(
            encryption("postgres://a@db/b?sslmode=disable"),
            Encryption::Off
        );
        assert_eq!(
            encryption("postgres://a@localhost/b?sslrootcert=/ca.pem"),
            Encryption::Verified(Some(PathBuf::from("/ca.pem")))
        );
    }
}
