//! The flags of test mode (`docs/testing.md`), and what they change.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use clap::Args;
use hindsight_kql_types::datetime;
use tempfile::TempDir;

use crate::config::Settings;
use crate::test_mode::{Reading, TestMode, may_show};

/// Settings whose default is another one in test mode.
const DEFAULTS: &[(&str, &str)] = &[
    // A free port.
    ("listen", "127.0.0.1:0"),
    // The main port takes OpenTelemetry too.
    ("otlp.http_listen", ""),
    ("otlp.grpc_listen", ""),
    ("log.filter", "warn"),
    // What was acknowledged is in the next reply, and so is the time.
    ("cache.lifetime", "0s"),
    ("cache.stale", "0s"),
    // Tests send more queries than people do.
    ("query.rate", "1000000"),
];

/// The flags of test mode.
#[derive(Debug, Args)]
pub(super) struct TestFlags {
    /// Serve tests: telemetry is queryable once it is acknowledged, /test/… sets the clock and resets the data, and a line of JSON
    /// tells the address, an application and a key. Data in a temporary folder, a free port, loopback only.
    #[arg(long = "test", conflicts_with = "data")]
    on: bool,
    /// With --test: keep telemetry in memory.
    #[arg(long, requires = "on")]
    in_memory: bool,
    /// With --test: the clock stands still at this time from the start on, such as 2026-03-01T12:00:00Z.
    #[arg(long, value_name = "TIME", requires = "on", value_parser = time_of_clock)]
    clock: Option<i64>,
    /// With --test: permit addresses beyond this machine. Everybody who reaches them can read and remove the telemetry.
    #[arg(long, requires = "on")]
    test_insecure: bool,
}

/// A time that the clock may show, in ticks.
fn time_of_clock(text: &str) -> Result<i64, String> {
    let time = datetime::parse(text).filter(|time| may_show(*time));
    time.ok_or_else(|| "expected is a time from 1970 on, such as 2026-03-01T12:00:00Z".to_owned())
}

impl TestFlags {
    /// The defaults of all settings.
    pub(super) fn defaults(&self) -> anyhow::Result<Settings> {
        let mut settings = Settings::defaults()?;
        if self.on {
            for (key, value) in DEFAULTS {
                settings.set(key, value)?;
            }
        }
        Ok(settings)
    }

    /// The state of test mode, if it is on.
    pub(super) fn mode(&self) -> Option<TestMode> {
        let reading = self.clock.map_or(Reading::Machine, Reading::Fixed);
        self.on.then(|| TestMode::new(self.in_memory, reading))
    }

    /// Whether the telemetry is in a folder.
    pub(super) fn has_folder(&self) -> bool {
        !self.in_memory
    }

    /// Puts the data into a folder of its own, which is removed when the guard is dropped.
    pub(super) fn make_folder(&self, settings: &mut Settings) -> anyhow::Result<Option<TempDir>> {
        if !self.on {
            return Ok(None);
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder
            .prefix("hindsight-test-")
            .tempdir()
            .context("cannot make a temporary folder")?;
        settings.data = folder.path().to_owned();
        Ok(Some(folder))
    }

    /// Refuses addresses that other machines may reach, in test mode without `--test-insecure`.
    pub(super) fn check_addresses(
        &self,
        text: &str,
        addresses: &[SocketAddr],
    ) -> anyhow::Result<()> {
        let is_open = addresses.iter().any(|address| !address.ip().is_loopback());
        if self.on && !self.test_insecure && is_open {
            bail!(
                "test mode does not listen on {text}: it is not an address of this machine alone (--test-insecure permits it)"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_begins_at_a_time_that_it_may_show() {
        assert_eq!(
            time_of_clock("2030-03-01T12:00:00Z").ok(),
            datetime::parse("2030-03-01T12:00:00Z")
        );
        for wrong in ["noon", "", "1969-12-31T23:59:59Z", "9500-01-01T00:00:00Z"] {
            let refused = time_of_clock(wrong);
            assert!(
                refused.is_err_and(|reason| reason.contains("2026-03-01T12:00:00Z")),
                "{wrong}"
            );
        }
    }
}
