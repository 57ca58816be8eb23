//! One application's telemetry is nobody else's (rows 17 to 23).

use super::*;
use crate::app::create_key_with;
use hindsight_identity::{Right, Rights};
use serde_json::json;

#[tokio::test]
async fn rows_17_and_20_the_cache_gives_nothing_to_others_nor_to_deleted_keys() {
    let server = Server::start().await;
    let (_, foreign) = second(&server).await;
    let shop = server.shop.id.to_string();
    assert_eq!(ask(&server, &shop, &server.key).await.status, 200);
    let hit = ask(&server, &shop, &server.key).await;
    assert_ne!(hit.header("age"), "", "it is in the cache");
    let refused = ask(&server, &shop, &foreign).await;
    assert_eq!(
        (
            refused.status.as_u16(),
            refused.header("age"),
            refused.header("etag")
        ),
        (403, "", "")
    );
    let path = format!("/v1/apps/{shop}/query?query=print+1");
    let etag = hit.header("etag").to_owned();
    let headers = [
        ("x-api-key", foreign.as_str()),
        ("if-none-match", etag.as_str()),
        ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
    ];
    assert_eq!(
        server
            .ask(Method::GET, &path, &headers, Body::empty())
            .await
            .status,
        403
    );
    server
        .app
        .store
        .catalogue()
        .delete_key(&server.key_id)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(900)).await;
    assert_eq!(
        ask(&server, &shop, &server.key).await.status,
        403,
        "deleted while cached"
    );
}

#[tokio::test]
async fn row_18_a_query_reaches_no_other_application() {
    let server = Server::start().await;
    let (other, _) = second(&server).await;
    let mut event = server.envelope("EventData", json!({"name": "secret of the other"}));
    event["iKey"] = json!(other.instrumentation_key.to_string());
    assert_eq!(server.track(event.to_string()).await.status, 200);
    let (id, unknown) = (other.id.to_string(), uuid::Uuid::new_v4().to_string());
    for target in [id.as_str(), "other", unknown.as_str()] {
        for kql in [
            format!("app('{target}').customEvents"),
            format!("union customEvents, app('{target}').customEvents | count"),
            format!("let f = () {{ app('{target}').customEvents }}; f | count"),
            format!("workspace('{target}').customEvents | count"),
            format!("print x = toscalar(app('{target}').customEvents | count)"),
            format!("customEvents | where name in (app('{target}').customEvents | project name)"),
        ] {
            let reply = server.query(&kql).await;
            assert!(
                matches!(reply.status.as_u16(), 400 | 403),
                "{kql}: {}",
                reply.status
            );
            let text = String::from_utf8_lossy(&reply.bytes).into_owned();
            assert!(!text.contains("secret of the other"), "{kql}");
        }
        let path = format!("/v1/apps/{}/query", server.shop.id);
        let headers = [
            ("x-api-key", server.key.as_str()),
            ("content-type", "application/json"),
        ];
        let body = json!({"query": "customEvents | count", "applications": [target]}).to_string();
        assert_eq!(
            server.ask(Method::POST, &path, &headers, body).await.status,
            403,
            "{target}"
        );
    }
    let reply = server.query("union app('*').customEvents | count").await;
    assert!(matches!(reply.status.as_u16(), 400 | 403));
    // What is forbidden says the same whether it exists or not.
    let known = seen(&server.query(&format!("app('{id}').customEvents")).await);
    let missing = seen(
        &server
            .query(&format!("app('{unknown}').customEvents"))
            .await,
    );
    assert_eq!(
        (known.0, known.1.replace(&id, "X")),
        (missing.0, missing.1.replace(&unknown, "X"))
    );
}

#[tokio::test]
async fn row_19_more_applications_than_the_limit_are_400_and_the_limit_is_named() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("content-type", "application/json"),
    ];
    let many: Vec<String> = (0..101).map(|_| uuid::Uuid::new_v4().to_string()).collect();
    let body = json!({"query": "requests", "applications": many}).to_string();
    let reply = server.ask(Method::POST, &path, &headers, body).await;
    assert_eq!(reply.status, 400);
    assert!(
        String::from_utf8_lossy(&reply.bytes).contains("100"),
        "{}",
        reply.json()
    );
}

#[tokio::test]
async fn row_21_telemetry_goes_only_where_its_credential_opens() {
    let server = Server::start().await;
    let (other, _) = second(&server).await;
    let (catalogue, now) = (server.app.store.catalogue(), server.app.now());
    let ingest = Rights::NONE.with(Right::Ingest);
    let (_, sender) = create_key_with(catalogue, server.shop.id, "", ingest, now, None)
        .await
        .unwrap();
    let send = async |key: &str, ikey: String| {
        let mut event = server.envelope("EventData", json!({"name": "x"}));
        event["iKey"] = json!(ikey);
        let headers = [("x-api-key", key), ("content-type", "application/json")];
        let reply = server
            .ask(Method::POST, "/v2.1/track", &headers, event.to_string())
            .await;
        (reply.status.as_u16(), reply.json()["itemsAccepted"].clone())
    };
    let shop = server.shop.instrumentation_key.to_string();
    assert_eq!(send(&sender, shop.clone()).await, (200, json!(1)));
    assert_eq!(
        send(&sender, other.instrumentation_key.to_string()).await,
        (403, json!(0))
    );
    assert_eq!(
        send(&sender, uuid::Uuid::new_v4().to_string()).await,
        (403, json!(0))
    );
    assert_eq!(
        send(&server.key, shop.clone()).await,
        (403, json!(0)),
        "a key that only reads"
    );
    let found = server.query("customEvents | count").await;
    assert_eq!(found.json()["tables"][0]["rows"], json!([[1]]));
    // And the key that sends does not read.
    assert_eq!(
        ask(&server, &server.shop.id.to_string(), &sender)
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn telemetry_needs_a_credential_where_the_setting_asks_for_one() {
    let server =
        Server::with(|settings| settings.set("ingest.require_credential", "true").unwrap()).await;
    let event = server
        .envelope("EventData", json!({"name": "x"}))
        .to_string();
    assert_eq!(server.track(event.clone()).await.status, 401);
    let (catalogue, now) = (server.app.store.catalogue(), server.app.now());
    let ingest = Rights::NONE.with(Right::Ingest);
    let (_, sender) = create_key_with(catalogue, server.shop.id, "", ingest, now, None)
        .await
        .unwrap();
    let headers = [
        ("x-api-key", sender.as_str()),
        ("content-type", "application/json"),
    ];
    assert_eq!(
        server
            .ask(Method::POST, "/v2.1/track", &headers, event)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn row_22_tricks_in_the_path_reach_nothing_else() {
    let server = Server::start().await;
    let (other, _) = second(&server).await;
    let (a, b) = (server.shop.id.to_string(), other.id.to_string());
    let long = "x".repeat(8 << 10);
    for path in [
        format!("/v1/apps/{a}/../{b}/query?query=print+1"),
        format!("/v1/apps/{a}/%2e%2e/{b}/query?query=print+1"),
        format!("/v1/apps/{a}/..%2f{b}/query?query=print+1"),
        format!("/v1/apps//{a}/query?query=print+1"),
        format!("//v1/apps/{b}/query?query=print+1"),
        format!("/v1/apps/{a};{b}/query?query=print+1"),
        format!("/v1/apps/{a}%00/query?query=print+1"),
        format!("/v1/apps/{a}%20/query?query=print+1"),
        format!("/V1/apps/{a}/query?query=print+1"),
        format!("/v1/Apps/{a}/query?query=print+1"),
        format!("/v1/apps/{long}/query?query=print+1"),
    ] {
        let reply = server
            .ask(
                Method::GET,
                &path,
                &[("x-api-key", &server.key)],
                Body::empty(),
            )
            .await;
        assert!(
            matches!(reply.status.as_u16(), 400 | 403 | 404),
            "{} {}",
            reply.status,
            &path[..path.len().min(80)]
        );
    }
    let upper = format!("/v1/apps/{}/query?query=print+1", a.to_uppercase());
    let reply = server
        .ask(
            Method::GET,
            &upper,
            &[("x-api-key", &server.key)],
            Body::empty(),
        )
        .await;
    assert_eq!(reply.status, 200, "a UUID is the same in upper case");
    assert_eq!(
        server.get("metrics/requests%2Fcount").await.status,
        200,
        "an encoded slash in a metric is legal"
    );
}

#[tokio::test]
async fn row_23_what_is_not_there_needs_a_credential_too() {
    // There is no live tail. Whatever opens one later stands behind the same gate, as the table of routes shows.
    let server = Server::start().await;
    let upgrade = [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("accept", "text/event-stream"),
    ];
    for rest in ["live", "tail", "stream"] {
        let path = format!("/v1/apps/{}/{rest}", server.shop.id);
        assert_eq!(
            server
                .ask(Method::GET, &path, &upgrade, Body::empty())
                .await
                .status,
            401,
            "{rest}"
        );
    }
}
