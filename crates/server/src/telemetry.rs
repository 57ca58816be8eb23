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

/// How often freed memory is purged if the process has much.
const TICK: Duration = Duration::from_millis(250);
/// How many ticks it takes until the values of histograms are aggregated, and memory that was freed long ago is purged.
const UPKEEP: u64 = 40;

/// Aggregates the values of histograms periodically: the recorder keeps each value until then, also where `/metrics` is not scraped. Purges freed
/// memory: the allocator does so by itself only while there is work, and keeps it for seconds also when the process has more than
/// `purge_above` bytes.
pub(crate) async fn keep_up(recorder: PrometheusHandle, purge_above: u64) {
    let mut ticks = tokio::time::interval(TICK);
    for tick in 1_u64.. {
        ticks.tick().await;
        let recorder = recorder.clone();
        let work = move || {
            if tick.is_multiple_of(UPKEEP) {
                recorder.run_upkeep();
                hindsight_allocator::purge_expired();
            }
            hindsight_allocator::purge_all_above(purge_above);
        };
        // It fails only when the runtime ends.
        let _ = tokio::task::spawn_blocking(work).await;
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

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::hint::black_box;

    use hindsight_allocator::resident;

    use super::*;

    const MIB: u64 = 1 << 20;

    #[tokio::test]
    async fn freed_memory_is_purged_at_each_tick_above_a_bound() {
        let before = resident().unwrap();
        let taken: Vec<Vec<u8>> = (0..64).map(|_| vec![1; 1 << 20]).collect();
        drop(black_box(taken));
        let kept = resident().unwrap();
        assert!(kept > before + 48 * MIB, "{before}, {kept}");
        let upkeep = tokio::spawn(keep_up(prometheus(), before + 32 * MIB));
        let purged = async {
            while resident().unwrap() > before + 32 * MIB {
                tokio::time::sleep(TICK / 4).await;
            }
        };
        let in_time = tokio::time::timeout(20 * TICK, purged).await;
        upkeep.abort();
        assert!(in_time.is_ok(), "{before}, {kept}, {:?}", resident());
    }
}
