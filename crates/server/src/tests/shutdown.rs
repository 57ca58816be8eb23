//! What queries get when the server stops.

use std::time::Duration;

use super::*;

const SLOW: &str = "query?query=range+x+from+1+to+1000000000000+step+1+%7C+summarize+sum(x)";

async fn refused(reply: Reply) {
    assert_eq!(reply.status, 503);
    let json = reply.json();
    assert_eq!(json["error"]["code"], "ServiceUnavailableError");
    assert!(json["error"]["correlationId"].is_string());
    assert!(reply.header("retry-after").parse::<u64>().unwrap() > 0);
}

#[tokio::test]
async fn a_stop_answers_503_to_waiting_queries_at_once_and_to_running_ones_at_the_end() {
    let server = Arc::new(Server::with(|settings| settings.query_concurrency = 1).await);
    let ask = |path: &'static str| {
        let server = server.clone();
        tokio::spawn(async move { server.get(path).await })
    };
    let running = ask(SLOW);
    // The one permit is taken once an identical path has to wait.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let waiting = [
        "query?query=print+1",
        "metrics/requests/count",
        "events/requests",
    ]
    .map(ask);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(waiting.iter().all(|request| !request.is_finished()));
    server.app.shutdown.begin();
    for request in waiting {
        refused(request.await.unwrap()).await;
    }
    assert!(!running.is_finished());
    server.app.shutdown.end();
    refused(running.await.unwrap()).await;
}

#[tokio::test]
async fn a_stop_answers_503_to_the_members_of_a_batch_of_metrics() {
    let server = Server::start().await;
    server.app.shutdown.end();
    let path = format!("/v1/apps/{}/metrics", server.shop.id);
    let key = [("x-api-key", server.key.as_str())];
    let body = r#"[{"id":"a","parameters":{"metricId":"requests/count","timespan":"P80D","interval":"PT1M"}}]"#;
    let reply = server.ask(Method::POST, &path, &key, body).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()[0]["status"], 503, "{}", reply.json());
}
