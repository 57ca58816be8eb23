//! The three families over HTTP.

use super::*;
use serde_json::json;

async fn with_requests() -> Server {
    let server = Server::start().await;
    let items: Vec<Value> = (0..4)
        .map(|i| {
            let ok = i != 3;
            server.envelope("RequestData", json!({"id": format!("r{i}"), "name": "GET /", "duration": 10 * (i + 1),
                "responseCode": if ok { "200" } else { "500" }, "success": ok, "properties": {"plan": "pro"}}))
        })
        .collect();
    assert_eq!(server.track(json!(items).to_string()).await.status, 200);
    server
}

#[tokio::test]
async fn both_spellings_of_a_query() {
    let server = with_requests().await;
    let thin = server.get("query?query=requests+%7C+count").await;
    assert_eq!(
        thin.json(),
        json!({"tables": [{"name": "PrimaryResult", "columns": [{"name": "Count", "type": "long"}], "rows": [[4]]}]})
    );
    let key = [("x-api-key", server.key.as_str())];
    let path = format!(
        "/beta/apps/{}/query?query=requests+%7C+count",
        server.shop.id
    );
    let full = server.ask(Method::GET, &path, &key, Body::empty()).await;
    assert_eq!(full.json()["Tables"][0]["Rows"], json!([[4]]));
    assert_eq!(full.json()["Tables"].as_array().unwrap().len(), 4);
    let path = format!("{path}&prefer=response-v1%3Dtrue");
    assert_eq!(
        server
            .ask(Method::GET, &path, &key, Body::empty())
            .await
            .json()["tables"][0]["rows"],
        json!([[4]])
    );
}

#[tokio::test]
async fn a_wrong_query_says_where() {
    let server = Server::start().await;
    let reply = server.query("requests | oops").await;
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    assert_eq!(error["code"], "BadArgumentError");
    assert_eq!(error["innererror"]["code"], "SyntaxError");
    assert_eq!(error["innererror"]["innererror"]["line"], 1);
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let broken = server
        .ask(
            Method::POST,
            &path,
            &[("x-api-key", &server.key)],
            "{\"query\":",
        )
        .await;
    assert_eq!(
        (
            broken.status.as_u16(),
            &broken.json()["error"]["innererror"]["details"][0]["code"]
        ),
        (400, &json!("InvalidJsonBody"))
    );
}

#[tokio::test]
async fn the_cache_tells_its_age_and_can_be_passed_by() {
    let server = with_requests().await;
    let first = server.get("query?query=requests+%7C+count").await;
    let second = server.get("query?query=requests+%7C+count").await;
    assert_eq!(
        (first.header("age"), second.header("age").is_empty()),
        ("", false)
    );
    assert_eq!(second.header("cache-control"), "private");
    assert_eq!(server.query("requests | count").await.header("age"), "");
}

#[tokio::test]
async fn metrics_alone_and_in_batches() {
    let server = with_requests().await;
    for path in ["metrics/requests/count", "metrics/requests%2Fcount"] {
        let reply = server.get(path).await;
        assert_eq!(
            reply.json()["value"]["requests/count"],
            json!({"sum": 4}),
            "{}",
            reply.json()
        );
    }
    let reply = server
        .get("metrics/requests/duration?segment=request/resultCode&aggregation=avg")
        .await;
    assert_eq!(
        reply.json()["value"]["segments"],
        json!([{"requests/duration": null, "avg": 40, "request/resultCode": "500"}, {"requests/duration": null, "avg": 20, "request/resultCode": "200"}])
    );
    assert_eq!(server.get("metrics/nothing/here").await.status, 404);
    let path = format!("/v1/apps/{}/metrics", server.shop.id);
    let body =
        json!([{"id": "a", "parameters": {"metricId": "requests/failed"}}, {"parameters": {}}]);
    let reply = server
        .ask(
            Method::POST,
            &path,
            &[("x-api-key", &server.key)],
            body.to_string(),
        )
        .await;
    let batch = reply.json();
    assert_eq!(
        (&batch[0]["id"], &batch[0]["status"]),
        (&json!("a"), &json!(200)),
        "{batch}"
    );
    assert_eq!(
        batch[0]["body"]["value"]["requests/failed"],
        json!({"sum": 1})
    );
    assert_eq!(
        batch[1]["body"]["error"]["innererror"]["message"],
        "'id' property is required"
    );
}

#[tokio::test]
async fn events_listed_and_single() {
    let server = with_requests().await;
    let list = server
        .get("events/requests?$top=2&$count=true&timespan=PT1H")
        .await;
    assert_eq!(list.status, 200, "{}", list.json());
    assert!(list.header("content-type").contains("odata.metadata=none"));
    assert_eq!(list.header("odata-version"), "4.0;");
    let list = list.json();
    assert_eq!(
        (
            &list["@odata.count"],
            list["value"].as_array().unwrap().len()
        ),
        (&json!(4), 2)
    );
    assert!(list.get("@ai.messages").is_none());
    let event = &list["value"][0];
    assert_eq!(
        (&event["type"], &event["customDimensions"]["plan"]),
        (&json!("request"), &json!("pro"))
    );
    let single = server
        .get(&format!(
            "events/requests/{}",
            event["id"].as_str().unwrap()
        ))
        .await
        .json();
    assert_eq!(single["value"][0]["request"]["id"], event["request"]["id"]);
    assert_eq!(server.get("events/requests/no-such-id").await.status, 404);
    let limited = server.get("events/requests").await.json();
    assert_eq!(limited["@ai.messages"][0]["code"], "AddedLimitToQuery");
}

#[tokio::test]
async fn unknown_paths_and_methods() {
    let server = Server::start().await;
    assert_eq!(
        server.get("nothing").await.json()["error"]["code"],
        "PathNotFoundError"
    );
    let key = [("x-api-key", server.key.as_str())];
    let wrong = server
        .ask(
            Method::DELETE,
            &format!("/v1/apps/{}/query", server.shop.id),
            &key,
            Body::empty(),
        )
        .await;
    assert_eq!(wrong.status, 404);
    assert!(
        wrong.header("allow").contains("POST"),
        "{:?}",
        wrong.headers
    );
    let other = server
        .ask(
            Method::GET,
            &format!("/v9/apps/{}/query?query=print+1", server.shop.id),
            &key,
            Body::empty(),
        )
        .await;
    assert_eq!(other.status, 404);
    let twice = [("x-api-key", "a"), ("x-api-key", "b")];
    assert_eq!(
        server
            .ask(Method::GET, "/v1/apps/x/query", &twice, Body::empty())
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let server = Server::start().await;
    for path in ["/health", "/ready", "/version", "/metrics"] {
        assert_eq!(
            server
                .ask(Method::GET, path, &[], Body::empty())
                .await
                .status,
            200,
            "{path}"
        );
    }
    let figures = server
        .ask(Method::GET, "/metrics", &[], Body::empty())
        .await;
    let text = String::from_utf8(figures.bytes).unwrap();
    assert!(text.contains("hindsight_store_writable"), "{text}");
    assert!(text.contains("hindsight_queries_running 0"), "{text}");
    assert!(!text.contains(&server.key));
}

#[tokio::test]
async fn a_store_that_is_closed_answers_503() {
    let server = Server::start().await;
    server.app.store.close().await.unwrap();
    let item = server.envelope("MessageData", json!({"message": "late"}));
    let sent = server.track(json!([item]).to_string()).await;
    assert_eq!(sent.status, 503);
    assert!(!sent.header("retry-after").is_empty());
}
