//! Metrics by value: every source, its aggregations, buckets and errors (`D8`, `D10`, `D11`, `docs/api-facts.md §4`).

use hindsight_engine::{EngineError, MetricBody, MetricParameters};
use hindsight_store::Table;

use crate::support::{Fixture, body, clock_text, row};

/// A metric with its aggregations, comma-separated; none where the text is empty.
pub(crate) fn metric(id: &str, aggregations: &str) -> MetricParameters {
    MetricParameters {
        metric: id.to_owned(),
        aggregation: aggregations
            .split(',')
            .filter(|a| !a.is_empty())
            .map(str::to_owned)
            .collect(),
        ..MetricParameters::default()
    }
}

/// Items of every type, some of which stand for several that were sampled out.
pub(crate) async fn telemetry() -> Fixture {
    let f = Fixture::new().await;
    let requests = [
        row!["09:00", name: "GET /", success: "True", resultCode: "200", duration: 10.0, user_Id: "ann",
            url: "https://shop.example/", client_City: "Oslo", cloud_RoleName: "web", application_Version: "1.0"],
        row!["10:15", name: "GET /cart", success: "False", resultCode: "500", duration: 40.0, itemCount: 3, user_Id: "bob",
            url: "https://shop.example/cart", client_City: "Bergen", cloud_RoleName: "web", application_Version: "2.0",
            user_AuthenticatedId: "bob@shop", customDimensions: r#"{"plan":"gold"}"#],
        row!["11:30", name: "GET /", success: "True", resultCode: "200", duration: 25.55, user_Id: "ann",
            url: "https://api.shop.example/", client_City: "Oslo", cloud_RoleName: "api",
            operation_SyntheticSource: "robot"],
        row!["11:45", name: "GET /slow", success: "False", resultCode: "404", user_Id: ""],
    ];
    f.put(Table::Requests, &requests).await;
    let dependencies = [
        row!["10:00", name: "SELECT", r#type: "SQL", target: "db", success: "True", duration: 4.0, itemCount: 2, user_Id: "cat"],
        row!["10:30", name: "SELECT", r#type: "SQL", target: "db", success: "False", duration: 1.0],
    ];
    f.put(Table::Dependencies, &dependencies).await;
    let exceptions = [
        row!["10:00", r#type: "TypeError", client_Type: "Browser", itemCount: 2],
        row!["10:01", r#type: "IOError", client_Type: "PC", itemCount: 5],
        row!["10:02", r#type: "IOError"],
    ];
    f.put(Table::Exceptions, &exceptions).await;
    let events = [
        row!["10:00", name: "buy", session_Id: "s1", customMeasurements: r#"{"basket":3,"price":10.5}"#],
        row!["10:10", name: "buy", session_Id: "s2", itemCount: 4, customMeasurements: r#"{"basket":1}"#],
        row!["10:20", name: "look", session_Id: "s1", customDimensions: r#"{"plan":"gold"}"#],
    ];
    f.put(Table::CustomEvents, &events).await;
    let metrics = [
        row!["10:00", name: "queue", value: 5.0, valueSum: 10.0, valueCount: 2, valueMin: 4.0, valueMax: 6.0],
        row!["10:30", name: "queue", value: 2.0, valueSum: 2.0, valueCount: 1, valueMin: 2.0, valueMax: 2.0],
        row!["10:30", name: "heat", value: 90.0, valueSum: 90.0, valueCount: 1, valueMin: 90.0, valueMax: 90.0],
    ];
    f.put(Table::CustomMetrics, &metrics).await;
    let counters = [
        row!["10:00", name: "\\Process(x)\\Private Bytes", category: "Process", counter: "Private Bytes", value: 100.0],
        row!["10:01", name: "processPrivateBytes", value: 300.0],
        row!["10:01", name: "heap", counter: "heap used", value: 7.0],
        row!["10:02", name: "other", category: "Memory", counter: "Private Bytes", value: 9000.0],
    ];
    f.put(Table::PerformanceCounters, &counters).await;
    let tests = [
        row!["10:00", name: "home", location: "Oslo", success: "1", duration: 100.0, itemCount: 5],
        row!["10:05", name: "home", location: "Rome", success: "0", duration: 50.0],
        row!["10:10", name: "home", location: "Rome", success: "1", duration: 60.0],
    ];
    f.put(Table::AvailabilityResults, &tests).await;
    let views = [row!["10:00", name: "Home", duration: 12.0, itemCount: 2, client_Type: "Browser"]];
    f.put(Table::PageViews, &views).await;
    let timings = [row!["10:00", name: "Home", totalDuration: 900.0, networkDuration: 100.0]];
    f.put(Table::BrowserTimings, &timings).await;
    let traces = [row!["10:00", message: "hello", severityLevel: 1, user_Id: "ann"]];
    f.put(Table::Traces, &traces).await;
    f.put_for(
        f.bank,
        Table::Requests,
        &[row!["10:00", name: "GET /bank", duration: 99.0, success: "False", user_Id: "eve"]],
    )
    .await;
    f
}

#[tokio::test]
async fn every_source_counts_what_it_says() {
    let f = telemetry().await;
    for (id, aggregations, expected) in [
        // Counts weigh an item by what it stands for.
        ("requests/count", "", "sum=6"),
        ("requests/failed", "sum", "sum=4"),
        ("dependencies/count", "", "sum=3"),
        ("dependencies/failed", "", "sum=1"),
        ("exceptions/count", "", "sum=8"),
        ("exceptions/browser", "", "sum=2"),
        ("exceptions/server", "", "sum=6"),
        ("pageViews/count", "", "sum=2"),
        ("customEvents/count", "", "sum=6"),
        ("traces/count", "", "sum=1"),
        ("availabilityResults/count", "", "sum=7"),
        // Durations: items without one are left out.
        ("requests/duration", "", "avg=31.11"),
        (
            "requests/duration",
            "avg,min,max,sum,count",
            "avg=31.11 min=10 max=40 sum=155.55 count=5",
        ),
        ("requests/duration", "COUNT,Min", "count=5 min=10"),
        ("dependencies/duration", "avg,count", "avg=3 count=3"),
        ("pageViews/duration", "sum", "sum=24"),
        ("browserTimings/totalDuration", "", "avg=900"),
        ("client/networkDuration", "max", "max=100"),
        ("availabilityResults/duration", "max,sum", "max=100 sum=610"),
        // Distinct people over nine tables.
        ("users/count", "", "unique=3"),
        ("users/authenticated", "unique", "unique=1"),
        ("sessions/count", "", "unique=2"),
        // Two of three tests passed; how many a test stands for does not weigh here, as the service computes it.
        (
            "availabilityResults/availabilityPercentage",
            "avg",
            "avg=66.67",
        ),
        // Counters by category and counter, and by the short name of other SDKs.
        (
            "performanceCounters/processPrivateBytes",
            "avg,min,max,count",
            "avg=200 min=100 max=300 count=2",
        ),
        ("performanceCounters/heap", "", "avg=7"),
        ("performanceCounters/heap used", "max", "max=7"),
        // Custom metrics are pre-aggregated.
        (
            "customMetrics/queue",
            "avg,min,max,sum,count,unique",
            "avg=4 min=2 max=6 sum=12 count=3 unique=2",
        ),
        (
            "customEvents/custom/basket",
            "avg,min,max,sum,count,unique",
            "avg=1.4 min=1 max=3 sum=7 count=5 unique=2",
        ),
        ("customEvents/custom/price", "", "avg=10.5"),
        ("billing/telemetryCount", "", "sum=41"),
    ] {
        assert_eq!(
            f.metric_text(&metric(id, aggregations)).await,
            expected,
            "{id} {aggregations}"
        );
    }
}

#[tokio::test]
async fn no_data_is_null_for_every_source() {
    let f = Fixture::new().await;
    for (id, aggregations, expected) in [
        ("requests/count", "", "sum=-"),
        ("requests/duration", "avg,count,sum", "avg=- count=- sum=-"),
        ("users/count", "", "unique=-"),
        ("availabilityResults/availabilityPercentage", "", "avg=-"),
        ("performanceCounters/heap", "avg,count", "avg=- count=-"),
        ("customMetrics/queue", "avg,unique", "avg=- unique=-"),
        ("customEvents/custom/basket", "sum", "sum=-"),
        ("billingMeters/telemetryCount", "", "sum=-"),
    ] {
        assert_eq!(
            f.metric_text(&metric(id, aggregations)).await,
            expected,
            "{id}"
        );
        let mut with_interval = metric(id, aggregations);
        with_interval.interval = Some("PT1H".to_owned());
        assert_eq!(f.metric_text(&with_interval).await, "", "{id}");
    }
}

/// `D8`: a bare name is answered under the id that it stands for.
#[tokio::test]
async fn a_bare_name_is_a_measurement_or_a_custom_metric() {
    let f = telemetry().await;
    for (bare, id, text) in [
        ("basket", "customEvents/custom/basket", "avg=1.4"),
        ("queue", "customMetrics/queue", "avg=4"),
    ] {
        let result = f.metric(&metric(bare, "")).await.unwrap();
        assert_eq!((result.metric.as_str(), body(&result).as_str()), (id, text));
    }
    let mut segmented = metric("basket", "sum");
    segmented.segment = vec!["customEvent/name".to_owned()];
    assert_eq!(
        f.metric_text(&segmented).await,
        "customEvent/name=buy[sum=7]"
    );
    let mut segmented = metric("queue", "sum");
    segmented.segment = vec!["customMetric/name".to_owned()];
    segmented.interval = Some("P1D".to_owned());
    assert_eq!(
        f.metric_text(&segmented).await,
        "00:00-12:00{customMetric/name=queue[sum=12]}"
    );
}

#[tokio::test]
async fn unknown_metrics_are_not_found() {
    let f = telemetry().await;
    for id in [
        "requests/nothing",
        "nothing",
        "",
        "Requests/count",
        "customMetrics/",
    ] {
        let found = f.metric(&metric(id, "")).await;
        assert!(
            matches!(found, Err(EngineError::NotFound(_))),
            "{id}: {found:?}"
        );
    }
    let bad = f.metric(&metric("queue", "median")).await;
    assert!(
        matches!(bad, Err(EngineError::BadParameter { .. })),
        "{bad:?}"
    );
}

#[tokio::test]
async fn only_the_timespan_counts() {
    let f = telemetry().await;
    for (timespan, expected, start, end) in [
        (None, "sum=6", "00:00", "12:00"),
        (Some("PT1H"), "sum=2", "11:00", "12:00"),
        // Half-open.
        (
            Some("2025-03-06T09:00:00Z/2025-03-06T10:15:00Z"),
            "sum=1",
            "09:00",
            "10:15",
        ),
        (
            Some("2025-03-06T09:00:00.0000001Z/PT1H15M"),
            "sum=3",
            "09:00:00.0000001",
            "10:15:00.0000001",
        ),
        // Cut to now.
        (
            Some("2025-03-06T11:40:00Z/2025-03-07T00:00:00Z"),
            "sum=1",
            "11:40",
            "12:00",
        ),
    ] {
        let mut parameters = metric("requests/count", "");
        parameters.timespan = timespan.map(str::to_owned);
        let result = f.metric(&parameters).await.unwrap();
        let used = (clock_text(result.range.start), clock_text(result.range.end));
        assert_eq!(
            (body(&result).as_str(), used),
            (expected, (start.to_owned(), end.to_owned())),
            "{timespan:?}"
        );
    }
    let mut old = metric("requests/count", "");
    old.timespan = Some("2024-01-01T00:00:00Z/2025-03-06T12:00:00Z".to_owned());
    let result = f.metric(&old).await.unwrap();
    assert_eq!(
        result.range.end - result.range.start,
        90 * 864_000_000_000,
        "cut to what is kept"
    );
}

/// `D11`: boundaries are multiples of the interval, the ends are those of the request, and gaps are told.
#[tokio::test]
async fn buckets_are_aligned_clipped_and_filled() {
    let f = telemetry().await;
    for (id, timespan, interval, expected) in [
        (
            "requests/count",
            "2025-03-06T08:30:00Z/2025-03-06T11:40:00Z",
            "PT1H",
            "08:30-09:00{sum=-} 09:00-10:00{sum=1} 10:00-11:00{sum=3} 11:00-11:40{sum=1}",
        ),
        (
            "requests/duration",
            "2025-03-06T09:00:00Z/2025-03-06T12:00:00Z",
            "PT90M",
            "09:00-10:30{avg=32.5} 10:30-12:00{avg=25.55}",
        ),
        (
            "users/count",
            "2025-03-06T09:00:00Z/2025-03-06T12:00:00Z",
            "PT1H",
            "09:00-10:00{unique=1} 10:00-11:00{unique=3} 11:00-12:00{unique=1}",
        ),
        (
            "requests/count",
            "2025-03-06T08:30:00Z/2025-03-06T08:40:00Z",
            "PT1H",
            "",
        ),
        (
            "requests/count",
            "2025-03-06T09:00:00Z/2025-03-06T09:10:00Z",
            "P1D",
            "09:00-09:10{sum=1}",
        ),
    ] {
        let mut parameters = metric(id, "");
        parameters.timespan = Some(timespan.to_owned());
        parameters.interval = Some(interval.to_owned());
        assert_eq!(
            f.metric_text(&parameters).await,
            expected,
            "{id} {timespan} {interval}"
        );
    }
}

#[tokio::test]
async fn a_too_fine_interval_is_widened_with_a_notice() {
    let f = telemetry().await;
    for (timespan, interval, used) in [
        ("PT12H", "PT1S", "PT5S"),
        ("PT12H", "PT5S", "PT5S"),
        ("P30D", "PT1M", "PT5M"),
        ("P30D", "PT7M", "PT7M"),
        ("PT10000S", "PT1S", "PT1S"),
        ("PT10001S", "PT1S", "PT5S"),
    ] {
        let mut parameters = metric("requests/count", "");
        parameters.timespan = Some(timespan.to_owned());
        parameters.interval = Some(interval.to_owned());
        let result = f.metric(&parameters).await.unwrap();
        assert_eq!(
            result.interval.as_deref(),
            Some(used),
            "{timespan} {interval}"
        );
        let MetricBody::Buckets(buckets) = &result.body else {
            panic!("no buckets: {:?}", result.body);
        };
        assert!(
            buckets.len() <= 10_000,
            "{timespan} {interval}: {}",
            buckets.len()
        );
    }
}

#[tokio::test]
async fn wrong_parameters_say_what_is_right() {
    let f = telemetry().await;
    let with = |change: fn(&mut MetricParameters)| {
        let mut parameters = metric("requests/duration", "");
        change(&mut parameters);
        parameters
    };
    for (parameters, parameter, text) in [
        (
            with(|p| p.aggregation = vec!["avg".to_owned(), "unique".to_owned()]),
            "aggregation",
            "The metric 'requests/duration' has no aggregation 'unique'. It has: avg, min, max, sum, count.",
        ),
        (
            with(|p| p.segment = vec!["pageView/name".to_owned()]),
            "segment",
            "The dimension 'pageView/name' does not apply to 'requests/duration'. These do: request/source, request/name, \
             request/urlHost, request/urlPath, request/success, request/resultCode, request/performanceBucket, operation/name, \
             operation/synthetic, operation/syntheticSource, user/authenticated, application/version, client/type, client/model, \
             client/os, client/city, client/stateOrProvince, client/countryOrRegion, client/browser, cloud/roleName, \
             cloud/roleInstance, customDimensions/<key>.",
        ),
        (
            with(|p| p.segment = vec!["client/city".to_owned(), "client/city".to_owned()]),
            "segment",
            "The dimension 'client/city' is listed twice.",
        ),
        (
            with(|p| p.top = Some(3)),
            "top",
            "'top' is valid only with 'segment'.",
        ),
        (
            with(|p| p.orderby = Some("avg desc".to_owned())),
            "orderby",
            "'orderby' is valid only with 'segment'.",
        ),
        (
            with(|p| {
                p.segment = vec!["client/city".to_owned()];
                p.top = Some(0);
            }),
            "top",
            "'top' is 0; it must be from 1 to 10000.",
        ),
        (
            with(|p| {
                p.segment = vec!["client/city".to_owned()];
                p.orderby = Some("avg up".to_owned());
            }),
            "orderby",
            "'up' is not a direction; use asc or desc.",
        ),
        (
            with(|p| p.interval = Some("PT0.5S".to_owned())),
            "interval",
            "The interval 'PT0.5S' is shorter than one second, the least there is.",
        ),
        (
            with(|p| p.interval = Some("1h".to_owned())),
            "interval",
            "'1h' is not an ISO 8601 duration such as PT5M, PT1H or P1D.",
        ),
        (
            with(|p| p.interval = Some("P1M".to_owned())),
            "interval",
            "'P1M' has no fixed length, which an interval needs: use days in place of months and years.",
        ),
        (
            with(|p| p.timespan = Some("2025-03-06T02:00:00Z/2025-03-06T01:00:00Z".to_owned())),
            "timespan",
            "The timespan '2025-03-06T02:00:00Z/2025-03-06T01:00:00Z' ends before it starts.",
        ),
    ] {
        match f.metric(&parameters).await {
            Err(EngineError::BadParameter {
                parameter: found,
                message,
                ..
            }) => {
                assert_eq!((found.as_str(), message.as_str()), (parameter, text));
            }
            other => panic!("{parameter}: {other:?}"),
        }
    }
}

/// `ai.include-query-payload` shows a query that gives the same value when it is run as one.
#[tokio::test]
async fn the_query_of_a_metric_can_be_run() {
    let f = telemetry().await;
    for id in [
        "requests/duration",
        "users/count",
        "customEvents/custom/basket",
        "performanceCounters/heap",
    ] {
        let mut parameters = metric(id, "");
        parameters.segment = vec!["client/city".to_owned()];
        parameters.interval = Some("PT1H".to_owned());
        parameters.filter = Some("cloud/roleName ne 'none'".to_owned());
        let result = f.metric(&parameters).await.unwrap();
        let rows = f.rows(&result.query).await;
        assert!(
            !rows.is_empty() && !rows[0].contains("Query"),
            "{}: {rows:?}",
            result.query
        );
    }
}
