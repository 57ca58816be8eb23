//! What happens on the wire, over real sockets: slow clients, oversized heads, both versions of HTTP.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::*;
use crate::cli::listen::Encryption;
use crate::service::Service;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A server on a socket of its own; it stops when this is dropped.
pub(super) struct Wire {
    pub(super) server: Server,
    address: SocketAddr,
    _stop: watch::Sender<bool>,
}

impl Wire {
    pub(super) async fn open(change: impl FnOnce(&mut Settings)) -> Wire {
        Wire::open_with(Encryption::None, change).await
    }

    pub(super) async fn open_with(
        encryption: Encryption,
        change: impl FnOnce(&mut Settings),
    ) -> Wire {
        let server = Server::with(|settings| {
            settings.header_timeout = Duration::from_millis(300);
            settings.write_timeout = Duration::from_millis(300);
            settings.body_timeout = Duration::from_millis(300);
            change(settings);
        })
        .await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let service = Service::new(server.app.clone());
        let settings = server.app.settings.clone();
        tokio::spawn(async move {
            crate::cli::listen::run(listener, encryption, service, stopped, &settings).await;
        });
        Wire {
            server,
            address,
            _stop: stop,
        }
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Everything that comes back for these bytes until the server ends the connection.
    pub(super) async fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The server may end the connection before it has read everything.
        let _ = stream.write_all(bytes).await;
        String::from_utf8_lossy(&rest(&mut stream).await).into_owned()
    }

    /// The head of a query as a POST.
    pub(super) fn head(&self, length: usize) -> String {
        format!(
            "POST /v1/apps/{}/query HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\ncontent-length: {length}\r\n\r\n",
            self.server.shop.id, self.server.key
        )
    }

    pub(super) async fn lives(&self) -> bool {
        let reply = self.say(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        reply.await.starts_with("HTTP/1.1 200")
    }
}

/// What comes until the end of the connection, which must come.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    let read = stream.read_to_end(&mut all);
    let _ = tokio::time::timeout(Duration::from_secs(20), read)
        .await
        .expect("the server ends the connection");
    all
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let wire = Wire::open(|_| {}).await;
    for begun in [
        "",
        "PRI * HTTP/2",
        "GET /health HTTP/1.1\r\nhost: x\r\nx-slow: ",
    ] {
        let begin = Instant::now();
        wire.say(begun.as_bytes()).await;
        assert!(begin.elapsed() < Duration::from_secs(10), "{begun}");
    }
    assert!(wire.lives().await);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408() {
    let wire = Wire::open(|_| {}).await;
    let mut stream = wire.connect().await;
    let head = wire.head(1000);
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(b"{").await.unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!(&reply, b"HTTP/1.1 408");
    assert!(wire.lives().await);
}

/// A length that is too small leaves the rest for the next request, which it is not; one that is too large is waited for.
#[tokio::test]
async fn a_body_that_is_not_as_long_as_it_says_is_refused() {
    let wire = Wire::open(|_| {}).await;
    let body = json!({"query": "print 1"}).to_string();
    let short = wire.head(body.len() - 4) + &body;
    let reply = wire.say(short.as_bytes()).await;
    let statuses: Vec<&str> = reply
        .match_indices("HTTP/1.1 ")
        .filter_map(|(at, _)| reply.get(at + 9..at + 12))
        .collect();
    assert_eq!(statuses, ["400", "400"], "{reply}");
    let long = wire.head(body.len() + 4) + &body;
    assert!(wire.say(long.as_bytes()).await.starts_with("HTTP/1.1 408"));
    // The client says that there is no more.
    let mut stream = wire.connect().await;
    stream.write_all(long.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let reply = String::from_utf8_lossy(&rest(&mut stream).await).into_owned();
    assert!(
        reply.is_empty() || reply.starts_with("HTTP/1.1 400"),
        "{reply}"
    );
    assert!(wire.lives().await);
}

/// Who asks for much and does not read it gives the place back that the query had.
#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let wire = Wire::open(|settings| {
        settings.query_concurrency = 1;
        settings.query_max_rows = u64::MAX;
        settings.query_max_bytes = u64::MAX;
        settings.cache_max_reply_bytes = 1000;
    })
    .await;
    let body = json!({"query": "range x from 1 to 100000000000 step 1"}).to_string();
    let mut stream = wire.connect().await;
    let request = wire.head(body.len()) + &body;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).await.unwrap();
    assert_eq!(&reply, b"HTTP/1.1 200");
    let next = tokio::time::timeout(Duration::from_secs(20), wire.server.query("print 1"));
    assert_eq!(next.await.expect("the place is free").status, 200);
    drop(stream);
}

/// A client that goes away in the middle of a slow query ends it.
#[tokio::test]
async fn a_closed_connection_cancels_its_query() {
    let wire = Wire::open(|settings| settings.query_concurrency = 1).await;
    let endless = "range x from 1 to 100000000000 step 1 | summarize sum(x)";
    let body = json!({ "query": endless }).to_string();
    let mut stream = wire.connect().await;
    let request = wire.head(body.len()) + &body;
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let waits = tokio::time::timeout(Duration::from_millis(300), wire.server.query("print 1"));
    assert!(waits.await.is_err(), "the query holds the only place");
    drop(stream);
    let next = tokio::time::timeout(Duration::from_secs(20), wire.server.query("print 1"));
    assert_eq!(next.await.expect("the place is free").status, 200);
}

#[tokio::test]
async fn what_is_too_long_or_ambiguous_is_refused() {
    let wire = Wire::open(|_| {}).await;
    let long = "x".repeat(1 << 20);
    let check = async |request: String, statuses: &[&str]| {
        let reply = wire.say(request.as_bytes()).await;
        let status = reply.get(9..12).unwrap_or("closed");
        let shown: String = request.chars().take(80).collect();
        assert!(statuses.contains(&status), "{shown}: {status}");
    };
    check(
        format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n"),
        &["414", "431"],
    )
    .await;
    let path = "y".repeat(66_000);
    check(
        format!("GET /{path} HTTP/1.1\r\nhost: x\r\n\r\n"),
        &["414", "431"],
    )
    .await;
    check(
        format!("GET / HTTP/1.1\r\nhost: x\r\nx-long: {long}\r\n\r\n"),
        &["431"],
    )
    .await;
    // Two framings of one body.
    let both = "POST /v2/track HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n";
    let reply = wire.say(both.as_bytes()).await;
    assert!(
        !reply.contains("/smuggled") && reply.matches("HTTP/1.1").count() <= 1,
        "{reply}"
    );
    check(
        "POST /v2/track HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n{}{}"
            .to_owned(),
        &["400"],
    )
    .await;
    check(
        "GET / HTTP/1.1\r\nhost: x\r\nx-api-key: a\0b\r\n\r\n".to_owned(),
        &["400"],
    )
    .await;
    check("NONSENSE\r\n\r\n".to_owned(), &["400"]).await;
    assert!(wire.lives().await);
}

#[tokio::test]
async fn a_connection_takes_several_requests() {
    let wire = Wire::open(|_| {}).await;
    let mut stream = wire.connect().await;
    for _ in 0..3 {
        stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"{\"status\":\"ok\"}") {
            reply.push(stream.read_u8().await.unwrap());
        }
    }
}

/// A frame of HTTP/2 (RFC 9113 §4.1).
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(super) const HEADERS: u8 = 1;
const RESET: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
/// `GET http://x/health`: indexed fields, then the path and the authority as literals (RFC 7541).
const GET_HEALTH: &[u8] = b"\x82\x86\x04\x07/health\x41\x01x";

/// The frames that come until the end of the connection or the first of the kind `last`.
pub(super) async fn frames(stream: &mut TcpStream, last: u8) -> Vec<(u8, Vec<u8>)> {
    let mut found = Vec::new();
    loop {
        let mut head = [0; 9];
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut head));
        if read.await.expect("frames come").is_err() {
            return found;
        }
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        if stream.read_exact(&mut payload).await.is_err() {
            return found;
        }
        found.push((head[3], payload));
        if head[3] == last {
            return found;
        }
    }
}

#[tokio::test]
async fn http_2_is_spoken_without_asking_first() {
    let wire = Wire::open(|_| {}).await;
    let mut stream = wire.connect().await;
    let request = [
        PREFACE,
        &frame(SETTINGS, 0, 0, &[]),
        &frame(HEADERS, 5, 1, GET_HEALTH),
    ]
    .concat();
    stream.write_all(&request).await.unwrap();
    let found = frames(&mut stream, HEADERS).await;
    // 0x88 is `:status 200` in the static table.
    let reply = found.last().unwrap();
    assert_eq!((reply.0, reply.1[0]), (HEADERS, 0x88), "{found:?}");
}

/// Streams that are opened and reset at once (CVE-2023-44487): the connection ends, the others do not notice.
#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let wire = Wire::open(|_| {}).await;
    let mut stream = wire.connect().await;
    let mut bytes = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    for number in 0..10_000_u32 {
        bytes.extend(frame(HEADERS, 5, 2 * number + 1, GET_HEALTH));
        bytes.extend(frame(RESET, 0, 2 * number + 1, &[0, 0, 0, 8]));
    }
    let _ = stream.write_all(&bytes).await;
    let found = frames(&mut stream, GO_AWAY).await;
    let ended = found.last().is_none_or(|(kind, _)| *kind == GO_AWAY);
    assert!(ended, "{:?}", found.last());
    assert!(wire.lives().await);
}

/// Headers without end (CVE-2024-27316).
#[tokio::test]
async fn endless_continuations_end_the_connection() {
    let wire = Wire::open(|_| {}).await;
    let mut stream = wire.connect().await;
    let mut bytes = [
        PREFACE,
        &frame(SETTINGS, 0, 0, &[]),
        &frame(HEADERS, 1, 1, GET_HEALTH),
    ]
    .concat();
    let field = [b"\x00\x01a\x7f\x81\x7f".as_slice(), &[b'v'; 256]].concat();
    for _ in 0..20_000 {
        bytes.extend(frame(CONTINUATION, 0, 1, &field));
    }
    let _ = stream.write_all(&bytes).await;
    let found = frames(&mut stream, GO_AWAY).await;
    assert!(found.iter().all(|(kind, _)| *kind != HEADERS), "{found:?}");
    assert!(wire.lives().await);
}

/// Connections that are only held do not keep the others out, whatever they have said so far.
#[tokio::test]
async fn idle_connections_delay_no_request() {
    let wire = Wire::open(|settings| {
        settings.max_connections = 20;
        settings.header_timeout = Duration::from_secs(600);
    })
    .await;
    let used = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n".as_slice();
    let half = b"GET /health HTTP/1.1\r\nhost: x\r\nx-slow: ".as_slice();
    let second = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    let mut idle = Vec::new();
    for said in [b"".as_slice(), used, half, &second] {
        for _ in 0..100 {
            let mut stream = wire.connect().await;
            stream.write_all(said).await.unwrap();
            idle.push(stream);
        }
        let lives = tokio::time::timeout(Duration::from_secs(60), wire.lives());
        assert!(lives.await.expect("somebody made room"));
    }
}

/// Whoever is being answered is not idle, however many others come.
#[tokio::test]
async fn a_reply_on_its_way_keeps_its_connection() {
    let wire = Wire::open(|settings| {
        settings.max_connections = 4;
        settings.write_timeout = Duration::from_secs(600);
        settings.cache_max_reply_bytes = 1000;
    })
    .await;
    let body = json!({"query": "range x from 1 to 400000 step 1"}).to_string();
    let mut stream = wire.connect().await;
    let request = wire.head(body.len()) + &body;
    let request = request.replacen("host: x", "host: x\r\nconnection: close", 1);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    stream.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let mut idle = Vec::new();
    for _ in 0..50 {
        idle.push(wire.connect().await);
    }
    assert!(wire.lives().await);
    let all = String::from_utf8(rest(&mut stream).await).unwrap();
    assert!(all.contains("[400000]"), "{}", all.len());
}
