//! What an application can be asked, over HTTP (`D16`, `D17`).

use super::*;
use serde_json::json;

#[tokio::test]
async fn metrics_are_described_with_the_applications_own() {
    let server = Server::start().await;
    let items = json!([
        server.envelope(
            "MetricData",
            json!({"metrics": [{"name": "queue length", "value": 3}]})
        ),
        server.envelope(
            "EventData",
            json!({"name": "Order", "measurements": {"size": 2.5}})
        ),
    ]);
    assert_eq!(server.track(items.to_string()).await.status, 200);
    let reply = server.get("metrics/metadata").await;
    assert_eq!((reply.status, reply.header("age")), (StatusCode::OK, ""));
    let value = reply.json();
    for (id, dimension) in [
        ("requests/count", "request/name"),
        ("customMetrics/queue length", "customMetric/name"),
        ("customEvents/custom/size", "customEvent/name"),
    ] {
        let paths = &value["metrics"][id]["supportedGroupBy"]["all"];
        let paths = paths.as_array().unwrap_or_else(|| panic!("no {id}"));
        assert!(paths.contains(&json!(dimension)), "{id}: {paths:?}");
    }
    assert_eq!(server.get("metrics/metadata").await.header("age"), "0");
}

#[tokio::test]
async fn events_are_described_in_xml_under_both_spellings() {
    let server = Server::start().await;
    for path in ["events/$metadata", "events/%24metadata"] {
        let reply = server.get(path).await;
        assert_eq!(
            reply.header("content-type"),
            "application/xml;charset=utf-8"
        );
        let text = String::from_utf8(reply.bytes).unwrap();
        assert!(text.contains("<EntitySet Name=\"requests\""), "{text}");
    }
}

#[tokio::test]
async fn tables_are_described_by_get_and_post() {
    let server = Server::start().await;
    let value = server.get("metadata").await.json();
    let id = server.shop.id.to_string();
    assert_eq!(value["applications"][0]["id"], json!(id));
    assert_eq!(value["applications"][0]["name"], "shop");
    assert_eq!(value["tables"].as_array().unwrap().len(), 10);
    let path = format!("/v1/apps/{id}/metadata");
    let key = [("x-api-key", server.key.as_str())];
    let check = async |body: &'static str, status: u16| {
        let reply = server.ask(Method::POST, &path, &key, body).await;
        assert_eq!(reply.status, status, "{body}");
    };
    check("", 200).await;
    check("{}", 200).await;
    check(r#"{"applications": ["shop"]}"#, 200).await;
    check(r#"{"applications": ["another"]}"#, 403).await;
    check("{", 400).await;
    assert_eq!(
        server.get("query/schema").await.json()["tables"][0]["rows"][0],
        json!(["requests", "timestamp", "System.DateTime"])
    );
}

#[tokio::test]
async fn workspaces_are_described_under_their_names() {
    let server = Server::start().await;
    let id = server.shop.id;
    let path = format!("/v1/workspaces/{id}/metadata");
    let key = [("x-api-key", server.key.as_str())];
    let reply = server.ask(Method::GET, &path, &key, Body::empty()).await;
    let value = reply.json();
    assert_eq!(value["workspaces"][0]["id"], json!(id.to_string()));
    let tables = value["tables"].as_array().unwrap();
    let requests = tables.iter().find(|table| table["name"] == "AppRequests");
    let columns = requests.unwrap()["columns"].as_array().unwrap().clone();
    for (name, kind) in [
        ("TimeGenerated", "datetime"),
        ("Success", "bool"),
        ("Type", "string"),
    ] {
        assert!(
            columns.contains(&json!({"name": name, "type": kind})),
            "{name}"
        );
    }
    let other = server
        .ask(Method::POST, &path, &key, r#"{"workspaces": ["another"]}"#)
        .await;
    assert_eq!(other.status, 403);
}

#[tokio::test]
async fn descriptions_need_a_credential() {
    let server = Server::start().await;
    for path in [
        "metrics/metadata",
        "events/$metadata",
        "metadata",
        "query/schema",
    ] {
        let path = format!("/v1/apps/{}/{path}", server.shop.id);
        let reply = server.ask(Method::GET, &path, &[], Body::empty()).await;
        assert_eq!(reply.status, 401, "{path}");
    }
}
