//! Telemetry in, over HTTP.

use super::*;
use serde_json::json;
use std::io::Write;

#[tokio::test]
async fn what_was_acknowledged_is_found_at_once() {
    let server = Server::start().await;
    let items = [
        server.envelope("RequestData", json!({"id": "r1", "name": "GET /", "duration": "00:00:00.010", "responseCode": "200", "success": true})),
        server.envelope("MessageData", json!({"message": "hello"})),
    ];
    let reply = server.track(json!(items).to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    assert_eq!(
        reply.json(),
        json!({"itemsReceived": 2, "itemsAccepted": 2, "appId": server.shop.id.to_string(), "errors": []})
    );
    let found = server.query("union requests, traces | count").await;
    assert_eq!(
        found.json()["tables"][0]["rows"],
        json!([[2]]),
        "{}",
        found.json()
    );
}

#[tokio::test]
async fn a_wrong_key_stores_nothing_and_some_is_206() {
    let server = Server::start().await;
    let good = server.envelope("EventData", json!({"name": "a"}));
    let mut bad = good.clone();
    bad["iKey"] = json!(uuid::Uuid::new_v4().to_string());
    let reply = server.track(bad.to_string()).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.json()["errors"][0]["message"]),
        (400, &json!("Invalid instrumentation key"))
    );
    let reply = server.track(format!("{good}\n{bad}")).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.json()["errors"][0]["index"]),
        (206, &json!(1))
    );
    assert_eq!(server.track("").await.status, 400);
    assert_eq!(server.track("[]").await.status, 400);
}

#[tokio::test]
async fn bodies_may_be_packed_but_not_twice() {
    let server = Server::start().await;
    let body = server
        .envelope("EventData", json!({"name": "a"}))
        .to_string();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    for (encoding, status) in [("gzip", 200), ("gzip, gzip", 415), ("zstd", 400)] {
        let headers = [("content-encoding", encoding)];
        let reply = server
            .ask(Method::POST, "/v2/track", &headers, packed.clone())
            .await;
        assert_eq!(reply.status, status, "{encoding}");
    }
}

#[tokio::test]
async fn limits_are_named() {
    let server = Server::with(|settings| {
        settings.ingest_max_body_bytes = 2_000;
        settings.ingest_max_decompressed_bytes = 10_000;
        settings.ingest_max_items = 2;
    })
    .await;
    assert_eq!(server.track("x".repeat(3_000)).await.status, 413);
    let bomb = zstd::encode_all([b' '; 20_000].as_slice(), 3).unwrap();
    let reply = server
        .ask(
            Method::POST,
            "/v2/track",
            &[("content-encoding", "zstd")],
            bomb,
        )
        .await;
    assert_eq!(reply.status, 413);
    assert!(
        reply.json()["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("ingest.max_decompressed_bytes")
    );
    assert_eq!(server.track("[{},{},{}]").await.status, 413);
}

#[tokio::test]
async fn a_spent_daily_cap_is_402() {
    let server = Server::start().await;
    server
        .app
        .store
        .catalogue()
        .set_app_limits(server.shop.id, hindsight_store::Tier::Basic, Some(1), None)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let body = server
        .envelope("EventData", json!({"name": "a"}))
        .to_string();
    assert_eq!(server.track(body.clone()).await.status, 200);
    assert_eq!(server.track(body.clone()).await.status, 402);
    // A restart does not open it again.
    let server = server.restart().await;
    assert_eq!(server.track(body).await.status, 402);
}

#[tokio::test]
async fn browsers_may_send() {
    let server = Server::start().await;
    let headers = [
        ("origin", "http://shop.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type,sdk-context"),
    ];
    let reply = server
        .ask(Method::OPTIONS, "/v2/track", &headers, Body::empty())
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(
        reply.header("access-control-allow-headers"),
        "content-type,sdk-context"
    );
    assert_eq!(reply.header("access-control-allow-credentials"), "");
}
