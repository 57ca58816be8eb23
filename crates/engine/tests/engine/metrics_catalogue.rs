//! Every standard metric can be asked for in every way that its description offers (`D8`, `D9`, `D10`).

use std::path::PathBuf;

use hindsight_engine::metrics::{dimension_display_name, find, standard_metrics};
use hindsight_engine::{EngineError, MetricBody, MetricParameters};
use serde_json::{Value, json};

use crate::metrics::telemetry;

/// The specification's names for dimensions.
const ENUM: [&str; 16] = [
    "applicationBuild",
    "applicationVersion",
    "authenticatedOrAnonymousTraffic",
    "browser",
    "browserVersion",
    "city",
    "cloudRoleName",
    "cloudServiceName",
    "continent",
    "countryOrRegion",
    "deploymentId",
    "deploymentUnit",
    "deviceType",
    "environment",
    "hostingLocation",
    "instanceName",
];

/// The specification's metric ids.
const SPECIFIED: [&str; 32] = [
    "requests/count",
    "requests/duration",
    "requests/failed",
    "users/count",
    "users/authenticated",
    "pageViews/count",
    "pageViews/duration",
    "client/processingDuration",
    "client/receiveDuration",
    "client/networkDuration",
    "client/sendDuration",
    "client/totalDuration",
    "dependencies/count",
    "dependencies/failed",
    "dependencies/duration",
    "exceptions/count",
    "exceptions/browser",
    "exceptions/server",
    "sessions/count",
    "performanceCounters/requestExecutionTime",
    "performanceCounters/requestsPerSecond",
    "performanceCounters/requestsInQueue",
    "performanceCounters/memoryAvailableBytes",
    "performanceCounters/exceptionsPerSecond",
    "performanceCounters/processCpuPercentage",
    "performanceCounters/processIOBytesPerSecond",
    "performanceCounters/processPrivateBytes",
    "performanceCounters/processorCpuPercentage",
    "availabilityResults/availabilityPercentage",
    "availabilityResults/duration",
    "billing/telemetryCount",
    "customEvents/count",
];

#[test]
fn every_specified_id_is_a_metric_that_answers_under_it() {
    for id in SPECIFIED {
        let metric = find(id).unwrap_or_else(|| panic!("{id} is no metric"));
        assert_eq!(metric.id, id);
    }
    for metric in standard_metrics() {
        for alias in metric.aliases {
            let other = find(alias).unwrap();
            assert_eq!(other.id, *alias);
            assert_eq!(other.source, metric.source, "{alias}");
        }
    }
}

/// All aggregations at once, over each dimension that is listed, alone and with an interval.
#[tokio::test]
async fn every_listed_dimension_and_aggregation_answers() {
    let f = telemetry().await;
    for metric in standard_metrics() {
        let mut dimensions = metric.dimensions.clone();
        if metric.custom_dimensions {
            dimensions.push("customDimensions/plan");
        }
        for dimension in dimensions {
            let parameters = MetricParameters {
                metric: metric.id.clone(),
                aggregation: metric
                    .supported
                    .iter()
                    .map(|a| a.name().to_owned())
                    .collect(),
                segment: vec![dimension.to_owned()],
                filter: Some(format!("{dimension} ne 'nowhere'")),
                ..MetricParameters::default()
            };
            let result = f.metric(&parameters).await;
            let result = result.unwrap_or_else(|e| panic!("{} by {dimension}: {e}", metric.id));
            let MetricBody::Segments(segments) = &result.body else {
                panic!("{} by {dimension}: {:?}", metric.id, result.body);
            };
            for segment in segments {
                let values = segment.values.as_ref().map(Vec::len);
                assert_eq!(values, Some(metric.supported.len()), "{}", metric.id);
            }
        }
    }
}

/// The specification's names apply where their paths do; those of nothing recorded hold all items in one segment.
#[tokio::test]
async fn every_specified_dimension_applies_to_what_has_dimensions() {
    let f = telemetry().await;
    for (metric, refused) in [
        ("requests/count", &[][..]),
        ("customMetrics/queue", &[]),
        ("users/count", &[]),
        // The service was recorded not to offer it.
        ("traces/count", &["authenticatedOrAnonymousTraffic"]),
        ("billing/telemetryCount", &ENUM),
        ("billing/telemetrySize", &ENUM),
    ] {
        for dimension in ENUM {
            let parameters = MetricParameters {
                metric: metric.to_owned(),
                segment: vec![dimension.to_owned()],
                ..MetricParameters::default()
            };
            match f.metric(&parameters).await {
                Ok(_) => assert!(!refused.contains(&dimension), "{metric} by {dimension}"),
                Err(EngineError::BadParameter {
                    parameter, message, ..
                }) => {
                    assert!(
                        refused.contains(&dimension),
                        "{metric} by {dimension}: {message}"
                    );
                    assert_eq!(parameter, "segment");
                    assert!(message.contains("These do:"), "{message}");
                }
                Err(other) => panic!("{metric} by {dimension}: {other}"),
            }
        }
    }
}

/// The size of what is billed is that of the columns as text, so that of a text is its bytes.
#[tokio::test]
async fn the_billed_size_is_of_columns_as_text() {
    let f = crate::support::Fixture::new().await;
    let size = async || {
        let parameters = crate::metrics::metric("billing/telemetrySize", "");
        let text = f.metric_text(&parameters).await;
        let digits = text.strip_prefix("sum=").unwrap().to_owned();
        digits.parse::<i64>().unwrap_or(0)
    };
    let rows = [crate::support::row!["10:00", message: "four"]];
    f.put(hindsight_store::Table::Traces, &rows).await;
    let one = size().await;
    assert!(one >= 4, "{one}");
    let rows = [crate::support::row!["10:00", message: "fourdrei"]];
    f.put(hindsight_store::Table::Traces, &rows).await;
    assert_eq!(size().await, 2 * one + 4);
}

/// Names, units, aggregations and dimensions as they were recorded. The list is kept outside of this repository.
#[test]
#[ignore = "needs the recorded list of metrics: set HINDSIGHT_SHARED and run ignored tests too"]
fn descriptions_are_the_recorded_ones() {
    let near = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or_else(|| near.into(), PathBuf::from);
    let text = std::fs::read(shared.join("spec/metrics.json"))
        .expect("the list of metrics is in HINDSIGHT_SHARED");
    let recorded: Value = serde_json::from_slice(&text).unwrap();
    let own: serde_json::Map<String, Value> = standard_metrics()
        .into_iter()
        .map(|metric| {
            let supported: Vec<&str> = metric.supported.iter().map(|a| a.name()).collect();
            let described = json!({
                "displayName": metric.display_name, "units": metric.unit, "default": metric.default.name(),
                "supported": supported, "groupBy": metric.dimensions,
            });
            (metric.id, described)
        })
        .collect();
    let theirs = recorded["metrics"].as_object().unwrap();
    let ids =
        |metrics: &serde_json::Map<String, Value>| metrics.keys().cloned().collect::<Vec<_>>();
    assert_eq!(ids(&own), ids(theirs));
    for (id, described) in theirs {
        for key in ["displayName", "units", "default", "supported", "groupBy"] {
            assert_eq!(own[id][key], described[key], "{id} {key}");
        }
    }
    for (path, described) in recorded["dimensions"].as_object().unwrap() {
        assert_eq!(
            described["displayName"],
            dimension_display_name(path),
            "{path}"
        );
    }
}
