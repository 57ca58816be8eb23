//! Test mode: the clock, reset, snapshots and waiting; and that none of it is there without `--test`.

use std::collections::BTreeSet;

use hindsight_kql_types::datetime;
use serde_json::json;

use super::*;
use crate::openapi::{document, document_of_test_mode};
use crate::routes::table;
use crate::test_mode::{Reading, TestMode};

impl Server {
    async fn in_test_mode(in_memory: bool) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::defaults().unwrap();
        settings.data = folder.path().join("data");
        std::fs::create_dir(&settings.data).unwrap();
        settings.query_memory = 256 << 20;
        settings.cache_lifetime = Duration::ZERO;
        let app = App::build_in_test_mode(settings, TestMode::new(in_memory, Reading::Machine));
        let server = Server::over(app.await.unwrap(), folder).await;
        server.test().set_app(server.shop.id);
        server
    }

    fn test(&self) -> &TestMode {
        self.app.test.as_ref().unwrap()
    }

    async fn put_clock(&self, body: Value) -> Reply {
        let body = body.to_string();
        self.ask(Method::PUT, "/test/clock", &[], body).await
    }

    async fn post_test(&self, path: &str, body: Value) -> Reply {
        self.ask(Method::POST, path, &[], body.to_string()).await
    }

    /// Sends events of now with these names.
    async fn events(&self, names: &[&str]) {
        let item = |name: &&str| self.envelope("EventData", json!({"name": *name}));
        let items: Vec<Value> = names.iter().map(item).collect();
        let reply = self.track(Value::from(items).to_string()).await;
        assert_eq!(reply.status, 200, "{:?}", reply.json());
    }

    /// The names of all events of the shop, sorted.
    async fn names(&self) -> Vec<String> {
        let reply = self
            .query("customEvents | project name | order by name asc")
            .await;
        let rows = reply.json()["tables"][0]["rows"].clone();
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row[0].as_str().unwrap().to_owned())
            .collect()
    }

    async fn scalar(&self, kql: &str) -> Value {
        self.query(kql).await.json()["tables"][0]["rows"][0][0].clone()
    }
}

#[tokio::test]
async fn without_test_mode_nothing_of_it_answers() {
    let server = Server::start().await;
    let key = [("x-api-key", server.key.as_str())];
    let mut asked = 0;
    for route in table::of_test_mode().filter(|route| route.path.starts_with("/test")) {
        for method in [Method::GET, Method::PUT, Method::POST, Method::DELETE] {
            let reply = server.ask(method, route.path, &key, "{}").await;
            assert_eq!(reply.status, 404, "{}", route.path);
            assert_eq!(reply.json()["error"]["code"], "PathNotFoundError");
            asked += 1;
        }
    }
    assert_eq!(asked, 20);
    let described = document(table::all()).to_string();
    assert!(!described.contains("/test"), "{described}");
}

#[tokio::test]
async fn in_test_mode_the_document_describes_it() {
    let server = Server::in_test_mode(true).await;
    let reply = server
        .ask(Method::GET, "/openapi.json", &[], Body::empty())
        .await;
    let described = document_of_test_mode(table::of_test_mode());
    assert_eq!(reply.json(), described);
    let text = described.to_string();
    let referenced: BTreeSet<&str> = text
        .split("#/components/schemas/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    for name in described["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
    {
        assert!(referenced.contains(name.as_str()), "{name} is not used");
    }
    for name in referenced {
        assert!(
            described["components"]["schemas"].get(name).is_some(),
            "{name}"
        );
    }
    for (path, methods) in [
        ("/test/clock", ["get", "put"].as_slice()),
        ("/test/reset", &["post"]),
        ("/test/snapshot", &["post"]),
        ("/test/restore", &["post"]),
        ("/test/wait", &["post"]),
    ] {
        for method in methods {
            let described = &described["paths"][path][method]["responses"];
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let reply = server.ask(method, path, &[], Body::empty()).await;
            assert!(
                described.get(reply.status.as_str()).is_some(),
                "{path} {}",
                reply.status
            );
        }
    }
}

/// Whatever looks at the time of day looks at the clock that was set.
#[tokio::test]
async fn every_default_and_age_follows_the_clock() {
    let server = Server::in_test_mode(false).await;
    let noon = "2031-05-06T12:00:00.0000000Z";
    let reply = server
        .put_clock(json!({"fixed": "2031-05-06T12:00:00Z"}))
        .await;
    assert_eq!(reply.json(), json!({"now": noon, "mode": "fixed"}));
    assert_eq!(server.scalar("print now()").await, "2031-05-06T12:00:00Z");
    // A second earlier, because the default ranges of events and metrics end before now.
    server
        .put_clock(json!({"fixed": "2031-05-06T11:59:59Z"}))
        .await;
    server.events(&["noon"]).await;
    server.put_clock(json!({"fixed": noon})).await;
    let expiring = crate::app::create_key(
        server.app.store.catalogue(),
        server.shop.id,
        "short",
        server.app.now(),
        Some(server.app.now() + 36_000_000_000),
    );
    let (_, expiring) = expiring.await.unwrap();
    let counts = async || {
        let metric = server.get("metrics/customEvents/count").await.json();
        (
            server
                .scalar("customEvents | where timestamp > ago(1h) | count")
                .await,
            // The defaults of events and metrics are the last twelve hours.
            server.get("events/customEvents").await.json()["value"]
                .as_array()
                .unwrap()
                .len(),
            metric["value"]["customEvents/count"]["sum"].clone(),
            server
                .scalar("customEvents | project age = now() - timestamp")
                .await,
        )
    };
    assert_eq!(counts().await, (json!(1), 1, json!(1), json!("00:00:01")));
    server
        .put_clock(json!({"fixed": "2031-05-06T14:00:00Z"}))
        .await;
    assert_eq!(counts().await, (json!(0), 1, json!(1), json!("02:00:01")));
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let headers = [("x-api-key", expiring.as_str())];
    let reply = server
        .ask(Method::GET, &path, &headers, Body::empty())
        .await;
    assert_eq!(reply.status, 403, "the key has expired");
    server
        .put_clock(json!({"fixed": "2031-05-07T01:00:00Z"}))
        .await;
    let (_, events, metric, age) = counts().await;
    assert_eq!((events, age), (0, json!("13:00:01")));
    assert!(metric.is_null() || metric == 0, "{metric}");
    // What is past its retention is gone at once, and does not come back with the time.
    server
        .put_clock(json!({"fixed": "2031-09-01T00:00:00Z"}))
        .await;
    assert_eq!(server.names().await, Vec::<String>::new());
    let late = json!({"time": "2031-05-06T12:00:00Z", "iKey": server.shop.instrumentation_key.to_string(),
        "data": {"baseType": "EventData", "baseData": {"name": "late"}}});
    assert_eq!(
        server.track(json!([late]).to_string()).await.status,
        400,
        "too old now"
    );
    server.put_clock(json!({"fixed": noon})).await;
    assert_eq!(server.names().await, Vec::<String>::new());
    assert!(server.app.store.clock_trust().is_trusted());
    assert_eq!(server.track(json!([late]).to_string()).await.status, 200);
    assert_eq!(server.names().await, ["late"]);
}

#[tokio::test]
async fn an_offset_runs_on_and_the_machine_comes_back() {
    let server = Server::in_test_mode(true).await;
    let machine = SystemClock::default();
    let day = 864_000_000_000;
    for (offset, ticks) in [
        (json!("P40D"), 40 * day),
        (json!("-PT36H"), -36 * day / 24),
        (json!(60), day / 1440),
    ] {
        let reply = server.put_clock(json!({"offset": offset})).await;
        assert_eq!(reply.json()["offsetSeconds"], json!(ticks as f64 / 1e7));
        let shown = datetime::parse(reply.json()["now"].as_str().unwrap()).unwrap();
        assert!(
            (machine.now_ticks() + ticks - shown).abs() < day / 1440,
            "{offset}"
        );
        let first = server.app.now();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert!(server.app.now() > first, "it runs");
        assert!(server.app.store.clock_trust().is_trusted(), "{offset}");
    }
    let reply = server.put_clock(json!({"machine": true})).await;
    assert_eq!(reply.json()["mode"], "machine");
    assert!((machine.now_ticks() - server.app.now()).abs() < day / 1440);
    let reply = server
        .ask(Method::GET, "/test/clock", &[], Body::empty())
        .await;
    assert_eq!(reply.json()["mode"], "machine");
}

#[tokio::test]
async fn wrong_requests_are_refused_in_the_usual_shape() {
    let server = Server::in_test_mode(true).await;
    for (method, path, body, status, part) in [
        (Method::PUT, "/test/clock", json!({}), 400, "fixed"),
        (
            Method::PUT,
            "/test/clock",
            json!({"machine": false}),
            400,
            "machine",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"fixed": "noon"}),
            400,
            "noon",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"fixed": "1066-10-14T09:00:00Z"}),
            400,
            "1970",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"offset": "P1M"}),
            400,
            "months",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"offset": "P3000000D"}),
            400,
            "1970",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"offset": 1, "machine": true}),
            400,
            "one of",
        ),
        (
            Method::PUT,
            "/test/clock",
            json!({"ofset": 1}),
            400,
            "ofset",
        ),
        (
            Method::POST,
            "/test/reset",
            json!({"application": "bank"}),
            404,
            "bank",
        ),
        (Method::POST, "/test/snapshot", json!({}), 400, "name"),
        (
            Method::POST,
            "/test/snapshot",
            json!({"name": ""}),
            400,
            "128",
        ),
        (
            Method::POST,
            "/test/restore",
            json!({"name": "x"}),
            404,
            "the snapshots are: none",
        ),
        (Method::POST, "/test/wait", json!({}), 400, "query"),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "reqests"}),
            400,
            "requests",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "timeout": "soon"}),
            400,
            "PT10S",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "timeout": 601}),
            400,
            "600",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "timeout": -1}),
            400,
            "600",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "application": "bank"}),
            404,
            "bank",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "condition": "count()"}),
            400,
            "bool",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "condition": "1 +"}),
            400,
            "SYN",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests", "condition": "true", "minCount": 1}),
            400,
            "not both",
        ),
        (
            Method::POST,
            "/test/wait",
            json!({"query": "requests; traces", "condition": "true"}),
            400,
            "one tabular",
        ),
    ] {
        let reply = server.ask(method, path, &[], body.to_string()).await;
        let text = reply.json().to_string();
        assert_eq!(reply.status, status, "{path} {body}: {text}");
        assert!(text.contains(part), "{path} {body}: {text}");
        assert!(reply.json()["error"]["correlationId"].is_string(), "{text}");
    }
}

#[tokio::test]
async fn a_reset_removes_one_application_or_all() {
    for in_memory in [true, false] {
        let server = Server::in_test_mode(in_memory).await;
        let bank = create_app(server.app.store.catalogue(), "bank", server.app.now());
        let bank = bank.await.unwrap();
        let other = json!([{"time": "2026-01-01T00:00:00Z", "iKey": bank.instrumentation_key.to_string(),
            "data": {"baseType": "EventData", "baseData": {"name": "transfer"}}}]);
        server
            .put_clock(json!({"fixed": "2026-01-01T00:00:00Z"}))
            .await;
        let transfers = "union app('bank').customEvents | count";
        let token = crate::app::read_token(&server.app.settings.data).unwrap();
        let headers = [("authorization", &*format!("Bearer {token}"))];
        let path = format!("/v1/apps/{}/query", bank.id);
        let count = async || {
            let body = json!({"query": transfers}).to_string();
            let reply = server.ask(Method::POST, &path, &headers, body).await;
            reply.json()["tables"][0]["rows"][0][0].clone()
        };
        server.events(&["a", "b"]).await;
        assert_eq!(server.track(other.to_string()).await.status, 200);
        assert_eq!(
            server
                .post_test("/test/reset", json!({"application": "shop"}))
                .await
                .status,
            200
        );
        assert_eq!(server.names().await, Vec::<String>::new());
        assert_eq!(count().await, 1);
        assert_eq!(server.app.daily.bytes(server.shop.id, server.app.now()), 0);
        assert!(server.app.daily.bytes(bank.id, server.app.now()) > 0);
        server.events(&["c"]).await;
        assert_eq!(server.names().await, ["c"]);
        // No body is all applications.
        let reply = server
            .ask(Method::POST, "/test/reset", &[], Body::empty())
            .await;
        assert_eq!(reply.status, 200);
        assert_eq!(
            (server.names().await, count().await),
            (Vec::new(), json!(0))
        );
    }
}

#[tokio::test]
async fn snapshots_are_restored_by_name() {
    let server = Server::in_test_mode(false).await;
    server.events(&["a"]).await;
    let reply = server
        .post_test("/test/snapshot", json!({"name": "one"}))
        .await;
    assert_eq!(reply.json(), json!({"snapshots": ["one"]}));
    server.events(&["b"]).await;
    server.app.store.seal_all().await.unwrap();
    let reply = server
        .post_test("/test/snapshot", json!({"name": "both"}))
        .await;
    assert_eq!(reply.json(), json!({"snapshots": ["both", "one"]}));
    server.post_test("/test/reset", json!({})).await;
    for (name, expected) in [
        ("one", vec!["a"]),
        ("both", vec!["a", "b"]),
        ("one", vec!["a"]),
    ] {
        let reply = server
            .post_test("/test/restore", json!({"name": name}))
            .await;
        assert_eq!(reply.status, 200);
        assert_eq!(server.names().await, expected);
    }
    server.events(&["later"]).await;
    assert_eq!(server.names().await, ["a", "later"]);
    let reply = server
        .post_test("/test/restore", json!({"name": "none"}))
        .await;
    assert!(
        reply.json().to_string().contains("both, one"),
        "{}",
        reply.json()
    );
}

/// The rows of a reply of `/test/wait`, and whether the condition held.
fn waited(reply: &Reply) -> (bool, Value) {
    assert_eq!(reply.status, 200, "{}", reply.json());
    let body = reply.json();
    assert!(body["waitedSeconds"].is_f64(), "{body}");
    let rows = body["result"]["tables"][0]["rows"].clone();
    (body["holds"].as_bool().unwrap(), rows)
}

const NAMES: &str = "customEvents | project name | order by name asc";

#[tokio::test]
async fn a_wait_ends_with_the_item_that_fulfils_it() {
    let server = Server::in_test_mode(true).await;
    server.events(&["a"]).await;
    for body in [
        json!({"query": NAMES}),
        json!({"query": NAMES, "minCount": 1, "timeout": "PT0S"}),
        json!({"query": NAMES, "application": "shop", "condition": "count() == 1"}),
    ] {
        assert_eq!(
            waited(&server.post_test("/test/wait", body).await),
            (true, json!([["a"]]))
        );
    }
    for body in [
        json!({"query": NAMES, "minCount": 3, "timeout": "PT5M"}),
        json!({"query": NAMES, "condition": "count() == 3 and countif(name == 'c') == 1", "timeout": 300}),
    ] {
        let (reply, ()) = tokio::join!(server.post_test("/test/wait", body), async {
            for name in ["b", "c"] {
                tokio::time::sleep(Duration::from_millis(50)).await;
                server.events(&[name]).await;
            }
        });
        assert_eq!(waited(&reply), (true, json!([["a"], ["b"], ["c"]])));
        server.post_test("/test/reset", json!({})).await;
        server.events(&["a"]).await;
    }
}

#[tokio::test]
async fn a_wait_ends_with_other_changes_and_with_its_time() {
    let server = Server::in_test_mode(true).await;
    server.events(&["a", "b"]).await;
    let body = json!({"query": NAMES, "minCount": 3, "timeout": 0.05});
    let expected = (false, json!([["a"], ["b"]]));
    assert_eq!(
        waited(&server.post_test("/test/wait", body).await),
        expected
    );
    // Less telemetry, and another time, may fulfil a condition too.
    let body = json!({"query": NAMES, "condition": "count() == 0", "timeout": "PT5M"});
    let (reply, _) = tokio::join!(server.post_test("/test/wait", body), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.post_test("/test/reset", json!({})).await
    });
    assert_eq!(waited(&reply), (true, json!([])));
    let body =
        json!({"query": "print now() | where print_0 > datetime(2040-01-01)", "timeout": "PT5M"});
    let (reply, _) = tokio::join!(server.post_test("/test/wait", body), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        server
            .put_clock(json!({"fixed": "2041-01-01T00:00:00Z"}))
            .await
    });
    assert_eq!(waited(&reply), (true, json!([["2041-01-01T00:00:00Z"]])));
    let body = json!({"query": NAMES, "timeout": "PT5M"});
    let (reply, ()) = tokio::join!(server.post_test("/test/wait", body), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        server.test().stop();
    });
    assert_eq!(reply.status, 503, "{}", reply.json());
}
