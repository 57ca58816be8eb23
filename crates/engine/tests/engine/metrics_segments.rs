//! Segments of metrics: dimensions, nesting, order, `top` and filters (`D2`, `D9`, `D12`).

use hindsight_engine::{EngineError, MetricParameters};
use hindsight_store::Table;

use crate::metrics::{metric, telemetry};
use crate::support::{Fixture, row};

/// A metric cut into segments, comma-separated.
fn segmented(id: &str, aggregations: &str, segment: &str) -> MetricParameters {
    MetricParameters {
        segment: segment.split(',').map(str::to_owned).collect(),
        ..metric(id, aggregations)
    }
}

/// `D9`: paths, the specification's names and bag keys are all dimensions.
#[tokio::test]
async fn dimensions_are_returned_as_written() {
    let f = telemetry().await;
    for (id, segment, expected) in [
        (
            "requests/count",
            "request/name",
            "request/name=GET /cart[sum=3], request/name=GET /[sum=2], request/name=GET /slow[sum=1]",
        ),
        (
            "requests/count",
            "request/success",
            "request/success=false[sum=4], request/success=true[sum=2]",
        ),
        (
            "requests/count",
            "request/resultCode",
            "request/resultCode=500[sum=3], request/resultCode=200[sum=2], request/resultCode=404[sum=1]",
        ),
        (
            "requests/count",
            "request/urlHost",
            "request/urlHost=shop.example[sum=4], request/urlHost=[sum=1], request/urlHost=api.shop.example[sum=1]",
        ),
        (
            "requests/count",
            "request/urlPath",
            "request/urlPath=[sum=3], request/urlPath=/cart[sum=3]",
        ),
        (
            "requests/count",
            "client/city",
            "client/city=Bergen[sum=3], client/city=Oslo[sum=2], client/city=[sum=1]",
        ),
        (
            "requests/count",
            "city",
            "city=Bergen[sum=3], city=Oslo[sum=2], city=[sum=1]",
        ),
        (
            "requests/count",
            "cloudRoleName",
            "cloudRoleName=web[sum=4], cloudRoleName=[sum=1], cloudRoleName=api[sum=1]",
        ),
        (
            "requests/count",
            "applicationVersion",
            "applicationVersion=2.0[sum=3], applicationVersion=[sum=2], applicationVersion=1.0[sum=1]",
        ),
        (
            "requests/count",
            "authenticatedOrAnonymousTraffic",
            "authenticatedOrAnonymousTraffic=false[sum=3], authenticatedOrAnonymousTraffic=true[sum=3]",
        ),
        (
            "requests/count",
            "operation/synthetic",
            "operation/synthetic=false[sum=5], operation/synthetic=true[sum=1]",
        ),
        (
            "requests/count",
            "operation/syntheticSource",
            "operation/syntheticSource=[sum=5], operation/syntheticSource=robot[sum=1]",
        ),
        (
            "requests/count",
            "customDimensions/plan",
            "customDimensions/plan=[sum=3], customDimensions/plan=gold[sum=3]",
        ),
        (
            "availabilityResults/count",
            "availabilityResult/success",
            "availabilityResult/success=true[sum=6], availabilityResult/success=false[sum=1]",
        ),
        (
            "availabilityResults/count",
            "availabilityResult/location",
            "availabilityResult/location=Oslo[sum=5], availabilityResult/location=Rome[sum=2]",
        ),
        (
            "dependencies/count",
            "dependency/type",
            "dependency/type=SQL[sum=3]",
        ),
        (
            "exceptions/count",
            "exception/type",
            "exception/type=IOError[sum=6], exception/type=TypeError[sum=2]",
        ),
        (
            "traces/count",
            "trace/severityLevel",
            "trace/severityLevel=1[sum=1]",
        ),
        (
            "performanceCounters/processPrivateBytes",
            "performanceCounter/counter",
            "performanceCounter/counter=[avg=300], performanceCounter/counter=Private Bytes[avg=100]",
        ),
        (
            "customEvents/custom/basket",
            "customEvent/name",
            "customEvent/name=buy[avg=1.4]",
        ),
        (
            "users/count",
            "type",
            "type=request[unique=2], type=dependency[unique=1], type=trace[unique=1]",
        ),
    ] {
        assert_eq!(
            f.metric_text(&segmented(id, "", segment)).await,
            expected,
            "{id} {segment}"
        );
    }
}

/// A dimension of one item type says nothing of the others, though their columns have the same name.
#[tokio::test]
async fn a_dimension_of_one_type_is_empty_in_other_types() {
    let f = telemetry().await;
    for (segment, expected) in [
        (
            "request/name",
            "request/name=[unique=2], request/name=GET /[unique=1], request/name=GET /cart[unique=1]",
        ),
        (
            "dependency/name",
            "dependency/name=[unique=2], dependency/name=SELECT[unique=1]",
        ),
        (
            "request/success",
            "request/success=null[unique=2], request/success=false[unique=1], request/success=true[unique=1]",
        ),
        (
            "trace/severityLevel",
            "trace/severityLevel=null[unique=3], trace/severityLevel=1[unique=1]",
        ),
    ] {
        assert_eq!(
            f.metric_text(&segmented("users/count", "", segment)).await,
            expected,
            "{segment}"
        );
    }
    let mut filtered = metric("users/count", "");
    filtered.filter = Some("request/name ne ''".to_owned());
    assert_eq!(f.metric_text(&filtered).await, "unique=2");
}

/// Telemetry whose averages and counts order differently.
async fn cities() -> Fixture {
    let f = Fixture::new().await;
    let visits = [
        ("10:00", "Norway", "Oslo", 10.0, 4),
        ("10:10", "Norway", "Bergen", 60.0, 1),
        ("10:20", "Italy", "Rome", 65.0, 1),
        ("11:00", "Italy", "Rome", 5.0, 1),
        ("11:10", "Norway", "Oslo", 20.0, 1),
        ("11:20", "Chile", "Arica", 1.0, 9),
    ];
    let rows: Vec<_> = visits
        .into_iter()
        .map(|(at, country, city, duration, count)| {
            row![at, client_CountryOrRegion: country, client_City: city, duration: duration, itemCount: count]
        })
        .collect();
    f.put(Table::Requests, &rows).await;
    f
}

#[tokio::test]
async fn segments_nest_in_the_order_of_the_request() {
    let f = cities().await;
    assert_eq!(
        f.metric_text(&segmented(
            "requests/count",
            "",
            "client/countryOrRegion,client/city"
        ))
        .await,
        "client/countryOrRegion=Chile[client/city=Arica[sum=9]], \
         client/countryOrRegion=Norway[client/city=Oslo[sum=5], client/city=Bergen[sum=1]], \
         client/countryOrRegion=Italy[client/city=Rome[sum=2]]"
    );
}

/// Outer groups order by the sum of their leaves even where the leaves are averages: 60 + 12 is before 35.
#[tokio::test]
async fn outer_segments_order_by_the_sum_of_their_leaves() {
    let f = cities().await;
    assert_eq!(
        f.metric_text(&segmented(
            "requests/duration",
            "avg",
            "countryOrRegion,city"
        ))
        .await,
        "countryOrRegion=Norway[city=Bergen[avg=60], city=Oslo[avg=12]], countryOrRegion=Italy[city=Rome[avg=35]], \
         countryOrRegion=Chile[city=Arica[avg=1]]"
    );
}

#[tokio::test]
async fn order_and_top_choose_outer_segments() {
    let f = cities().await;
    for (aggregations, orderby, top, expected) in [
        (
            "avg,count",
            None,
            None,
            "city=Bergen[avg=60 count=1], city=Rome[avg=35 count=2], city=Oslo[avg=12 count=5], city=Arica[avg=1 count=9]",
        ),
        (
            "avg",
            Some("count"),
            Some(2),
            "city=Arica[avg=1], city=Oslo[avg=12]",
        ),
        ("avg", Some("count DESC"), Some(1), "city=Arica[avg=1]"),
        (
            "avg",
            Some("avg asc"),
            Some(2),
            "city=Arica[avg=1], city=Oslo[avg=12]",
        ),
        (
            "avg",
            Some("max asc"),
            Some(3),
            "city=Arica[avg=1], city=Oslo[avg=12], city=Bergen[avg=60]",
        ),
        ("count,avg", None, Some(1), "city=Arica[count=9 avg=1]"),
    ] {
        let mut parameters = segmented("requests/duration", aggregations, "city");
        parameters.orderby = orderby.map(str::to_owned);
        parameters.top = top;
        assert_eq!(
            f.metric_text(&parameters).await,
            expected,
            "{aggregations} {orderby:?} {top:?}"
        );
    }
}

/// `D12`: ten where the request does not say, in every bucket for itself.
#[tokio::test]
async fn top_counts_in_every_bucket() {
    let f = cities().await;
    let mut parameters = segmented("requests/count", "", "city");
    parameters.timespan = Some("2025-03-06T09:30:00Z/2025-03-06T12:00:00Z".to_owned());
    parameters.interval = Some("PT1H".to_owned());
    parameters.top = Some(1);
    assert_eq!(
        f.metric_text(&parameters).await,
        "09:30-10:00{} 10:00-11:00{city=Oslo[sum=4]} 11:00-12:00{city=Arica[sum=9]}"
    );
    let rows: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
        .into_iter()
        .map(|name| row!["10:00", name: name])
        .collect();
    f.put(Table::PageViews, &rows).await;
    let text = f
        .metric_text(&segmented("pageViews/count", "", "pageView/name"))
        .await;
    assert_eq!(text.matches("[sum=1]").count(), 10, "{text}");
}

#[tokio::test]
async fn filters_choose_items_by_their_dimensions() {
    let f = telemetry().await;
    for (filter, expected) in [
        ("client/city eq 'Oslo'", "sum=2"),
        ("client/city ne 'Oslo'", "sum=4"),
        ("client/city eq 'Oslo' and cloud/roleName eq 'api'", "sum=1"),
        (
            "client/city eq 'Bergen' or request/resultCode eq '404'",
            "sum=4",
        ),
        ("not (client/city eq 'Bergen')", "sum=3"),
        ("startswith(request/name,'GET /c')", "sum=3"),
        ("contains(request/urlHost,'api')", "sum=1"),
        ("request/success eq 'False'", "sum=4"),
        ("request/success eq false", "sum=4"),
        ("customDimensions/plan eq 'gold'", "sum=3"),
        ("city eq 'Bergen'", "sum=3"),
        ("client/city eq 'Paris'", "sum=-"),
    ] {
        let mut parameters = metric("requests/count", "");
        parameters.filter = Some(filter.to_owned());
        assert_eq!(f.metric_text(&parameters).await, expected, "{filter}");
    }
    for filter in [
        "pageView/name eq 'x'",
        "client/city eq",
        "client/city like 'O'",
    ] {
        let mut parameters = metric("requests/count", "");
        parameters.filter = Some(filter.to_owned());
        let found = f.metric(&parameters).await;
        assert!(
            matches!(&found, Err(EngineError::BadParameter { parameter, .. }) if parameter.contains("filter")),
            "{filter}: {found:?}"
        );
    }
}

/// A path that is no dimension of the metric; billing has its own alone.
#[tokio::test]
async fn dimensions_that_do_not_apply_are_refused() {
    let f = telemetry().await;
    for (id, segment) in [
        ("requests/count", "pageView/name"),
        ("users/count", "billing/telemetryItemType"),
        ("traces/count", "user/authenticated"),
        ("requests/count", "customDimensions/"),
        ("requests/count", "client/ip"),
        ("billing/telemetryCount", "client/city"),
        ("billing/telemetryCount", "customDimensions/plan"),
        ("billing/telemetrySize", "continent"),
    ] {
        let found = f.metric(&segmented(id, "", segment)).await;
        assert!(
            matches!(&found, Err(EngineError::BadParameter { parameter, .. }) if parameter == "segment"),
            "{id} {segment}: {found:?}"
        );
    }
    assert_eq!(
        f.metric_text(&segmented(
            "billing/telemetryCount",
            "",
            "billing/telemetryItemType"
        ))
        .await,
        "billing/telemetryItemType=exception[sum=8], billing/telemetryItemType=availabilityResult[sum=7], \
         billing/telemetryItemType=customEvent[sum=6], billing/telemetryItemType=request[sum=6], \
         billing/telemetryItemType=performanceCounter[sum=4], billing/telemetryItemType=customMetric[sum=3], \
         billing/telemetryItemType=dependency[sum=3], billing/telemetryItemType=pageView[sum=2], \
         billing/telemetryItemType=browserTiming[sum=1], billing/telemetryItemType=trace[sum=1]"
    );
}
