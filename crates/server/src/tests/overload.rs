//! Telemetry while an application's queue is full, and shortly after many refusals.

use std::collections::BTreeMap;

use super::*;
use crate::bodies::Owner;
use crate::bodies::shares::Share;
use crate::moderation;
use crate::service::{Service, may_be_refused};

/// A server where one request of the shop waits, and no other one may.
struct Overloaded {
    server: Server,
    other: Application,
    service: Service,
    _holds: Share<Owner>,
    waits: tokio::task::JoinHandle<()>,
}

impl Overloaded {
    async fn open() -> Overloaded {
        let server = Server::with(|settings| {
            settings.ingest_queue = 1;
            settings.ingest_queue_time = Duration::from_secs(600);
            settings.ingest_max_body_bytes = 100_000;
        })
        .await;
        let other = create_app(server.app.store.catalogue(), "other", server.app.now())
            .await
            .unwrap();
        // Applications are looked up in a snapshot that may be older.
        server.app.directory.current().await.unwrap();
        let telemetry = server.app.bodies.telemetry.clone();
        let (owner, half) = (Some(server.shop.id), telemetry.limit() / 2);
        let holds = telemetry.enter(owner, half, 0).await.ok().unwrap();
        let waiting = telemetry.clone();
        let waits = tokio::spawn(async move {
            let _ = waiting.enter(owner, half, 0).await;
        });
        while !telemetry.is_any_full() {
            tokio::task::yield_now().await;
        }
        Overloaded {
            service: Service::new(server.app.clone()),
            server,
            other,
            _holds: holds,
            waits,
        }
    }

    fn event(&self, app: &Application) -> String {
        let mut item = self
            .server
            .envelope("EventData", serde_json::json!({"name": "a"}));
        item["iKey"] = app.instrumentation_key.to_string().into();
        item.to_string()
    }

    /// As [`both`].
    async fn both(&self, headers: &[(&str, &str)], parts: &[&str]) -> [Seen; 2] {
        both(&self.server, &self.service, headers, parts).await
    }
}

/// The status, the headers and the body of the reply to a request that comes in parts: past the router, and through it.
async fn both(
    server: &Server,
    service: &Service,
    headers: &[(&str, &str)],
    parts: &[&str],
) -> [Seen; 2] {
    let request = || {
        let parts: Vec<Result<String, std::io::Error>> =
            parts.iter().map(|part| Ok((*part).to_owned())).collect();
        let mut request = Request::post("/v2.1/track").header("host", "x");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Body::from_stream(futures::stream::iter(parts));
        request.body(body).unwrap()
    };
    // What shows a credential passes through the router both times.
    let shows_none = !headers.iter().any(|(name, _)| *name == "x-api-key");
    let route = may_be_refused(&server.app, &request());
    assert_eq!(route, shows_none.then_some("/v2.1/track"));
    let past = service.clone().answer(request()).await;
    let through = Service::from(server.router.clone()).answer(request());
    [seen(past).await, seen(through.await).await]
}

impl Drop for Overloaded {
    fn drop(&mut self) {
        self.waits.abort();
    }
}

#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

async fn seen(response: axum::response::Response) -> Seen {
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let mut headers: BTreeMap<String, String> = parts
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    assert_eq!(headers.remove("x-ms-request-id").unwrap().len(), 36);
    // The connection adds it where the router has not.
    headers.remove("content-length");
    Seen {
        status: parts.status.as_u16(),
        headers,
        body: String::from_utf8(bytes.to_vec()).unwrap(),
    }
}

/// A name, headers beside `Host`, the parts of the body, and the status of the reply.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str], u16);

#[tokio::test]
async fn a_reply_is_the_same_past_the_router_and_through_it() {
    let overloaded = Overloaded::open().await;
    let (full, free) = (
        overloaded.event(&overloaded.server.shop),
        overloaded.event(&overloaded.other),
    );
    let (begun, rest) = full.split_at(full.len() / 2);
    let (late, too_late) = (" ".repeat(6_000) + &full, " ".repeat(20_000) + &full);
    let long = full.clone() + &" ".repeat(100_000);
    let key = ("x-api-key", "hs_0123456789_wrong");
    let cases: [Case<'_>; 10] = [
        ("refused by its first part", &[], &[&full, &full], 503),
        ("refused as a whole", &[], &["", begun, rest], 503),
        ("its key comes late", &[], &[&late], 503),
        ("whose it is, is found out too late", &[], &[&too_late], 200),
        ("of another application", &[], &[&free], 200),
        ("with a first item of another", &[], &[&free, &full], 200),
        ("too long for any", &[], &[&full, &long], 413),
        (
            "not of a known encoding",
            &[("content-encoding", "x")],
            &[&full],
            415,
        ),
        ("with a wrong credential", &[key], &[&full], 403),
        ("of nothing", &[], &[], 400),
    ];
    for (name, headers, parts, status) in cases {
        let [past, through] = overloaded.both(headers, parts).await;
        assert_eq!(past, through, "{name}");
        assert_eq!(past.status, status, "{name}: {}", past.body);
        if status == 503 {
            assert_eq!(past.headers.get("retry-after").unwrap(), "5", "{name}");
            assert!(past.body.contains("ingest.queue"), "{name}: {}", past.body);
        }
    }
}

#[tokio::test]
async fn telemetry_goes_past_the_router_for_a_moment_after_many_refusals() {
    let server = Server::start().await;
    let service = Service::new(server.app.clone());
    let item = server.envelope("EventData", serde_json::json!({"name": "a"}));
    for _ in 0..1000 {
        moderation::refused();
    }
    assert!(!server.app.bodies.telemetry.is_any_full());
    let [past, through] = both(&server, &service, &[], &[&item.to_string()]).await;
    assert_eq!(past, through);
    assert_eq!(past.status, 200, "{}", past.body);
}

#[tokio::test]
async fn a_body_that_is_refused_by_its_beginning_holds_no_memory() {
    let overloaded = Overloaded::open().await;
    let event = overloaded.event(&overloaded.server.shop);
    let receiving = overloaded.server.app.bodies.receiving.clone();
    let most = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (watched, noted) = (receiving.clone(), most.clone());
    let parts = (0..90).map(move |number| {
        noted.fetch_max(watched.bytes(), std::sync::atomic::Ordering::Relaxed);
        let part = if number == 0 {
            event.clone()
        } else {
            " ".repeat(1000)
        };
        Ok::<_, std::io::Error>(part)
    });
    let body = Body::from_stream(futures::stream::iter(parts));
    let request = Request::post("/v2/track").header("host", "x").body(body);
    let reply = overloaded.service.clone().answer(request.unwrap()).await;
    assert_eq!(reply.status(), 503);
    let most = most.load(std::sync::atomic::Ordering::Relaxed);
    assert!((1..10_000).contains(&most), "{most} bytes");
    assert_eq!(receiving.bytes(), 0);
}
