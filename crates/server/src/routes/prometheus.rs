//! Figures for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use metrics::gauge;

use crate::app::App;

/// Where the figures are.
pub(crate) const PATH: &str = "/metrics";

/// `GET /metrics`
pub(crate) async fn render(State(app): State<Arc<App>>) -> Response {
    let stats = app.store.stats();
    let sum = |read: fn(&hindsight_store::TableStats) -> u64| {
        stats.tables.iter().map(read).sum::<u64>() as f64
    };
    gauge!("hindsight_store_hot_rows").set(sum(|table| table.hot_rows));
    gauge!("hindsight_store_hot_bytes").set(sum(|table| table.hot_bytes));
    gauge!("hindsight_store_segments").set(sum(|table| table.segments));
    gauge!("hindsight_store_sealed_rows").set(sum(|table| table.sealed_rows));
    gauge!("hindsight_store_sealed_bytes").set(sum(|table| table.sealed_bytes));
    let quarantine = app.store.quarantine();
    gauge!("hindsight_store_quarantined_files").set(quarantine.files as f64);
    gauge!("hindsight_store_quarantined_bytes").set(quarantine.bytes as f64);
    gauge!("hindsight_store_damaged_segments").set(app.store.damaged_segments() as f64);
    if let Ok((segments, bytes)) = app.store.catalogue().expired_size().await {
        gauge!("hindsight_store_expired_segments").set(segments as f64);
        gauge!("hindsight_store_expired_bytes").set(bytes as f64);
    }
    let suspect = !app.store.clock_trust().is_trusted();
    gauge!("hindsight_store_clock_suspect").set(if suspect { 1.0 } else { 0.0 });
    gauge!("hindsight_store_writable").set(if app.store.health().writable {
        1.0
    } else {
        0.0
    });
    gauge!("hindsight_queries_running").set(app.engine.running_queries() as f64);
    gauge!("hindsight_log_lines_dropped").set(crate::telemetry::dropped_lines() as f64);
    let text = app.prometheus.render();
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
        .into_response()
}
