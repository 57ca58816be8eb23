//! `POST /v1/apps/{appId}/import`: who may, what is stored once, what is refused.

use hindsight_identity::{Right, Rights};

use super::*;
use crate::app::create_key_with;

/// A line of a trace that happened this number of days ago.
fn line(server: &Server, id: &str, days: i64) -> String {
    let mut time = String::new();
    let at = server.app.now() - days * 864_000_000_000;
    hindsight_kql_types::datetime::write_full(at, &mut time).unwrap();
    format!(
        "{{\"itemType\":\"trace\",\"timestamp\":\"{time}\",\"itemId\":\"{id}\",\"message\":\"{id}\"}}\n"
    )
}

async fn key(server: &Server, right: Right) -> String {
    let catalogue = server.app.store.catalogue();
    let rights = Rights::NONE.with(right);
    let created = create_key_with(
        catalogue,
        server.shop.id,
        "k",
        rights,
        server.app.now(),
        None,
    );
    created.await.unwrap().1
}

async fn import(server: &Server, key: &str, body: String) -> Reply {
    let path = format!("/v1/apps/{}/import", server.shop.id);
    server
        .ask(Method::POST, &path, &[("x-api-key", key)], body)
        .await
}

#[tokio::test]
async fn items_of_any_age_that_is_kept_are_stored_once() {
    let server = Server::start().await;
    let admin = key(&server, Right::Admin).await;
    let body = line(&server, "a", 80) + &line(&server, "b", 1) + &line(&server, "old", 100);
    let reply = import(&server, &admin, body.clone()).await;
    assert_eq!(reply.status, 200);
    let value = reply.json();
    let numbers = |value: &Value| {
        ["received", "stored", "duplicates", "refused"].map(|name| value[name].as_u64().unwrap())
    };
    assert_eq!(numbers(&value), [3, 2, 0, 1]);
    assert_eq!(value["errors"][0]["line"], 2);
    let message = value["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("hindsight retention set"), "{message}");
    let again = import(&server, &admin, body).await.json();
    assert_eq!(numbers(&again), [3, 0, 2, 1]);
    let rows = server
        .query("traces | project itemId, appName | order by itemId asc")
        .await;
    assert_eq!(
        rows.json()["tables"][0]["rows"],
        serde_json::json!([["a", "shop"], ["b", "shop"]])
    );
}

#[tokio::test]
async fn only_administrators_of_the_application_import() {
    let server = Server::start().await;
    for right in [Right::Read, Right::Ingest] {
        let key = key(&server, right).await;
        let reply = import(&server, &key, line(&server, "a", 1)).await;
        assert_eq!(reply.status, 403, "{right:?}");
    }
    let reply = import(&server, "", line(&server, "a", 1)).await;
    assert_eq!(reply.status, 401);
    assert_eq!(server.app.store.stats().rows(), 0);
}
