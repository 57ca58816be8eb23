//! The router over a real data folder.

mod attacks;
mod cache;
mod connections;
mod damage;
mod demo;
mod envelopes;
mod hostile;
mod http;
mod identity;
mod import;
mod ingest;
mod kusto;
mod live;
mod metadata;
mod oauth;
mod openapi;
mod origin;
mod otlp;
mod overload;
mod portal;
mod query;
mod questions;
mod recordings;
mod resource;
mod routes;
mod shutdown;
mod specification;
mod streaming;
mod test_mode;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use hindsight_store::{Application, Clock, SystemClock};
use parking_lot::Mutex;
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

use crate::app::{App, create_app, create_key};
use crate::config::Settings;

/// A clock that moves when a test says so.
#[derive(Debug)]
struct TestClock(Mutex<(i64, Duration)>);

impl TestClock {
    /// One that begins now.
    fn now() -> Arc<TestClock> {
        TestClock::at(SystemClock::default().now_ticks())
    }

    /// One that begins at this time.
    fn at(ticks: i64) -> Arc<TestClock> {
        Arc::new(TestClock(Mutex::new((ticks, Duration::ZERO))))
    }

    fn pass(&self, seconds: u64) {
        let mut state = self.0.lock();
        state.0 += i64::try_from(seconds).unwrap() * 10_000_000;
        state.1 += Duration::from_secs(seconds);
    }
}

impl Clock for TestClock {
    fn now_ticks(&self) -> i64 {
        self.0.lock().0
    }

    fn elapsed(&self) -> Duration {
        self.0.lock().1
    }
}

/// A server without a socket.
struct Server {
    app: Arc<App>,
    router: Router,
    shop: Application,
    key: String,
    key_id: String,
    _folder: TempDir,
}

/// A reply.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.bytes)))
    }

    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl Server {
    async fn start() -> Server {
        Server::with(|_| {}).await
    }

    async fn with(change: impl FnOnce(&mut Settings)) -> Server {
        Server::at(Arc::new(SystemClock::default()), change).await
    }

    async fn at(clock: Arc<dyn Clock>, change: impl FnOnce(&mut Settings)) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::defaults().unwrap();
        settings.data = folder.path().join("data");
        settings.query_memory = 256 << 20;
        change(&mut settings);
        let app = App::build_with(settings, |config| config.clock = clock)
            .await
            .unwrap();
        Server::over(app, folder).await
    }

    /// A server with the application `shop` and a key that reads it.
    async fn over(app: Arc<App>, folder: TempDir) -> Server {
        let shop = create_app(app.store.catalogue(), "shop", app.now())
            .await
            .unwrap();
        let (key_id, key) = create_key(app.store.catalogue(), shop.id, "test", app.now(), None)
            .await
            .unwrap();
        Server {
            router: crate::router::router(app.clone()),
            app,
            shop,
            key,
            key_id,
            _folder: folder,
        }
    }

    /// The same data folder under a new server.
    async fn restart(self) -> Server {
        self.app.close().await.unwrap();
        let settings = self.app.settings.clone();
        let Server {
            app,
            router,
            shop,
            key,
            key_id,
            _folder,
        } = self;
        drop((app, router));
        let app = App::build_with(settings, |_| {}).await.unwrap();
        Server {
            router: crate::router::router(app.clone()),
            app,
            shop,
            key,
            key_id,
            _folder,
        }
    }

    async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        // A stream of events or items has no end.
        let media = parts.headers.get("content-type");
        let body = if media
            .is_some_and(|media| media == "text/event-stream" || media == "application/x-ndjson")
        {
            Body::empty()
        } else {
            body
        };
        let bytes = axum::body::to_bytes(body, usize::MAX)
            .await
            .unwrap()
            .to_vec();
        Reply {
            status: parts.status,
            headers: parts.headers,
            bytes,
        }
    }

    /// A request with these headers.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    /// A GET under the shop's application with its key.
    async fn get(&self, path: &str) -> Reply {
        let path = format!("/v1/apps/{}/{path}", self.shop.id);
        self.ask(
            Method::GET,
            &path,
            &[("x-api-key", &self.key)],
            Body::empty(),
        )
        .await
    }

    /// A KQL query.
    async fn query(&self, kql: &str) -> Reply {
        let path = format!("/v1/apps/{}/query", self.shop.id);
        let headers = [
            ("x-api-key", self.key.as_str()),
            ("content-type", "application/json"),
            ("cache-control", "no-cache"),
        ];
        self.ask(
            Method::POST,
            &path,
            &headers,
            serde_json::json!({"query": kql}).to_string(),
        )
        .await
    }

    /// An envelope of now.
    fn envelope(&self, base_type: &str, base_data: Value) -> Value {
        let mut now = String::new();
        hindsight_kql_types::datetime::write_full(self.app.now(), &mut now).unwrap();
        serde_json::json!({"time": now, "iKey": self.shop.instrumentation_key.to_string(),
            "data": {"baseType": base_type, "baseData": base_data}})
    }

    async fn track(&self, body: impl Into<Body>) -> Reply {
        self.ask(
            Method::POST,
            "/v2.1/track",
            &[("content-type", "application/json")],
            body,
        )
        .await
    }
}
