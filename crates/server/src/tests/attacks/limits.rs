//! Clients that hold connections, bodies and memory without a credential, and floods of one application.

use std::time::Duration;

use super::*;
use crate::tests::connections::{HEADERS, PREFACE, SETTINGS, Wire, frame};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The head of a post of telemetry whose body does not follow.
const UNFINISHED: &[u8] = b"POST /v2/track HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n";
/// `POST http://x/v2/track`: indexed fields, then the path and the authority as literals (RFC 7541).
const POST_TRACK: &[u8] = b"\x83\x86\x04\x09/v2/track\x41\x01x";

/// A test that a blocked server would never end.
async fn within<T>(seconds: u64, done: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(seconds), done);
    done.await.expect("it is not held up")
}

fn event(server: &Server, name: &str) -> String {
    let item = server.envelope("EventData", json!({"name": name}));
    item.to_string()
}

async fn track_over(wire: &Wire) -> String {
    let body = event(&wire.server, "good");
    let request = format!(
        "POST /v2/track HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    within(20, wire.say(request.as_bytes())).await
}

#[tokio::test]
async fn row_43_unfinished_bodies_of_one_connection_block_no_ingestion() {
    let wire = Wire::open(|settings| settings.body_timeout = Duration::from_secs(600)).await;
    let mut stream = wire.connect().await;
    let mut request = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    for number in 0..32 {
        request.extend(frame(HEADERS, 4, 2 * number + 1, POST_TRACK));
    }
    stream.write_all(&request).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let reply = track_over(&wire).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test]
async fn row_43_connections_whose_bodies_do_not_arrive_make_room() {
    let wire = Wire::open(|settings| {
        settings.max_connections = 20;
        settings.body_timeout = Duration::from_secs(600);
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..100 {
        let mut stream = wire.connect().await;
        let _ = stream.write_all(UNFINISHED).await;
        held.push(stream);
    }
    assert!(within(20, wire.lives()).await);
    let reply = track_over(&wire).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test]
async fn row_43_health_is_answered_while_every_connection_works() {
    let wire = Wire::open(|settings| settings.max_connections = 2).await;
    let endless = "range x from 1 to 100000000000 step 1 | summarize sum(x)";
    let body = json!({ "query": endless }).to_string();
    let request = wire.head(body.len()) + &body;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = wire.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..5 {
        assert!(within(1, wire.lives()).await);
    }
    let reply = track_over(&wire).await;
    assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
    assert!(reply.contains("retry-after: "), "{reply}");
    drop(held);
    let reply = track_over(&wire).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

async fn begin_body(wire: &Wire, bytes: usize) -> TcpStream {
    let mut stream = wire.connect().await;
    stream.write_all(UNFINISHED).await.unwrap();
    let _ = stream.write_all(&vec![b' '; bytes]).await;
    stream
}

#[tokio::test]
async fn row_39_arriving_bodies_hold_bounded_memory_and_the_oldest_is_told_to_come_back() {
    let wire = Wire::open(|settings| {
        settings.body_memory = 8 << 20;
        settings.body_timeout = Duration::from_secs(600);
    })
    .await;
    let mut first = begin_body(&wire, 90_000).await;
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(begin_body(&wire, 90_000).await);
        assert!(wire.server.app.bodies.receiving.bytes() <= 1 << 20);
    }
    let mut reply = [0; 12];
    within(10, first.read_exact(&mut reply)).await.unwrap();
    assert_eq!(&reply, b"HTTP/1.1 503");
    let reply = track_over(&wire).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test]
async fn row_43_an_address_has_so_many_arriving_bodies() {
    let wire = Wire::open(|settings| {
        settings.max_bodies_per_address = 3;
        settings.body_timeout = Duration::from_secs(600);
    })
    .await;
    let mut first = begin_body(&wire, 1).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        held.push(begin_body(&wire, 1).await);
    }
    let mut reply = [0; 12];
    within(10, first.read_exact(&mut reply)).await.unwrap();
    assert_eq!(&reply, b"HTTP/1.1 503");
}

/// A few hundred bytes that are ten thousands of broken items must not become megabytes of reply.
#[tokio::test]
async fn row_39_a_small_body_gets_a_small_reply() {
    let server = Server::start().await;
    let reply = server.track("{}".repeat(64_000)).await;
    assert_eq!(reply.status, 400);
    assert!(reply.bytes.len() < 30_000, "{}", reply.bytes.len());
    let verdict = reply.json();
    assert_eq!(verdict["itemsReceived"], 64_000);
    assert_eq!(verdict["errors"].as_array().unwrap().len(), 100);
}

/// Bytes that are millions of items are counted without a list of them.
#[tokio::test]
async fn row_39_millions_of_items_are_refused() {
    let server = Server::start().await;
    let reply = server.track("1\n".repeat(4 << 20)).await;
    assert_eq!(reply.status, 413, "{}", reply.json());
}

#[tokio::test]
async fn a_body_that_needs_more_memory_than_there_is_names_the_setting() {
    let server = Server::with(|settings| settings.body_memory = 1 << 20).await;
    let reply = server
        .track(" ".repeat(100_000) + &event(&server, "small"))
        .await;
    assert_eq!(reply.status, 200);
    let reply = server
        .track(" ".repeat(400_000) + &event(&server, "large"))
        .await;
    assert_eq!(reply.status, 413);
    assert!(
        reply.json()["errors"][0]["message"]
            .to_string()
            .contains("http.body_memory")
    );
}

/// One application sends as fast as it can: its own requests wait and are refused, those of another are not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_one_application_delays_no_other() {
    let server = Arc::new(
        Server::with(|settings| {
            settings.ingest_concurrency = 2;
            settings.ingest_queue = 10;
            settings.ingest_queue_time = Duration::from_secs(3);
        })
        .await,
    );
    let (other, _) = second(&server).await;
    let quiet = event(&server, "quiet").replace(
        &server.shop.instrumentation_key.to_string(),
        &other.instrumentation_key.to_string(),
    );
    let flood = event(&server, "flood").repeat(2_000);
    let mut flooders = tokio::task::JoinSet::new();
    for _ in 0..60 {
        let (server, flood) = (server.clone(), flood.clone());
        flooders.spawn(async move {
            let mut refused = 0;
            for _ in 0..5 {
                let reply = server.track(flood.clone()).await;
                assert!(
                    matches!(reply.status.as_u16(), 200 | 503),
                    "{}",
                    reply.json()
                );
                if reply.status == 503 {
                    assert_eq!(reply.header("retry-after"), "5");
                    refused += 1;
                }
            }
            refused
        });
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    for _ in 0..20 {
        let reply = within(20, server.track(quiet.clone())).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
    }
    let refused: Vec<usize> = flooders.join_all().await;
    assert!(refused.iter().sum::<usize>() > 0);
}

#[tokio::test]
async fn http_1_1_without_a_host_is_refused() {
    let wire = Wire::open(|_| {}).await;
    for (head, status) in [
        ("GET /health HTTP/1.1\r\n\r\n", "400"),
        ("GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", "400"),
        ("GET /health HTTP/1.1\r\nhost: a\r\n\r\n", "200"),
        ("GET /health HTTP/1.0\r\n\r\n", "200"),
    ] {
        let mut stream = wire.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut reply = [0; 12];
        within(10, stream.read_exact(&mut reply)).await.unwrap();
        assert_eq!(&reply[9..], status.as_bytes(), "{head}");
    }
}

#[tokio::test]
async fn figures_are_for_this_machine_and_no_script_unless_a_setting_says_more() {
    let check = async |access: &str, from: &str, key: bool, status: &str| {
        let wire = Wire::open(|settings| {
            settings.set("prometheus.access", access).unwrap();
            settings.set("http.trusted_proxies", "127.0.0.1").unwrap();
        })
        .await;
        let key = if key { &wire.server.key } else { "" };
        let reply = wire
            .say(
                format!("GET /metrics HTTP/1.1\r\nhost: x\r\norigin: http://evil.example\r\nx-forwarded-for: {from}\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n")
                    .as_bytes(),
            )
            .await;
        assert_eq!(reply.get(9..12), Some(status), "{access} {from} {reply}");
        assert!(!reply.contains("access-control-allow-origin"), "{reply}");
    };
    check("local", "127.0.0.1", false, "200").await;
    check("local", "203.0.113.9", true, "403").await;
    check("credential", "203.0.113.9", false, "401").await;
    check("credential", "203.0.113.9", true, "200").await;
    check("everyone", "203.0.113.9", false, "200").await;
}

#[tokio::test]
async fn resources_that_are_no_applications_are_refused_by_name() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let headers = [("x-api-key", server.key.as_str())];
    let body = json!({"query": "print 1", "resources": ["/subscriptions/x"]}).to_string();
    let reply = server.ask(Method::POST, &path, &headers, body).await;
    assert_eq!(reply.status, 400);
    let text = reply.json().to_string();
    assert!(text.contains("'/subscriptions/x' is not the id of an application"));
    let body = json!({"query": "print 1", "resources": null}).to_string();
    assert_eq!(
        server.ask(Method::POST, &path, &headers, body).await.status,
        200
    );
}

#[tokio::test]
async fn a_sample_rate_near_zero_is_refused_for_its_item_alone() {
    let server = Server::start().await;
    let item = |rate: f64| {
        let mut item = server.envelope("EventData", json!({"name": "sampled"}));
        item["sampleRate"] = json!(rate);
        item.to_string()
    };
    let rates = [50.0, 1e-300, 0.00009, 0.0001, 0.0, 100.0];
    let body: String = rates.map(item).concat();
    let reply = server.track(body).await;
    let verdict = reply.json();
    let refused: Vec<_> = verdict["errors"].as_array().unwrap().iter().collect();
    assert_eq!(reply.status, 206);
    assert_eq!(
        refused
            .iter()
            .map(|error| &error["index"])
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert!(refused[0]["message"].to_string().contains("'sampleRate'"));
    let found = server
        .query("customEvents | summarize sum(itemCount)")
        .await;
    assert_eq!(found.json()["tables"][0]["rows"], json!([[1_000_004]]));
}

/// A client that is still sending when its body is refused reads the reply and not a broken connection.
#[tokio::test]
async fn a_refused_body_is_discarded_while_the_client_sends_it() {
    let wire = Wire::open(|settings| settings.ingest_max_body_bytes = 1 << 20).await;
    for declared in [true, false] {
        let length = if declared {
            "content-length: 16777216"
        } else {
            "transfer-encoding: chunked"
        };
        let mut request =
            format!("POST /v2/track HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{length}\r\n\r\n")
                .into_bytes();
        let part = vec![b' '; 1 << 20];
        for _ in 0..16 {
            if !declared {
                request.extend(b"100000\r\n");
            }
            request.extend(&part);
            if !declared {
                request.extend(b"\r\n");
            }
        }
        if !declared {
            request.extend(b"0\r\n\r\n");
        }
        let mut stream = wire.connect().await;
        within(20, stream.write_all(&request)).await.unwrap();
        let mut reply = [0; 12];
        within(20, stream.read_exact(&mut reply)).await.unwrap();
        assert_eq!(&reply, b"HTTP/1.1 413");
    }
}
