//! A damaged segment (`D34`) and a suspect clock (`D33`) as clients see them.

use std::path::PathBuf;

use serde_json::json;

use super::*;

/// A server with one sealed request, whose segment's file is damaged in the middle.
async fn damaged() -> Server {
    let server = Server::start().await;
    let data = json!({"id": "r1", "name": "GET /", "duration": 10, "responseCode": "200", "success": true});
    let item = server.envelope("RequestData", data);
    assert_eq!(server.track(json!([item]).to_string()).await.status, 200);
    server.app.store.seal_all().await.unwrap();
    let item = server.envelope("MessageData", json!({"message": "hello"}));
    assert_eq!(server.track(json!([item]).to_string()).await.status, 200);
    let path = segment(&server);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
    server
}

/// The only segment of requests.
fn segment(server: &Server) -> PathBuf {
    let folder = server.app.settings.data.join("segments");
    let folder = folder.join(server.shop.id.to_string()).join("requests");
    let mut files = std::fs::read_dir(folder).unwrap();
    files.next().unwrap().unwrap().path()
}

/// The header names the table and the hour.
fn says_missing(reply: &Reply) {
    let text = reply.header("hindsight-missing");
    assert!(
        text.starts_with("requests 20") && text.contains(":00:00Z/"),
        "{text}"
    );
}

#[tokio::test]
async fn a_query_is_run_again_without_the_damaged_segment_and_says_what_is_missing() {
    let server = damaged().await;
    let reply = server.query("requests | project id").await;
    assert_eq!(reply.status, 200);
    let value = reply.json();
    assert_eq!(value["tables"][0]["rows"], json!([]));
    assert_eq!(value["error"]["code"], "PartialError");
    let inner = &value["error"]["details"][0]["innererror"];
    assert_eq!(inner["code"], "DamagedData");
    let message = inner["message"].as_str().unwrap();
    assert!(message.contains("cannot be read: requests 20"), "{message}");
    says_missing(&reply);

    let whole = server.query("traces | project message").await;
    assert_eq!(whole.json()["tables"][0]["rows"], json!([["hello"]]));
    assert_eq!(whole.json()["error"], Value::Null);
    assert_eq!(whole.header("hindsight-missing"), "");
    let other_day = "requests | where timestamp < ago(2d) | count";
    assert_eq!(server.query(other_day).await.json()["error"], Value::Null);
}

#[tokio::test]
async fn a_cached_reply_keeps_saying_what_is_missing() {
    let server = damaged().await;
    for age in ["", "0"] {
        let reply = server.get("query?query=requests+%7C+project+id").await;
        assert_eq!(reply.header("age"), age);
        assert_eq!(reply.json()["error"]["code"], "PartialError");
        assert_eq!(reply.json()["tables"][0]["rows"], json!([]));
        says_missing(&reply);
    }
}

#[tokio::test]
async fn a_member_of_a_batch_says_what_is_missing() {
    let server = damaged().await;
    let member =
        json!({"id": "1", "workspace": "shop", "body": {"query": "requests | project id"}});
    let body = json!({"requests": [member]}).to_string();
    let headers = [("x-api-key", server.key.as_str())];
    let reply = server.ask(Method::POST, "/v1/$batch", &headers, body).await;
    let member = &reply.json()["responses"][0];
    assert_eq!(member["body"]["error"]["code"], "PartialError");
    let missing = member["headers"]["hindsight-missing"].as_str().unwrap();
    assert!(missing.starts_with("requests 20"), "{missing}");
}

#[tokio::test]
async fn metrics_and_events_say_what_is_missing() {
    let server = damaged().await;
    for path in [
        "metrics/requests/count",
        "events/requests",
        "events/requests?$count=true",
    ] {
        let reply = server.get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        says_missing(&reply);
        let value = reply.json();
        let messages = value["@ai.messages"].as_array().unwrap();
        let said = messages.last().unwrap();
        assert_eq!(said["code"], "PartialError", "{path}");
        let text = said["message"].as_str().unwrap();
        assert!(text.contains("cannot be read: requests 20"), "{text}");
    }
    let csv = server.get("events/requests?$format=csv").await;
    says_missing(&csv);
    let batch = json!([{"id": "a", "parameters": {"metricId": "requests/count"}}]);
    let path = format!("/v1/apps/{}/metrics", server.shop.id);
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("content-type", "application/json"),
    ];
    let batch = server
        .ask(Method::POST, &path, &headers, batch.to_string())
        .await;
    let body = &batch.json()[0]["body"];
    assert_eq!(body["@ai.messages"][0]["code"], "PartialError");

    // Whether the event exists is not known.
    let reply = server.get("events/requests/r1").await;
    assert_eq!(reply.status, 500);
    let inner = &reply.json()["error"]["innererror"];
    assert_eq!(inner["code"], "DamagedData");
    let reply = server.get("events/traces/none").await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn readiness_and_figures_tell_of_damage_and_a_restored_file_ends_it() {
    let server = damaged().await;
    let get = async |server: &Server, path: &str| {
        let reply = server.ask(Method::GET, path, &[], Body::empty()).await;
        assert_eq!(reply.status, 200);
        String::from_utf8(reply.bytes).unwrap()
    };
    assert_eq!(get(&server, "/ready").await, r#"{"status":"ready"}"#);
    server.query("requests").await;
    let degraded = r#"{"status":"degraded","damagedSegments":1}"#;
    assert_eq!(get(&server, "/ready").await, degraded);
    let figures = get(&server, "/metrics").await;
    assert!(figures.contains("hindsight_store_damaged_segments 1"));
    let server = server.restart().await;
    assert_eq!(get(&server, "/ready").await, degraded, "it was marked");
    let path = segment(&server);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let server = server.restart().await;
    assert_eq!(get(&server, "/ready").await, r#"{"status":"ready"}"#);
    let reply = server.query("requests | project id").await;
    assert_eq!(reply.json()["tables"][0]["rows"], json!([["r1"]]));
}

#[tokio::test]
async fn while_the_clock_is_suspect_items_outside_the_window_are_refused_for_now() {
    const DAY: i64 = 864_000_000_000;
    let month_ago = SystemClock::default().now_ticks() - 30 * DAY;
    let server = Server::at(TestClock::at(month_ago), |_| {}).await;
    let at = |server: &Server, days: i64| {
        let mut item = server.envelope("MessageData", json!({"message": "m"}));
        let mut time = String::new();
        hindsight_kql_types::datetime::write_full(server.app.now() + days * DAY, &mut time)
            .unwrap();
        item["time"] = json!(time);
        item
    };
    let too_old = server.track(json!([at(&server, -91)]).to_string()).await;
    assert_eq!(too_old.status, 400);

    // The next start has the true clock, a month later.
    let server = server.restart().await;
    let ready = server.ask(Method::GET, "/ready", &[], Body::empty()).await;
    let expected = json!({"status": "degraded", "clock": "suspect"});
    assert_eq!(ready.json(), expected);
    for (days, index) in [(-91, 1), (1, 1)] {
        let items = json!([at(&server, 0), at(&server, days)]);
        let reply = server.track(items.to_string()).await;
        assert_eq!(reply.status, 206);
        let error = &reply.json()["errors"][0];
        assert_eq!(
            (&error["index"], &error["statusCode"]),
            (&json!(index), &json!(503))
        );
        assert_eq!(reply.header("retry-after"), "5");
    }

    // A command-line program confirms it; the server follows.
    let catalogue = server.app.store.catalogue();
    catalogue.confirm_time(server.app.now()).await.unwrap();
    let confirmed = async {
        while !server.app.store.clock_trust().is_trusted() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), confirmed)
        .await
        .expect("the server follows");
    let too_old = server.track(json!([at(&server, -91)]).to_string()).await;
    assert_eq!(too_old.status, 400);
}
