//! The reply cache (`D18`): who gets what from it, and for how long.

use std::time::Duration;

use super::*;
use serde_json::json;

/// A server with one trace and a clock.
async fn one_trace() -> (Server, Arc<TestClock>) {
    let clock = TestClock::now();
    let server = Server::at(clock.clone(), |_| {}).await;
    trace(&server).await;
    (server, clock)
}

async fn trace(server: &Server) {
    let item = server.envelope("MessageData", json!({"message": "hello"}));
    assert_eq!(server.track(json!([item]).to_string()).await.status, 200);
}

const COUNT: &str = "query?query=traces+%7C+count";

impl Server {
    /// A GET with these headers beside the key.
    async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let path = format!("/v1/apps/{}/{path}", self.shop.id);
        let all: Vec<_> = [("x-api-key", self.key.as_str())]
            .into_iter()
            .chain(headers.iter().copied())
            .collect();
        self.ask(Method::GET, &path, &all, Body::empty()).await
    }

    /// The count of traces with `Cache-Control`, and the reply's age.
    async fn count(&self, control: &str) -> (i64, String) {
        let headers = [("cache-control", control)];
        let reply = self.get_with(COUNT, &headers).await;
        let count = reply.json()["tables"][0]["rows"][0][0].as_i64();
        (count.unwrap(), reply.header("age").to_owned())
    }
}

fn told(count: i64, age: &str) -> (i64, String) {
    (count, age.to_owned())
}

#[tokio::test]
async fn the_second_reply_has_an_age_until_the_lifetime_ends() {
    let (server, clock) = one_trace().await;
    assert_eq!(server.count("").await, told(1, ""));
    assert_eq!(server.count("").await, told(1, "0"));
    clock.pass(28);
    assert_eq!(server.count("").await, told(1, "28"));
    clock.pass(93);
    assert_eq!(server.count("").await, told(1, ""));
    assert_eq!(server.count("").await, told(1, "0"));
}

/// `cache.stale`: 5 s after telemetry arrived at the table of a reply, the reply is computed anew.
#[tokio::test]
async fn telemetry_that_arrived_shows_after_seconds() {
    let (server, clock) = one_trace().await;
    server.count("").await;
    let event = server.envelope("EventData", json!({"name": "Order"}));
    clock.pass(1);
    assert_eq!(server.track(json!([event]).to_string()).await.status, 200);
    clock.pass(9);
    assert_eq!(server.count("").await, told(1, "10"), "another table");
    trace(&server).await;
    assert_eq!(server.count("").await, told(2, ""), "older than 5 s");
    trace(&server).await;
    clock.pass(5);
    assert_eq!(server.count("").await, told(2, "5"));
    clock.pass(1);
    assert_eq!(server.count("").await, told(3, ""));
}

/// Events and metrics know their tables, too.
#[tokio::test]
async fn fresh_telemetry_shows_in_every_family() {
    let (server, clock) = one_trace().await;
    let paths = [
        "events/traces",
        "events/$all",
        "metrics/traces/count",
        "metrics/metadata",
    ];
    for path in paths {
        let first = server.get(path).await;
        assert_eq!(first.header("age"), "", "{path}");
    }
    clock.pass(10);
    let event = server.envelope("EventData", json!({"name": "Order"}));
    assert_eq!(server.track(json!([event]).to_string()).await.status, 200);
    let ages = [
        ("events/traces", "10"),
        ("metrics/traces/count", "10"),
        ("events/$all", ""),
        ("metrics/metadata", ""),
    ];
    for (path, age) in ages {
        assert_eq!(server.get(path).await.header("age"), age, "{path}");
    }
    trace(&server).await;
    for path in ["events/traces", "metrics/traces/count"] {
        assert_eq!(server.get(path).await.header("age"), "", "{path}");
    }
}

#[tokio::test]
async fn max_age_says_how_old_is_too_old() {
    let (server, clock) = one_trace().await;
    server.count("").await;
    trace(&server).await;
    clock.pass(50);
    assert_eq!(server.count("max-age=50").await, told(1, "50"));
    assert_eq!(server.count("max-age=49").await, told(2, ""));
    clock.pass(175);
    assert_eq!(
        server.count("max-age=600").await,
        told(2, "175"),
        "older than the lifetime, if asked for"
    );
}

/// `max-age=0` and `no-cache` query the store and refresh the reply that others get.
#[tokio::test]
async fn bypassing_requests_refresh_the_reply() {
    for control in ["no-cache", "max-age=0"] {
        let (server, _) = one_trace().await;
        server.count("").await;
        trace(&server).await;
        assert_eq!(server.count(control).await, told(2, ""), "{control}");
        assert_eq!(server.count("").await, told(2, "0"), "{control}");
    }
}

#[tokio::test]
async fn no_store_keeps_nothing() {
    let (server, _) = one_trace().await;
    assert_eq!(server.count("no-store").await, told(1, ""));
    assert_eq!(server.count("").await, told(1, ""), "nothing was kept");
    trace(&server).await;
    assert_eq!(server.count("no-store").await, told(2, ""));
    assert_eq!(server.count("").await, told(1, "0"), "nor refreshed");
}

#[tokio::test]
async fn a_lifetime_of_zero_caches_nothing() {
    let clock = TestClock::now();
    let server = Server::at(clock.clone(), |settings| {
        settings.cache_lifetime = Duration::ZERO;
    })
    .await;
    trace(&server).await;
    server.count("").await;
    // At the same moment of the clock, too.
    assert_eq!(server.count("").await, told(1, ""));
    assert_eq!(server.count("max-age=30").await, told(1, ""));
    clock.pass(1);
    assert_eq!(server.count("").await, told(1, ""));
}

/// Whoever may see something else gets a reply of their own; every operation is kept.
#[tokio::test]
async fn replies_are_private_to_what_a_principal_may_see() {
    let (server, _) = one_trace().await;
    let token = crate::app::read_token(&server.app.settings.data).unwrap();
    let everyone = format!("Bearer {token}");
    for path in [
        COUNT,
        "metrics/traces%2Fcount",
        "events/traces",
        "metrics/metadata",
        "metadata",
        "query/schema",
        "events/$metadata",
    ] {
        let path = format!("/v1/apps/{}/{path}", server.shop.id);
        let mut ages = Vec::new();
        for _ in 0..2 {
            for credential in [
                ("x-api-key", server.key.as_str()),
                ("authorization", everyone.as_str()),
            ] {
                let reply = server
                    .ask(Method::GET, &path, &[credential], Body::empty())
                    .await;
                assert_eq!(reply.status, 200, "{path}");
                ages.push(reply.header("age").to_owned());
            }
        }
        assert_eq!(ages, ["", "", "0", "0"], "{path}");
    }
}

#[tokio::test]
async fn a_revoked_key_gets_nothing_from_the_cache() {
    let (server, _) = one_trace().await;
    server.count("").await;
    let catalogue = server.app.store.catalogue();
    assert!(catalogue.delete_key(&server.key_id).await.unwrap());
    // The directory believes what it read for a fraction of a second.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let reply = server.get(COUNT).await;
    assert_eq!((reply.status.as_u16(), reply.header("age")), (403, ""));
}

#[tokio::test]
async fn a_forbidden_query_is_not_answered_from_the_cache() {
    let (server, _) = one_trace().await;
    create_app(server.app.store.catalogue(), "bank", server.app.now())
        .await
        .unwrap();
    let token = crate::app::read_token(&server.app.settings.data).unwrap();
    let everyone = format!("Bearer {token}");
    let query = "query?query=union+traces,+app('bank').traces+%7C+count";
    let path = format!("/v1/apps/{}/{query}", server.shop.id);
    let header = [("authorization", everyone.as_str())];
    let reply = server.ask(Method::GET, &path, &header, Body::empty()).await;
    assert_eq!(reply.status, 200);
    for _ in 0..2 {
        assert_eq!(server.get(query).await.status, 403);
    }
}

/// The key is what was asked: everything that changes the reply is in it, and blanks are not.
#[tokio::test]
async fn requests_are_the_same_when_they_mean_the_same() {
    let (server, _) = one_trace().await;
    assert_eq!(server.get(COUNT).await.header("age"), "");
    let wait = [("prefer", "wait=30")];
    let render = [("prefer", "include-render=true")];
    let full = [("prefer", "ai.response-thinning=false")];
    let json = [("accept", "application/json")];
    let packed = [("accept-encoding", "gzip")];
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let cases: &[(&str, Headers<'_>, bool)] = &[
        (COUNT, &[], true),
        ("query?query=traces%7Ccount+//+all", &[], true),
        ("query?query=traces+%7C+count&applications=shop", &[], true),
        (COUNT, &wait, true),
        (COUNT, &json, true),
        (COUNT, &packed, true),
        (COUNT, &render, false),
        (COUNT, &render, true),
        (COUNT, &full, false),
        (COUNT, &full, true),
        ("query?query=traces+%7C+where+true+%7C+count", &[], false),
        ("query?query=traces+%7C+count&timespan=PT1H", &[], false),
        ("metrics/traces%2Fcount", &[], false),
        ("metrics/traces/count", &[], true),
        (
            "metrics/traces/count?top=3&segment=cloud/roleName",
            &[],
            false,
        ),
        ("events/traces", &[], false),
        ("events/traces", &[("host", "other.example")], false),
        ("events/traces?$format=csv", &[], false),
        ("events/traces?$format=csv", &[], true),
    ];
    for (path, headers, same) in cases {
        let reply = server.get_with(path, headers).await;
        assert_eq!(reply.status, 200, "{path}");
        let hit = !reply.header("age").is_empty();
        assert_eq!(hit, *same, "{path} {headers:?}");
    }
}

#[tokio::test]
async fn identical_requests_that_meet_run_once() {
    let server = Server::start().await;
    // Two runs would give two numbers.
    let query =
        "query?query=range+x+from+1+to+200000+step+1+%7C+summarize+sum(x)+%7C+extend+lucky=rand()";
    let replies = futures::future::join_all((0..5).map(|_| server.get(query))).await;
    for reply in &replies {
        assert_eq!(reply.status, 200);
        assert_eq!(reply.bytes, replies[0].bytes);
    }
}

/// A caller who leaves takes nobody's reply away.
#[tokio::test]
async fn a_request_that_is_dropped_does_not_stop_its_twin() {
    let server = Server::start().await;
    let query = "query?query=range+x+from+1+to+3000000+step+1+%7C+summarize+sum(x)";
    let staying = async {
        tokio::task::yield_now().await;
        server.get(query).await
    };
    let leaving = tokio::time::timeout(Duration::from_millis(20), server.get(query));
    let (left, stayed) = futures::future::join(leaving, staying).await;
    drop(left);
    assert_eq!(
        stayed.json()["tables"][0]["rows"][0][0],
        4_500_001_500_000_i64
    );
}

#[tokio::test]
async fn a_reply_that_the_caller_has_is_304() {
    let (server, _) = one_trace().await;
    for path in [COUNT, "metrics/traces/count", "events/traces"] {
        let first = server.get(path).await;
        let etag = first.header("etag").to_owned();
        assert!(etag.starts_with("W/\""), "{path}: {etag}");
        let again = server.get_with(path, &[("if-none-match", &etag)]).await;
        assert_eq!(
            (again.status.as_u16(), again.bytes.len()),
            (304, 0),
            "{path}"
        );
        assert_eq!(
            (again.header("etag"), again.header("age")),
            (etag.as_str(), "0")
        );
        let other = server
            .get_with(path, &[("if-none-match", "\"other\"")])
            .await;
        assert_eq!(other.status, 200, "{path}");
        assert_eq!(other.bytes, first.bytes, "{path}");
    }
    // A tag opens nothing to those who may not see what it stands for.
    let etag = server.get(COUNT).await.header("etag").to_owned();
    let path = format!("/v1/apps/{}/{COUNT}", server.shop.id);
    let stranger = [("x-api-key", "wrong"), ("if-none-match", etag.as_str())];
    let reply = server
        .ask(Method::GET, &path, &stranger, Body::empty())
        .await;
    assert_eq!((reply.status.as_u16(), reply.header("etag")), (403, ""));
}

#[tokio::test]
async fn a_cleared_cache_asks_the_store() {
    let (server, _) = one_trace().await;
    server.count("").await;
    trace(&server).await;
    server.app.replies.clear();
    assert_eq!(server.count("").await, told(2, ""));
}

/// `current_principal()`: two keys of one application may see the same, and each is told its own name.
#[tokio::test]
async fn a_query_that_reads_the_principal_is_answered_to_each_for_itself() {
    let (server, _) = one_trace().await;
    let catalogue = server.app.store.catalogue();
    let created = create_key(catalogue, server.shop.id, "second", server.app.now(), None).await;
    let (_, second) = created.unwrap();
    let named = async |path: &str, key: &str| {
        let path = format!("/v1/apps/{}/{path}", server.shop.id);
        let reply = server
            .ask(Method::GET, &path, &[("x-api-key", key)], Body::empty())
            .await;
        let name = reply.json()["tables"][0]["rows"][0][0].clone();
        (
            name.as_str().unwrap().to_owned(),
            reply.header("age").to_owned(),
        )
    };
    let query = "query?query=print+current_principal()";
    let mut names = Vec::new();
    for key in [server.key.as_str(), second.as_str()] {
        let (name, age) = named(query, key).await;
        let id = hindsight_identity::api_key::id_of(key).unwrap();
        assert_eq!((name.clone(), age.as_str()), (format!("apikey={id}"), ""));
        assert_eq!(named(query, key).await, (name.clone(), "0".to_owned()));
        names.push(name);
    }
    assert_ne!(names[0], names[1]);
    let shared = "query?query=print+x%3D'shared'";
    assert_eq!(named(shared, &server.key).await.1, "");
    assert_eq!(named(shared, &second).await.1, "0", "one reply for both");
}

/// `current_cluster_endpoint()`: a client that reaches the server by another name is told that name.
#[tokio::test]
async fn a_query_that_reads_the_address_is_answered_for_each_address() {
    let (server, _) = one_trace().await;
    let path = format!(
        "/v1/apps/{}/query?query=print+current_cluster_endpoint()",
        server.shop.id
    );
    for host in ["telemetry.example:2020", "127.0.0.1:2020"] {
        let headers = [("x-api-key", server.key.as_str()), ("host", host)];
        let reply = server.ask(Method::GET, &path, &headers, Body::empty());
        assert_eq!(reply.await.json()["tables"][0]["rows"][0][0], host);
    }
}
