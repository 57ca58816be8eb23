//! Plans that are kept for later requests of the same text: they change no answer, and only those that belong to no request are kept.

use std::sync::Arc;

use hindsight_engine::{EngineConfig, QueryEngine, QueryRequest};
use hindsight_kql::{PrincipalKind, QueryPrincipal};
use hindsight_store::{SystemClock, Table};

use crate::support::{Fixture, row, rows};

/// Queries whose plans are kept.
const KEPT: [&str; 21] = [
    "requests | summarize count() by name | order by name asc",
    "requests | where timestamp >= datetime(2025-03-06T09:30:00Z) | summarize avg(duration), percentile(duration, 95) by name | order by name asc",
    "requests | where success == 'False' | project timestamp, name, duration | order by timestamp asc",
    "requests | top 2 by duration desc | project name, duration",
    "requests | order by timestamp desc, itemId asc | take 100",
    "requests | where id == 'absent'",
    "requests | where 1 == 2",
    "requests | where name has 'cart' or url contains 'cart' | count",
    "requests | join kind=inner traces on operation_Id | project name, message | order by name asc, message asc",
    "requests | join kind=leftouter (traces | summarize n = count() by operation_Id) on operation_Id | summarize sum(n), count()",
    "union requests, traces | summarize count() by itemType | order by itemType asc",
    "union withsource=t requests, traces | summarize count() by t | order by t asc",
    "union requests, traces, exceptions | count",
    "requests | where customDimensions.plan == 'pro' | summarize count() by tostring(customDimensions.region)",
    "requests | extend tier = tostring(customDimensions.plan) | distinct tier | order by tier asc",
    "requests | summarize arg_max(timestamp, name) by operation_Id | order by operation_Id asc",
    "requests | summarize names = make_list(name), found = make_set(success), dcount(operation_Id) | project array_sort_asc(names), array_sort_asc(found), dcount_operation_Id",
    "requests | summarize count() by bin(timestamp, 1h) | order by timestamp asc | render timechart with (title='Load')",
    "let least = 15.0; requests | where duration > least | count",
    "set truncationmaxrecords=2; requests | order by timestamp asc | project name",
    "declare query_parameters(least: real = 15.0); requests | where duration > least | count",
];

/// Queries whose plans belong to one request.
const NOT_KEPT: [&str; 22] = [
    "requests | where timestamp > ago(1h) | count",
    "requests | where timestamp < now() | count",
    "requests | where timestamp < datetime() | count",
    "requests | extend t = now(-1h) | take 1",
    "set query_now = datetime(2025-03-06T10:30:00Z); requests | where timestamp > ago(1h) | count",
    "requests | extend r = rand() | where r < 2 | count",
    "requests | extend g = new_guid() | count",
    "requests | sample 1",
    "requests | extend p = current_principal() | take 1",
    "requests | where current_principal_is_member_of('aaduser=a@b') | count",
    "requests | extend e = current_cluster_endpoint() | take 1",
    "requests | extend d = current_database() | take 1",
    "requests | extend m = toscalar(traces | count) | take 1",
    "requests | where operation_Id in (traces | project operation_Id) | count",
    "requests | evaluate bag_unpack(customDimensions) | count",
    "requests | mv-expand tags = customDimensions | count",
    "requests | extend g = geo_info_from_ip_address('1.2.3.4') | take 1",
    "app('bank').requests | count",
    "AppRequests | count",
    "requests | count; traces | count",
    "search 'cart' | count",
    "print 1",
];

async fn filled() -> Fixture {
    let f = Fixture::new().await;
    put(&f, "09:00", "09:00:01").await;
    f
}

/// Stores a few items of these times.
async fn put(f: &Fixture, time: &'static str, later: &'static str) {
    let requests = [
        row![time, name: "GET /", success: "True", duration: 10.0, operation_Id: "a", customDimensions: r#"{"plan":"pro","region":"north"}"#],
        row![later, name: "GET /cart", success: "False", duration: 30.0, operation_Id: time, customDimensions: r#"{"plan":"free"}"#],
    ];
    f.put(Table::Requests, &requests).await;
    f.put(
        Table::Traces,
        &[row![later, message: "the cart is empty", severityLevel: 2, operation_Id: time]],
    )
    .await;
    f.put_for(
        f.bank,
        Table::Requests,
        &[row![time, name: "POST /transfer", success: "True", duration: 5.0]],
    )
    .await;
}

/// All that an engine replies, as text.
async fn reply(engine: &QueryEngine, request: &QueryRequest) -> String {
    match engine.query(request).await {
        Ok(result) => {
            let tables = result.tables.iter();
            let tables: Vec<_> = tables.map(|t| (&t.name, &t.columns, rows(t))).collect();
            format!("{tables:?} {:?} {:?}", result.render, result.partial)
        }
        Err(error) => format!("{error:?}"),
    }
}

#[tokio::test]
async fn kept_plans_change_no_answer() {
    let f = filled().await;
    let config = EngineConfig {
        partitions: 2,
        keep_plans: false,
        ..EngineConfig::default()
    };
    let clock = Arc::new(SystemClock::default());
    let without = QueryEngine::new(f.store.clone(), config, clock).unwrap();
    for (round, (time, later)) in [
        ("10:00", "10:00:01"),
        ("10:30", "10:40:01"),
        ("11:00", "11:05:01"),
    ]
    .into_iter()
    .enumerate()
    {
        for (index, query) in KEPT.into_iter().enumerate() {
            let request = f.request(query);
            let expected = reply(&without, &request).await;
            assert_eq!(reply(&f.engine, &request).await, expected, "{query}");
            let kept = if round == 0 { index + 1 } else { KEPT.len() };
            assert_eq!(f.engine.kept_plans(), kept, "{query}");
        }
        put(&f, time, later).await;
        if round == 0 {
            f.store.seal_all().await.unwrap();
        }
    }
    assert_eq!(without.kept_plans(), 0);
}

#[tokio::test]
async fn plans_that_belong_to_a_request_are_not_kept() {
    let f = filled().await;
    for query in NOT_KEPT {
        let reply = reply(&f.engine, &f.request(query)).await;
        assert!(reply.starts_with('['), "{query}: {reply}");
        assert_eq!(f.engine.kept_plans(), 0, "{query}");
    }
}

#[tokio::test]
async fn requests_that_differ_beside_the_text_have_plans_of_their_own() {
    let f = filled().await;
    let count = |least: Option<&str>, timespan: Option<&str>, bank: bool| {
        let mut request = f.request(
            "declare query_parameters(least: real = 0.0); requests | where duration > least | count",
        );
        request.timespans = timespan.into_iter().map(str::to_owned).collect();
        let least = least.map(|value| ("least".to_owned(), value.to_owned()));
        request.options.parameters = least.into_iter().collect();
        if bank {
            request.applications = vec!["bank".to_owned()];
        }
        request
    };
    let whole = Some("2025-03-06T09:00:00Z/2025-03-06T09:00:01Z");
    let cases = [
        (count(None, None, false), "2"),
        (count(Some("20.0"), None, false), "1"),
        (count(None, whole, false), "1"),
        (count(None, None, true), "3"),
    ];
    for _ in 0..2 {
        for (request, expected) in &cases {
            assert_eq!(f.rows_of(request).await, [*expected], "{request:?}");
        }
    }
    assert_eq!(f.engine.kept_plans(), cases.len());
    let mut bank = count(None, None, false);
    bank.caller.app = f.bank;
    assert_eq!(f.rows_of(&bank).await, ["1"]);
}

#[tokio::test]
async fn principals_that_may_not_read_an_application_are_refused_as_before() {
    let f = filled().await;
    let mut request = f.request("requests | count");
    request.applications = vec!["bank".to_owned()];
    for _ in 0..2 {
        assert_eq!(f.rows_of(&request).await, ["3"]);
    }
    request.caller = f.shopkeeper();
    let refused = f.rows_of(&request).await;
    assert!(refused[0].starts_with("Forbidden"), "{refused:?}");
    let mut named = f.request("requests | project p = current_principal() | take 1");
    for name in ["ada", "bob"] {
        named.caller.sender = Some(Arc::new(QueryPrincipal {
            kind: PrincipalKind::User,
            id: name.to_owned(),
            tenant: None,
            issuer: None,
            sign_in_name: None,
            display_name: None,
        }));
        assert_eq!(f.rows_of(&named).await, [format!("aaduser={name}")]);
    }
}
