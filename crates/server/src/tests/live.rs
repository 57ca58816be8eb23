//! Live metrics: the recorded exchange of an SDK, who may watch, and how much is kept.

use std::pin::pin;

use axum::body::BodyDataStream;
use futures::StreamExt;
use serde_json::json;

use super::*;

/// What the exporter of OpenTelemetry for Python sent: a ping and two posts.
const RECORDED: &str = include_str!("live_recorded.json");
/// The instrumentation key in it.
const RECORDED_KEY: &str = "11111111-2222-3333-4444-555555555555";

/// An open stream of events.
struct Watching {
    body: BodyDataStream,
    text: String,
}

impl Watching {
    /// The data of the next `count` events of a kind.
    async fn events(&mut self, kind: &str, count: usize) -> Vec<Value> {
        let mark = format!("event: {kind}\ndata: ");
        let mut found = Vec::new();
        while found.len() < count {
            match self.text.split_once("\n\n") {
                Some((event, rest)) => {
                    let data = event.strip_prefix(&mark);
                    found.extend(data.map(|data| serde_json::from_str::<Value>(data).unwrap()));
                    self.text = rest.to_owned();
                }
                None => {
                    let part = self.part().await.expect("the stream goes on");
                    self.text += &part;
                }
            }
        }
        found
    }

    /// The next part; `None` at the end.
    async fn part(&mut self) -> Option<String> {
        let next = tokio::time::timeout(Duration::from_secs(20), self.body.next());
        let part = next.await.expect("something comes")?;
        Some(String::from_utf8(part.unwrap().to_vec()).unwrap())
    }
}

impl Server {
    async fn watch(&self) -> Watching {
        let path = format!("/v1/apps/{}/live/metrics", self.shop.id);
        let request = Request::builder()
            .uri(path)
            .header("x-api-key", &self.key)
            .header("accept", "text/event-stream")
            .body(Body::empty())
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Watching {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    /// A recorded request for the shop's key; says whether the application is watched.
    async fn replay(&self, recorded: &Value) -> String {
        let ikey = self.shop.instrumentation_key.to_string();
        let path = recorded["path"]
            .as_str()
            .unwrap()
            .replace(RECORDED_KEY, &ikey);
        let headers = recorded["headers"].as_object().unwrap();
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
            .collect();
        let reply = self
            .ask(Method::POST, &path, &headers, recorded["body"].to_string())
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.bytes.len()),
            (200, 0),
            "{path}"
        );
        reply.header("x-ms-qps-subscribed").to_owned()
    }

    async fn post_live(&self, body: impl Into<Body>) -> Reply {
        let path = format!(
            "/QuickPulseService.svc/post?ikey={}",
            self.shop.instrumentation_key
        );
        self.ask(Method::POST, &path, &[], body).await
    }
}

fn recorded() -> Vec<Value> {
    serde_json::from_str(RECORDED).unwrap()
}

#[tokio::test]
async fn the_recorded_exchange_is_shown_while_somebody_watches() {
    let server = Server::start().await;
    let requests = recorded();
    for request in &requests {
        assert_eq!(server.replay(request).await, "false", "nobody watches");
    }
    let mut watching = server.watch().await;
    for request in &requests {
        assert_eq!(server.replay(request).await, "true");
    }
    let shown = watching.events("sample", 2).await;
    // Nothing of what was sent before is kept.
    for (shown, sent) in shown.iter().zip(&requests[1..]) {
        let sent = &sent["body"][0];
        assert_eq!(shown["instance"], sent["Instance"]);
        assert_eq!(shown["role"], "shop");
        assert_eq!(shown["stream"], sent["StreamId"]);
        assert_eq!(shown["machine"], "host-01");
        assert_eq!(shown["version"], sent["Version"]);
        assert_eq!(shown["time"], sent["Timestamp"]);
        let metrics: Vec<Value> = sent["Metrics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|metric| json!([metric["Name"], metric["Value"].as_f64(), 1.0]))
            .collect();
        let found: Vec<Value> = shown["metrics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| json!([m["name"], m["value"].as_f64(), m["weight"].as_f64()]))
            .collect();
        assert_eq!(found, metrics);
        assert_eq!(
            shown["documents"],
            json!([{ "type": "Request", "properties": {}, "fields": { "Name": "GET /x", "Url": "http://a/x",
                "ResponseCode": "200", "Duration": "P0.0Y0.0M0.0DT0.0H0.0M0.0.000S" } }])
        );
    }
    // Who comes later sees the last minute first.
    let mut later = server.watch().await;
    assert_eq!(later.events("sample", 2).await, shown);
}

#[tokio::test]
async fn the_sending_ends_after_the_last_watcher_has_left() {
    let clock = TestClock::now();
    let server = Server::at(clock.clone(), |_| {}).await;
    let requests = recorded();
    let watching = server.watch().await;
    let second = server.watch().await;
    drop(watching);
    assert_eq!(server.replay(&requests[1]).await, "true");
    drop(second);
    // Who reloads a page does not interrupt it.
    clock.pass(19);
    assert_eq!(server.replay(&requests[2]).await, "true");
    let mut again = server.watch().await;
    assert_eq!(again.events("sample", 2).await.len(), 2);
    drop(again);
    clock.pass(21);
    assert_eq!(server.replay(&requests[0]).await, "false");
    assert_eq!(server.replay(&requests[1]).await, "false");
}

#[tokio::test]
async fn samples_are_kept_for_a_minute_and_bounded() {
    let clock = TestClock::now();
    let server = Server::at(clock.clone(), |_| {}).await;
    let _watching = server.watch().await;
    let live = &server.app.live;
    let sample = |instance: usize, value: usize| {
        json!([{ "Instance": format!("i{instance}"), "Metrics": [{ "Name": "x", "Value": value }] }]).to_string()
    };
    // What is shown to somebody who comes now.
    let past = || async {
        let mut watch = live.watch(server.shop.id);
        let mut past = Vec::new();
        while let Ok(Some(crate::live::Shown::Sample(sample))) =
            tokio::time::timeout(Duration::ZERO, pin!(watch.next())).await
        {
            past.push((sample.source.instance.clone(), sample.metrics[0].value));
        }
        past
    };
    assert_eq!(server.post_live(sample(0, 0)).await.status, 200);
    clock.pass(59);
    assert_eq!(server.post_live(sample(0, 1)).await.status, 200);
    assert_eq!(
        past().await,
        [("i0".to_owned(), 0.0), ("i0".to_owned(), 1.0)]
    );
    clock.pass(2);
    assert_eq!(past().await, [("i0".to_owned(), 1.0)]);
    // The instance that has been silent for longest makes room.
    for instance in 1..=64 {
        clock.pass(0);
        assert_eq!(server.post_live(sample(instance, 2)).await.status, 200);
    }
    let found = past().await;
    assert_eq!(found.len(), 64);
    assert!(found.iter().all(|(instance, _)| instance != "i0"));
    // An instance that sends much pushes out its own samples and no others'.
    let text = "x".repeat(500);
    let documents = vec![json!({ "DocumentType": "Trace", "Message": text }); 20];
    let large = json!([{ "Instance": "i1", "Metrics": [{ "Name": "x", "Value": 3 }], "Documents": documents }]);
    for _ in 0..100 {
        assert_eq!(server.post_live(large.to_string()).await.status, 200);
    }
    let found = past().await;
    let of_first = found
        .iter()
        .filter(|(instance, _)| instance == "i1")
        .count();
    assert!((10..30).contains(&of_first), "{of_first}");
    assert_eq!(found.len() - of_first, 63);
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_while_somebody_watches() {
    let server = Server::start().await;
    assert_eq!(
        server.post_live("nothing").await.status,
        200,
        "nobody reads it"
    );
    let _watching = server.watch().await;
    for wrong in ["nothing", "[1]", ""] {
        let reply = server.post_live(wrong).await;
        assert_eq!(reply.status, 400, "{wrong}");
        assert_eq!(reply.json()["itemsAccepted"], 0);
    }
    let large = format!("[{{\"Instance\":\"{}\"}}]", "x".repeat(300_000));
    assert_eq!(server.post_live(large).await.status, 413);
    // The classic SDKs name no version of the interface, and join their paths with a second slash.
    let path = format!(
        "//QuickPulseService.svc/ping?ikey={}",
        server.shop.instrumentation_key
    );
    let reply = server.ask(Method::POST, &path, &[], "{}").await;
    assert_eq!(reply.header("x-ms-qps-subscribed"), "true");
    for unknown in ["", "?ikey=x", "?ikey=11111111-2222-3333-4444-555555555555"] {
        let path = format!("/QuickPulseService.svc/ping{unknown}");
        let reply = server.ask(Method::POST, &path, &[], "{}").await;
        let told = (reply.status.as_u16(), reply.header("x-ms-qps-subscribed"));
        assert_eq!(told, (200, "false"), "{unknown}");
    }
}

/// A credential that may only read does not send, and a watcher whose key is deleted sees no more.
#[tokio::test]
async fn rights_are_those_of_telemetry_and_of_queries() {
    let server = Server::start().await;
    let path = format!(
        "/QuickPulseService.svc/ping?ikey={}",
        server.shop.instrumentation_key
    );
    let reads = [("x-api-key", server.key.as_str())];
    assert_eq!(
        server.ask(Method::POST, &path, &reads, "{}").await.status,
        403
    );
    let mut watching = server.watch().await;
    assert!(watching.part().await.unwrap().starts_with("retry:"));
    let catalogue = server.app.store.catalogue();
    assert!(catalogue.delete_key(&server.key_id).await.unwrap());
    assert_eq!(watching.part().await, None);
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let server = Server::start().await;
    let mut watching = server.watch().await;
    assert!(watching.part().await.unwrap().starts_with("retry:"));
    server.app.live.close();
    assert_eq!(watching.part().await, None);
}

#[tokio::test]
async fn sdks_learn_the_id_of_their_application() {
    let server = Server::start().await;
    for slash in ["", "/"] {
        let path = format!(
            "{slash}/api/profiles/{}/appId",
            server.shop.instrumentation_key
        );
        let reply = server.ask(Method::GET, &path, &[], Body::empty()).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(reply.bytes, server.shop.id.to_string().into_bytes());
    }
    for unknown in ["x", "11111111-2222-3333-4444-555555555555"] {
        let path = format!("/api/profiles/{unknown}/appId");
        let reply = server.ask(Method::GET, &path, &[], Body::empty()).await;
        assert_eq!(reply.status, 404);
    }
}
