//! The server's own logs and metrics.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// Log lines that are buffered. Further lines are dropped and counted: a blocked log must not block the server.
const WAITING_LINES: usize = 10_000;

/// How many lines were dropped so far.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Starts logging to standard error; what waits is written when the guard is dropped. A second call does nothing.
pub(crate) fn start_logs(filter: &str, json: bool) -> WorkerGuard {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("log")
        .finish(std::io::stderr());
    let _ = DROPPED.set(writer.error_counter());
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let _ = if json {
        builder.json().try_init()
    } else {
        builder.try_init()
    };
    // The default hook writes to standard error itself, and blocks while nothing reads it.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panic")));
    guard
}

/// Log lines that were dropped because the log was blocked.
pub(crate) fn dropped_lines() -> usize {
    DROPPED.get().map_or(0, ErrorCounter::dropped_lines)
}

/// How often the values of histograms are aggregated and freed memory is purged.
const UPKEEP: Duration = Duration::from_secs(10);

/// Aggregates the values of histograms periodically: the recorder keeps each value until then, also where `/metrics` is not scraped. Purges freed
/// memory, which the allocator does by itself only while there is work.
pub(crate) async fn keep_up(recorder: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        ticks.tick().await;
        recorder.run_upkeep();
        hindsight_allocator::purge_expired();
    }
}

/// The recorder of all metrics; one for the process.
pub(crate) fn prometheus() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    let install = || {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        // It fails only where another recorder was installed before; then the figures go there.
        let _ = metrics::set_global_recorder(recorder);
        handle
    };
    HANDLE.get_or_init(install).clone()
}
