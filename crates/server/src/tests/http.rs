//! What HTTP itself asks of every path: methods, encodings, slow bodies, panics.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use axum::routing::get;

/// A body that begins and never ends.
fn endless() -> Body {
    let first = futures::stream::iter([Ok::<_, std::io::Error>("[")]);
    Body::from_stream(futures::StreamExt::chain(first, futures::stream::pending()))
}

#[tokio::test]
async fn a_slow_body_ends_with_408() {
    let server = Server::with(|settings| settings.body_timeout = Duration::from_millis(20)).await;
    let sent = server.track(endless()).await;
    assert_eq!(sent.status, 408);
    assert!(
        sent.json()["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("http.body_timeout")
    );
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let key = [("x-api-key", server.key.as_str())];
    let asked = server.ask(Method::POST, &path, &key, endless()).await;
    assert_eq!(asked.status, 408);
    assert_eq!(asked.json()["error"]["code"], "RequestTimeoutError");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for path in ["/common/oauth2/token", "/common/oauth2/v2.0/devicecode"] {
        let asked = server.ask(Method::POST, path, &form, endless()).await;
        assert_eq!(asked.status, 408, "{path}");
        assert_eq!(asked.json()["error"], "invalid_request");
    }
    for path in ["/common/oauth2/authorize", "/devicelogin"] {
        let shown = server.ask(Method::POST, path, &form, endless()).await;
        assert_eq!(shown.status, 408, "{path}");
    }
}

/// Log lines in memory.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn broken() -> &'static str {
    panic!("a bug of ours")
}

#[tokio::test]
async fn a_panic_is_500_with_the_recorded_shape_and_a_line_in_the_log() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let router = crate::router::layered(Router::new().route("/broken", get(broken)));
    let request = Request::get("/broken").body(Body::empty()).unwrap();
    let response = router.oneshot(request).await.unwrap();
    assert_eq!(response.status(), 500);
    let body = axum::body::to_bytes(response.into_body(), 10_000)
        .await
        .unwrap();
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(value["error"]["code"], "InternalServerFault");
    assert!(!String::from_utf8_lossy(&body).contains("a bug of ours"));
    let id = value["error"]["correlationId"].as_str().unwrap();
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let line = log.lines().find(|line| line.contains("a bug of ours"));
    assert!(line.is_some_and(|line| line.contains(id)), "{log}");
}

#[tokio::test]
async fn the_log_says_why_telemetry_was_refused() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let server = Server::start().await;
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut item = server.envelope("MessageData", serde_json::json!({"message": "x"}));
    item["iKey"] = "00000000-0000-0000-0000-000000000001".into();
    let reply = server.track(item.to_string()).await;
    assert_eq!(reply.status, 400);
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let line = log
        .lines()
        .find(|line| line.contains("telemetry was refused"));
    assert!(
        line.is_some_and(|line| line.contains("Invalid instrumentation key")
            && line.contains(reply.header("x-ms-request-id"))),
        "{log}"
    );
}

#[tokio::test]
async fn every_path_has_head_and_says_which_methods_it_has() {
    let server = Server::start().await;
    let key = [("x-api-key", server.key.as_str())];
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let head = server.ask(Method::HEAD, &path, &key, Body::empty()).await;
    assert_eq!((head.status, head.bytes.len()), (StatusCode::OK, 0));
    let check = async |method: Method, path: &str, allow: &str| {
        let reply = server.ask(method, path, &key, Body::empty()).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.header("allow"), allow, "{path}");
        assert_eq!(reply.json()["error"]["code"], "PathNotFoundError");
    };
    check(Method::DELETE, &path, "GET,HEAD,POST").await;
    check(Method::GET, "/v2/track", "POST").await;
    let metrics = format!("/v1/apps/{}/metrics/requests/count", server.shop.id);
    check(Method::POST, &metrics, "GET,HEAD").await;
}

#[tokio::test]
async fn replies_carry_the_recorded_headers() {
    let server = Server::start().await;
    let reply = server.get("query?query=print+1").await;
    assert_eq!(
        reply.header("content-type"),
        "application/json; charset=utf-8"
    );
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert!(
        reply
            .header("access-control-expose-headers")
            .contains("retry-after")
    );
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    assert_eq!(reply.header("referrer-policy"), "no-referrer");
}

/// What a reply depends on stands in one line, whatever layers added to it.
#[tokio::test]
async fn a_reply_has_one_vary() {
    let server = Server::start().await;
    let long = server.get("query?query=print+strrep('x',4000)").await;
    let health = server.ask(Method::GET, "/health", &[], Body::empty()).await;
    let refused = server
        .ask(Method::GET, "/v1/apps/x/query", &[], Body::empty())
        .await;
    for (reply, expected) in [
        (long, "Authorization, X-Api-Key, Prefer, Accept-Encoding"),
        (health, "accept-encoding"),
        (refused, "accept-encoding"),
    ] {
        let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
        assert_eq!(vary, [expected]);
    }
}

#[tokio::test]
async fn replies_are_packed_and_questions_unpacked() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(br#"{"query":"print x = 'packed'"}"#)
        .unwrap();
    let packed = encoder.finish().unwrap();
    let send = async |encoding: &str, body: Vec<u8>| {
        let headers = [
            ("x-api-key", server.key.as_str()),
            ("content-encoding", encoding),
        ];
        server.ask(Method::POST, &path, &headers, body).await
    };
    let reply = send("gzip", packed).await;
    assert_eq!(reply.json()["tables"][0]["rows"][0][0], "packed");
    let refused = send("compress", b"{}".to_vec()).await;
    assert_eq!(refused.status, 415);
    assert_eq!(refused.json()["error"]["code"], "UnsupportedMediaTypeError");
    let headers = [
        ("x-api-key", server.key.as_str()),
        ("accept-encoding", "gzip"),
    ];
    let long = format!("{path}?query=print+strrep('x',4000)");
    let reply = server
        .ask(Method::GET, &long, &headers, Body::empty())
        .await;
    assert_eq!(reply.header("content-encoding"), "gzip");
    assert!(reply.bytes.starts_with(&[0x1f, 0x8b]));
}

#[tokio::test]
async fn bodies_that_are_no_json_are_415_and_any_accept_gets_json() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let check = async |name: &str, value: &str, status: u16| {
        let headers = [("x-api-key", server.key.as_str()), (name, value)];
        let reply = server
            .ask(Method::POST, &path, &headers, r#"{"query":"print 1"}"#)
            .await;
        assert_eq!(reply.status, status, "{name}: {value}");
        if status != 200 {
            assert!(reply.json()["error"]["correlationId"].is_string());
        }
    };
    check("content-type", "application/json; charset=utf-8", 200).await;
    check("content-type", "application/vnd.shop+json", 200).await;
    check("content-type", "application/x-www-form-urlencoded", 200).await;
    check("content-type", "application/xml", 415).await;
    check("content-type", "multipart/form-data; boundary=x", 415).await;
    check("content-encoding", "gzip, gzip", 415).await;
    check("accept", "application/json", 200).await;
    check("accept", "text/html, */*;q=0.1", 200).await;
    check("accept", "application/xml", 200).await;
    check("accept", "application/json;q=0", 200).await;
    for path in [
        "query?query=print+1",
        "metrics/requests/count",
        "events/requests",
        "metadata",
    ] {
        let path = format!("/v1/apps/{}/{path}", server.shop.id);
        let html = [("x-api-key", server.key.as_str()), ("accept", "text/html")];
        let reply = server.ask(Method::GET, &path, &html, Body::empty()).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(reply.json().is_object(), "{path}");
        let kind = reply.header("content-type");
        assert!(kind.starts_with("application/json"), "{path}: {kind}");
    }
    let xml = [
        ("x-api-key", server.key.as_str()),
        ("accept", "application/xml"),
    ];
    let model = format!("/v1/apps/{}/events/$metadata", server.shop.id);
    let reply = server.ask(Method::GET, &model, &xml, Body::empty()).await;
    assert_eq!(reply.status, 200);
    // `$format` outranks `Accept`.
    let csv = format!("/v1/apps/{}/events/traces?$format=csv", server.shop.id);
    let json = [
        ("x-api-key", server.key.as_str()),
        ("accept", "application/json"),
    ];
    let reply = server.ask(Method::GET, &csv, &json, Body::empty()).await;
    assert_eq!(reply.header("content-type"), "text/csv; charset=utf-8");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413_packed_or_not() {
    let server = Server::with(|settings| settings.query_max_body_bytes = 10_000).await;
    let path = format!("/v1/apps/{}/query", server.shop.id);
    let query = format!(r#"{{"query":"print '{}'"}}"#, "x".repeat(20_000));
    let key = ("x-api-key", server.key.as_str());
    let plain = server.ask(Method::POST, &path, &[key], query.clone()).await;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(query.as_bytes()).unwrap();
    let headers = [key, ("content-encoding", "gzip")];
    let packed = encoder.finish().unwrap();
    let packed = server.ask(Method::POST, &path, &headers, packed).await;
    for reply in [plain, packed] {
        assert_eq!(reply.status, 413);
        let message = reply.json()["error"]["message"].to_string();
        assert!(message.contains("query.max_body_bytes") && message.contains("10000"));
    }
}

/// Any origin may ask with a key; none gets credentials of the browser (attack 44).
#[tokio::test]
async fn other_origins_may_ask_without_the_browsers_credentials() {
    let server = Server::start().await;
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let preflight = [
        ("origin", "https://elsewhere.example"),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "x-api-key,prefer"),
    ];
    let allowed = server
        .ask(Method::OPTIONS, &path, &preflight, Body::empty())
        .await;
    assert_eq!(allowed.status, 200);
    assert_eq!(
        allowed.header("access-control-allow-headers"),
        "x-api-key,prefer"
    );
    assert_eq!(allowed.header("access-control-allow-methods"), "GET");
    let asked = [
        ("origin", "https://elsewhere.example"),
        ("x-api-key", server.key.as_str()),
        ("cookie", "session=stolen"),
    ];
    let reply = server.ask(Method::GET, &path, &asked, Body::empty()).await;
    let refused = server
        .ask(Method::GET, &path, &[("origin", "null")], Body::empty())
        .await;
    assert_eq!((reply.status.as_u16(), refused.status.as_u16()), (200, 401));
    let page = server
        .ask(Method::GET, "/devicelogin", &asked, Body::empty())
        .await;
    let token = server
        .ask(Method::POST, "/common/oauth2/token", &asked, Body::empty())
        .await;
    for reply in [&allowed, &reply, &refused, &page, &token] {
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert_eq!(reply.header("access-control-allow-credentials"), "");
    }
    assert_eq!(
        reply.header("access-control-expose-headers"),
        "retry-after,age,www-authenticate,x-resource-identities,x-ms-status-location"
    );
}

/// Packed and plain replies have the same content and one tag.
#[tokio::test]
async fn replies_are_the_same_in_every_encoding() {
    let server = Server::start().await;
    let path = format!(
        "/v1/apps/{}/query?query=range+x+from+1+to+500+step+1",
        server.shop.id
    );
    let key = ("x-api-key", server.key.as_str());
    let plain = server.ask(Method::GET, &path, &[key], Body::empty()).await;
    let length = plain.bytes.len().to_string();
    assert_eq!(plain.header("content-length"), length);
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let headers = [key, ("accept-encoding", encoding)];
        let packed = server
            .ask(Method::GET, &path, &headers, Body::empty())
            .await;
        assert_eq!(packed.header("content-encoding"), encoding);
        assert_eq!(packed.header("etag"), plain.header("etag"));
        assert!(!packed.header("age").is_empty());
        assert!(packed.bytes.len() < plain.bytes.len());
        let codec = hindsight_ingest::body::Codec::parse(encoding).unwrap();
        let unpacked = hindsight_ingest::body::decode(codec, &packed.bytes, 1 << 20).unwrap();
        assert_eq!(&*unpacked, plain.bytes.as_slice(), "{encoding}");
    }
}
