//! TLS and plain HTTP on one port, and the addresses that replies name.

use std::net::SocketAddr;

use super::connections::{HEADERS, PREFACE, SETTINGS, Wire, frame, frames};
use super::*;
use crate::connection::Connection;
use crate::tls;
use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

/// The frame type of a body's part (RFC 9113 §6.1).
const DATA: u8 = 0;

/// A server whose only listener takes TLS and plain HTTP, and a client's side of TLS that trusts its authority.
async fn with_tls() -> (Wire, TlsConnector) {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::defaults().unwrap();
    settings.data = folder.path().to_owned();
    settings.set("tls.dev", "true").unwrap();
    let now = SystemClock::default().now_ticks();
    let now = Timestamp::from_millisecond(hindsight_kql_types::ticks::to_unix_millis(now)).unwrap();
    let opened = tls::open(&settings, now).unwrap().unwrap();
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(opened.authority.unwrap()).unwrap();
    roots.add(authority).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let wire = Wire::open_with(
        crate::cli::listen::Encryption::Accepted(opened.acceptor),
        |_| {},
    );
    (wire.await, TlsConnector::from(Arc::new(client)))
}

/// The reply over TLS to these bytes.
async fn say_with_tls(wire: &Wire, connector: &TlsConnector, bytes: &[u8]) -> String {
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, wire.connect().await).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut all = Vec::new();
    // Some ends of TLS connections are not announced.
    let _ = stream.read_to_end(&mut all).await;
    String::from_utf8_lossy(&all).into_owned()
}

fn first_request(wire: &Wire) -> String {
    format!(
        "GET /v1/apps/{}/events/requests?$top=1 HTTP/1.1\r\nhost: here:1\r\nx-api-key: {}\r\nconnection: close\r\n\r\n",
        wire.server.shop.id, wire.server.key
    )
}

#[tokio::test]
async fn one_port_takes_tls_and_plain_http() {
    let (wire, connector) = with_tls().await;
    let request = first_request(&wire);
    let plain = wire.say(request.as_bytes()).await;
    assert!(plain.starts_with("HTTP/1.1 200"), "{plain}");
    let context = format!(
        "\"@odata.context\":\"http://here:1/v1/apps/{}",
        wire.server.shop.id
    );
    assert!(plain.contains(&context), "{plain}");
    let encrypted = say_with_tls(&wire, &connector, request.as_bytes()).await;
    assert!(encrypted.starts_with("HTTP/1.1 200"), "{encrypted}");
    assert!(
        encrypted.contains(&context.replace("http:", "https:")),
        "{encrypted}"
    );
}

#[tokio::test]
async fn a_client_that_begins_nothing_is_cut_off_at_both() {
    let (wire, connector) = with_tls().await;
    // Nothing, the first byte of TLS alone, a part of a request.
    for begun in ["", "\u{16}", "GET "] {
        let reply = wire.say(begun.as_bytes()).await;
        assert!(!reply.contains("200"), "{begun:?}: {reply}");
    }
    assert!(wire.lives().await);
    let health = b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let reply = say_with_tls(&wire, &connector, health).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

/// Without a certificate a handshake is not answered as if it were HTTP.
#[tokio::test]
async fn tls_without_a_certificate_ends_the_connection() {
    let wire = Wire::open(|_| {}).await;
    let hello = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00";
    assert_eq!(wire.say(hello).await, "");
    assert!(wire.lives().await);
}

#[tokio::test]
async fn the_authority_of_http_2_is_the_host_of_addresses() {
    let wire = Wire::open(|_| {}).await;
    let literal = |text: &str| {
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 127, "{text}");
        [&[length], text.as_bytes()].concat()
    };
    let path = format!("/v1/apps/{}/events/requests?$top=1", wire.server.shop.id);
    // GET and http are indexed; the path, the authority and the key are literals (RFC 7541).
    let fields = [
        b"\x82\x86\x04".to_vec(),
        literal(&path),
        b"\x41".to_vec(),
        literal("two.example:8"),
        b"\x00".to_vec(),
        literal("x-api-key"),
        literal(&wire.server.key),
    ]
    .concat();
    let request = [
        PREFACE,
        &frame(SETTINGS, 0, 0, &[]),
        &frame(HEADERS, 5, 1, &fields),
    ]
    .concat();
    let mut stream = wire.connect().await;
    stream.write_all(&request).await.unwrap();
    let found = frames(&mut stream, DATA).await;
    let body = String::from_utf8_lossy(&found.last().unwrap().1).into_owned();
    assert!(
        body.contains("\"@odata.context\":\"http://two.example:8/v1/"),
        "{body}"
    );
}

impl Server {
    /// A GET of a client behind a proxy at 10.0.0.1.
    async fn behind_proxy(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let peer: SocketAddr = "10.0.0.1:5".parse().unwrap();
        let mut request = Request::builder().uri(path).header("host", "inner");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let proxies = &self.app.settings.trusted_proxies;
        let connection = Connection {
            peer: Some(peer),
            client: Some(proxies.client(peer.ip(), request.headers())),
            tls: proxies
                .is_https(peer.ip(), request.headers())
                .unwrap_or(false),
        };
        request.extensions_mut().insert(connection);
        self.send(request).await
    }
}

#[tokio::test]
async fn trusted_proxies_tell_the_origin_and_others_do_not() {
    let trusting =
        |settings: &mut Settings| settings.set("http.trusted_proxies", "10.0.0.1").unwrap();
    for (trusts, origin) in [(true, "https://t.example"), (false, "http://inner")] {
        let server = Server::with(|settings| {
            if trusts {
                trusting(settings);
            }
        })
        .await;
        let told = [
            ("x-api-key", server.key.as_str()),
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "t.example"),
        ];
        let path = format!("/v1/apps/{}/events/requests?$top=1", server.shop.id);
        let reply = server.behind_proxy(&path, &told).await.json();
        let context = reply["@odata.context"].as_str().unwrap();
        assert!(context.starts_with(&format!("{origin}/v1/")), "{context}");

        let configuration = "/common/v2.0/.well-known/openid-configuration";
        let document = server.behind_proxy(configuration, &told).await.json();
        let tenant = server.app.issuer.tenant();
        assert_eq!(document["issuer"], format!("{origin}/{tenant}/v2.0"));
        assert_eq!(
            document["token_endpoint"],
            format!("{origin}/{tenant}/oauth2/v2.0/token")
        );
        let endpoints = server
            .behind_proxy("/metadata/endpoints", &told)
            .await
            .json();
        assert_eq!(endpoints["resourceManager"], origin);
        assert_eq!(endpoints["authentication"]["loginEndpoint"], origin);
    }
}

/// What is set precedes what a request says.
#[tokio::test]
async fn the_public_address_is_named_whatever_the_request_says() {
    let server = Server::with(|settings| {
        settings
            .set("public_url", "https://public.example")
            .unwrap();
        settings.set("http.trusted_proxies", "10.0.0.1").unwrap();
    })
    .await;
    let told = [
        ("x-api-key", server.key.as_str()),
        ("x-forwarded-host", "t.example"),
    ];
    let path = format!("/v1/apps/{}/events/requests?$top=1", server.shop.id);
    let reply = server.behind_proxy(&path, &told).await.json();
    let context = reply["@odata.context"].as_str().unwrap();
    assert!(
        context.starts_with("https://public.example/v1/"),
        "{context}"
    );
    let endpoints = server
        .behind_proxy("/metadata/endpoints", &told)
        .await
        .json();
    assert_eq!(endpoints["resourceManager"], "https://public.example");
}

/// The address of the model that a reply names is one of the server's.
#[tokio::test]
async fn the_context_of_events_answers() {
    let server = Server::start().await;
    let item = server.envelope(
        "RequestData",
        serde_json::json!({"ver": 2, "id": "r", "duration": "00:00:01", "responseCode": "200", "success": true}),
    );
    assert_eq!(server.track(item.to_string()).await.status, 200);
    let list = server.get("events/requests").await.json();
    let id = list["value"][0]["id"].as_str().unwrap();
    let single = server.get(&format!("events/requests/{id}")).await.json();
    let mut models = Vec::new();
    for reply in [&list, &single] {
        let context = reply["@odata.context"].as_str().unwrap();
        let (_, path) = context.split_once("/v1/apps/").unwrap();
        let path = path.split('#').next().unwrap();
        let (_, path) = path.split_once('/').unwrap();
        for path in [path.to_owned(), path.replace('$', "%24")] {
            let model = server.get(&path).await;
            assert_eq!(model.status, 200, "{path}");
            assert_eq!(
                model.header("content-type"),
                "application/xml;charset=utf-8"
            );
            models.push(model.bytes);
        }
    }
    assert!(models.iter().all(|model| model == &models[0]));
    assert_eq!(server.get("events/nothing/$metadata").await.status, 404);
    assert_eq!(server.get("events/$all/$metadata").await.status, 200);
}
