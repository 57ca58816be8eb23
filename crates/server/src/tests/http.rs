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
async fn every_path_has_head_and_says_which_methods_it_has() {
    let server = Server::start().await;
    let key = [("x-api-key", server.key.as_str())];
    let path = format!("/v1/apps/{}/query?query=print+1", server.shop.id);
    let head = server.ask(Method::HEAD, &path, &key, Body::empty()).await;
    assert_eq!((head.status, head.bytes.len()), (StatusCode::OK, 0));
    let check = async |method: Method, path: &str, allow: &str| {
        let reply = server.ask(method, path, &key, Body::empty()).await;
        assert_eq!(reply.status, 405, "{path}");
        assert_eq!(reply.header("allow"), allow, "{path}");
        assert_eq!(reply.json()["error"]["code"], "MethodNotAllowedError");
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
    let vary: Vec<_> = reply.headers.get_all("vary").iter().collect();
    assert!(
        format!("{vary:?}")
            .to_ascii_lowercase()
            .contains("accept-encoding"),
        "{vary:?}"
    );
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
