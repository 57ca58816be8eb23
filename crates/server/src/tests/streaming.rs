//! Large replies are made while they are sent, and small ones are held back until they are whole.

use std::time::Duration;

use super::*;
use futures::StreamExt;
use serde_json::json;

/// Every reply above a hundred bytes is streamed.
async fn streaming(change: impl FnOnce(&mut Settings)) -> Server {
    Server::with(|settings| {
        settings.cache_max_reply_bytes = 100;
        change(settings);
    })
    .await
}

const MANY: &str = "range x from 1 to 30000 step 1 | extend text = strcat('row ', x)";

#[tokio::test]
async fn a_streamed_reply_is_the_same_as_a_whole_one() {
    let (whole, streamed) = (Server::start().await, streaming(|_| {}).await);
    let kept = whole.query(MANY).await;
    let sent = streamed.query(MANY).await;
    assert_eq!((sent.status, kept.status), (StatusCode::OK, StatusCode::OK));
    assert!(sent.bytes.len() > 500_000, "{}", sent.bytes.len());
    assert_eq!(sent.bytes, kept.bytes);
    assert_eq!(sent.header("content-type"), kept.header("content-type"));
    assert!(!kept.header("etag").is_empty() && sent.header("etag").is_empty());
}

#[tokio::test]
async fn a_streamed_reply_ends_where_it_is_compressed() {
    let server = streaming(|_| {}).await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    for encoding in ["gzip", "br", "zstd"] {
        let headers = [
            ("x-api-key", server.key.as_str()),
            ("accept-encoding", encoding),
        ];
        let body = json!({ "query": MANY }).to_string();
        let reply = server.ask(Method::POST, &path, &headers, body).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.header("content-encoding"), encoding);
        assert!(!reply.bytes.is_empty());
    }
}

#[tokio::test]
async fn statistics_follow_the_rows() {
    let server = streaming(|_| {}).await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("prefer", "include-statistics=true, include-render=true"),
    ];
    let body = json!({ "query": MANY }).to_string();
    let reply = server.ask(Method::POST, &path, &headers, body).await.json();
    let sizes = &reply["statistics"]["query"]["datasetStatistics"];
    assert_eq!(sizes[0]["tableRowCount"], 30_000);
    assert!(sizes[0]["tableSize"].as_u64() > Some(240_000), "{sizes}");
    assert_eq!(reply["render"]["visualization"], "table");
}

#[tokio::test]
async fn limits_cut_a_streamed_reply_and_it_says_so() {
    let server = streaming(|settings| settings.query_max_rows = 12_345).await;
    for form in ["true", "false"] {
        let path = format!("/v1/apps/{}/query", server.shop.id);
        let prefer = format!("ai.response-thinning={form}");
        let headers = [("x-api-key", server.key.as_str()), ("prefer", &prefer)];
        let body = json!({ "query": MANY }).to_string();
        let reply = server.ask(Method::POST, &path, &headers, body).await.json();
        let rows = reply
            .pointer("/tables/0/rows")
            .or(reply.pointer("/Tables/0/Rows"));
        assert_eq!(rows.unwrap().as_array().unwrap().len(), 12_345);
        assert_eq!(reply["error"]["code"], "PartialError", "{form}");
        let message = reply["error"]["details"][0]["innererror"]["message"].as_str();
        assert!(message.is_some_and(|text| text.contains("record count limit 12345")));
    }
}

/// Whatever fails while the reply is held back has its own status; later it is a partial error.
#[tokio::test]
async fn a_failure_after_the_first_bytes_is_a_partial_error() {
    let late = "range x from 1 to 300000 step 1 | serialize | extend a = repeat(1, iff(x < 299000, 1, 100000000))";
    let held = Server::with(|settings| settings.cache_max_reply_bytes = 100 << 20).await;
    let refused = held.query(late).await;
    assert_eq!(refused.status, 400, "{}", refused.json());
    let sent = streaming(|_| {}).await.query(late).await;
    assert_eq!(sent.status, 200);
    let reply = sent.json();
    assert!(reply["tables"][0]["rows"].as_array().unwrap().len() > 1_000);
    let error = &reply["error"];
    assert_eq!(error["code"], "PartialError");
    assert_eq!(error["correlationId"], sent.header("x-ms-request-id"));
    let inner = &error["details"][0]["innererror"];
    assert_eq!(inner["code"], "QueryExecutionError", "{error}");
    assert!(
        inner["message"].as_str().unwrap().contains("repeat()"),
        "{error}"
    );
}

/// A server that sends replies of any size, with one place for queries, and the body of a reply that does not end.
async fn endless() -> (Server, axum::body::BodyDataStream) {
    let server = streaming(|settings| {
        settings.query_concurrency = 1;
        settings.query_max_rows = u64::MAX;
        settings.query_max_bytes = u64::MAX;
    })
    .await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let query = "range x from 1 to 100000000000 step 1";
    let request = Request::post(path)
        .header("x-api-key", &server.key)
        .body(Body::from(json!({ "query": query }).to_string()));
    let reply = server.router.clone().oneshot(request.unwrap()).await;
    (server, reply.unwrap().into_body().into_data_stream())
}

/// What was sent is followed by a partial error, and the text is whole JSON.
#[tokio::test]
async fn a_stop_ends_a_streamed_reply_with_an_error() {
    let (server, mut body) = endless().await;
    let mut text = body.next().await.unwrap().unwrap().to_vec();
    server.app.shutdown.end();
    while let Some(bytes) = body.next().await {
        text.extend_from_slice(&bytes.unwrap());
    }
    let reply: Value = serde_json::from_slice(&text).unwrap();
    assert!(reply["tables"][0]["rows"].as_array().unwrap().len() > 1);
    assert_eq!(reply["error"]["code"], "PartialError");
    let inner = &reply["error"]["details"][0]["innererror"];
    assert_eq!(inner["code"], "ServiceUnavailableError", "{inner}");
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_query() {
    let (server, mut body) = endless().await;
    for _ in 0..3 {
        assert!(body.next().await.unwrap().is_ok());
    }
    // The place of the running query is given back with it.
    let waits = tokio::time::timeout(Duration::from_millis(200), server.query("print 1")).await;
    assert!(waits.is_err(), "the query holds the only place");
    drop(body);
    let next = tokio::time::timeout(Duration::from_secs(5), server.query("print 1")).await;
    assert_eq!(next.unwrap().status, 200);
}
