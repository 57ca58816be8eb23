//! Figures for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hindsight_store::{ObjectFigures, Stats, TICKS_PER_SECOND, Table};
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
    if let Some(objects) = app.store.object_figures() {
        object_figures(&objects);
    }
    gauge!("hindsight_queries_running").set(app.engine.running_queries() as f64);
    gauge!("hindsight_log_lines_dropped").set(crate::telemetry::dropped_lines() as f64);
    let mut text = app.prometheus.render();
    text += &tables(&app, &stats).await;
    text += &nodes(&app).await;
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
        .into_response()
}

/// The figures of the object store that segments are in.
fn object_figures(figures: &ObjectFigures) {
    gauge!("hindsight_objects_uploads").set(figures.uploads as f64);
    gauge!("hindsight_objects_downloads").set(figures.downloads as f64);
    gauge!("hindsight_objects_downloaded_bytes").set(figures.downloaded_bytes as f64);
    gauge!("hindsight_objects_failures").set(figures.failures as f64);
    gauge!("hindsight_objects_failing").set(if figures.is_failing { 1.0 } else { 0.0 });
    gauge!("hindsight_objects_retired").set(figures.retired as f64);
    gauge!("hindsight_objects_unlisted").set(figures.orphans as f64);
    gauge!("hindsight_segment_cache_files").set(figures.cached_files as f64);
    gauge!("hindsight_segment_cache_bytes").set(figures.cached_bytes as f64);
}

/// The figures of each application's tables: rows, bytes, and how long they are kept. They are written here and not registered, so that
/// those of a deleted application go with it.
async fn tables(app: &App, stats: &Stats) -> String {
    let (Ok(apps), Ok(rules)) = (
        app.store.catalogue().apps().await,
        app.store.retention_rules().await,
    ) else {
        return String::new();
    };
    let mut samples: [(&str, Vec<String>); 5] = [
        ("hindsight_table_rows", Vec::new()),
        ("hindsight_table_bytes", Vec::new()),
        ("hindsight_table_retention_seconds", Vec::new()),
        ("hindsight_table_retention_bytes", Vec::new()),
        ("hindsight_application_retention_bytes", Vec::new()),
    ];
    let [rows, bytes, age, table_limit, app_limit] = &mut samples;
    for record in &apps {
        let application = label(&record.name);
        for table in Table::ALL {
            let held = stats.tables.iter();
            let held = held.filter(|held| (held.app, held.table) == (record.id, table));
            let (mut held_rows, mut held_bytes) = (0, 0);
            for stats in held {
                held_rows += stats.rows();
                held_bytes += stats.sealed_bytes;
            }
            let sample = |value: String| {
                format!("{{application=\"{application}\",table=\"{table}\"}} {value}")
            };
            rows.1.push(sample(held_rows.to_string()));
            bytes.1.push(sample(held_bytes.to_string()));
            let seconds = rules.age(record.id, table) / TICKS_PER_SECOND;
            age.1.push(sample(seconds.to_string()));
            let limit = rules.table_bytes(record.id, table);
            table_limit
                .1
                .extend(limit.map(|limit| sample(limit.to_string())));
        }
        let limit = rules.app_bytes(record.id);
        app_limit
            .1
            .extend(limit.map(|limit| format!("{{application=\"{application}\"}} {limit}")));
    }
    text_of(&samples)
}

/// The figures of the nodes that share the catalogue. One in the data folder has none.
async fn nodes(app: &App) -> String {
    let Ok(nodes) = app.store.catalogue().nodes().await else {
        return String::new();
    };
    let mut samples: [(&str, Vec<String>); 3] = [
        ("hindsight_node_up", Vec::new()),
        ("hindsight_node_heartbeat_age_seconds", Vec::new()),
        ("hindsight_node_log_lag_requests", Vec::new()),
    ];
    let [up, age, lag] = &mut samples;
    for node in &nodes {
        let labels = format!(
            "{{node=\"{}\",role=\"{}\",version=\"{}\"}}",
            label(&node.name),
            node.role.name(),
            label(&node.version)
        );
        up.1.push(format!("{labels} {}", u8::from(node.is_live())));
        if !node.is_stopped() {
            age.1
                .push(format!("{labels} {}", node.silent_for.as_secs_f64()));
        }
        lag.1.push(format!("{labels} {}", node.log_lag()));
    }
    text_of(&samples)
}

/// Gauges in the text format of Prometheus.
fn text_of(samples: &[(&str, Vec<String>)]) -> String {
    let mut text = String::new();
    for (name, samples) in samples.iter().filter(|(_, samples)| !samples.is_empty()) {
        text += &format!("# TYPE {name} gauge\n");
        for sample in samples {
            text += &format!("{name}{sample}\n");
        }
        text.push('\n');
    }
    text
}

/// The value of a label in the text format of Prometheus.
fn label(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label("a \"b\" \\ c"), "a \\\"b\\\" \\\\ c");
    }
}
