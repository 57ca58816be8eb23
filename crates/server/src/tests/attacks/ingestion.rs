//! Hostile telemetry (rows 39 to 42).

use std::io::Write;

use super::*;
use serde_json::json;

/// So many zeros, packed.
fn bomb(encoding: &str, size: usize) -> Vec<u8> {
    let zeros = vec![b' '; size];
    let best = flate2::Compression::best();
    match encoding {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), best);
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), best);
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
            encoder.write_all(&zeros).unwrap();
            encoder.into_inner()
        }
        _ => zstd::encode_all(zeros.as_slice(), 3).unwrap(),
    }
}

#[tokio::test]
async fn row_39_a_bomb_is_413_in_every_codec_on_every_path() {
    let server = Server::with(|settings| {
        settings.ingest_max_decompressed_bytes = 1 << 20;
        settings.query_max_body_bytes = 1 << 20;
    })
    .await;
    let app = server.shop.id;
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let packed = bomb(encoding, 8 << 20);
        assert!(packed.len() < 100_000, "{encoding}: {}", packed.len());
        for path in [
            "/v2/track".to_owned(),
            "/v2.1/track".to_owned(),
            format!("/v1/apps/{app}/query"),
            format!("/v1/apps/{app}/metrics"),
            format!("/v1/apps/{app}/metadata"),
            format!("/v1/workspaces/{app}/query"),
        ] {
            let mut headers = vec![("content-encoding", encoding)];
            if path.starts_with("/v1") {
                headers.push(("x-api-key", server.key.as_str()));
            }
            let reply = server
                .ask(Method::POST, &path, &headers, packed.clone())
                .await;
            assert_eq!(reply.status, 413, "{encoding} {path}");
        }
    }
}

#[tokio::test]
async fn row_40_each_hostile_item_is_refused_alone_with_its_place() {
    let server = Server::start().await;
    let good = server
        .envelope("EventData", json!({"name": "good"}))
        .to_string();
    // An item whose property has this value, as JSON text.
    let with = |value: &str| {
        let item = server.envelope("EventData", json!({"name": "bad", "properties": {"p": 0}}));
        item.to_string()
            .replace("\"p\":0", &format!("\"p\":{value}"))
            .into_bytes()
    };
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let keys: Vec<String> = (0..1_000_000).map(|key| format!("\"k{key}\":1")).collect();
    let twice = good.replacen('{', "{\"time\":\"2026-01-01T00:00:00Z\",", 1);
    let not_utf8 = [&b"\"\xc3\x28\""[..]].concat();
    let mut broken_text = with("0");
    let at = broken_text
        .windows(5)
        .position(|part| part == b"\"p\":0")
        .unwrap();
    broken_text.splice(at + 4..at + 5, not_utf8);
    let hostile: Vec<(&str, Vec<u8>)> = vec![
        ("100,000 arrays in each other", with(&deep)),
        ("a million keys", with(&format!("{{{}}}", keys.join(",")))),
        ("a field twice", twice.into_bytes()),
        ("half a surrogate pair", with(r#""\ud800""#)),
        ("halves in the wrong order", with(r#""\udc00\ud800""#)),
        ("NaN", with("NaN")),
        ("Infinity", with("-Infinity")),
        ("a number that is no double", with("1e400")),
        ("a leading zero", with("01")),
        ("bytes that are no text", broken_text),
        ("a control character", with("\"a\u{1}b\"")),
        ("no object", b"\"text\"".to_vec()),
        (
            "another mark of byte order",
            "\u{feff}x".as_bytes().to_vec(),
        ),
        ("a comma too many", with("1,")),
        ("no value", with("")),
    ];
    // A mark of byte order, then an array and lines, with the good in between.
    let mut body = "\u{feff}[".as_bytes().to_vec();
    let mut places = Vec::new();
    for (index, (_, item)) in hostile.iter().enumerate() {
        body.extend(good.as_bytes());
        body.extend(if index % 2 == 0 { "\n" } else { "," }.as_bytes());
        places.push(2 * index + 1);
        body.extend(item);
        body.extend(b"\n");
    }
    body.extend(good.as_bytes());
    body.extend(b"]\n{\"time\":");
    places.push(2 * hostile.len() + 1);
    let reply = server.track(body).await;
    let verdict = reply.json();
    let refused: Vec<usize> = verdict["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| usize::try_from(error["index"].as_u64().unwrap()).unwrap())
        .collect();
    for (place, (what, _)) in places.iter().zip(&hostile) {
        assert!(refused.contains(place), "{what}: {verdict}");
    }
    assert_eq!((reply.status.as_u16(), refused), (206, places));
    for error in verdict["errors"].as_array().unwrap() {
        assert_eq!(error["statusCode"], 400, "{error}");
    }
    let found = server
        .query("customEvents | summarize count() by name")
        .await;
    assert_eq!(
        found.json()["tables"][0]["rows"],
        json!([["good", hostile.len() + 1]])
    );
}

#[tokio::test]
async fn row_41_malformed_otlp_is_refused() {
    let server = Server::start().await;
    let key = server.shop.instrumentation_key.to_string();
    for path in ["/v1/traces", "/v1/logs", "/v1/metrics"] {
        let headers = [
            ("content-type", "application/x-protobuf"),
            ("x-instrumentation-key", &key),
        ];
        // A length of 2³¹ in the first field.
        let bytes = b"\x0a\x80\x80\x80\x80\x08".to_vec();
        let reply = server.ask(Method::POST, path, &headers, bytes).await;
        assert_eq!(reply.status, 400, "{path}");
    }
    let bytes = b"\x0a\x80\x80\x80\x80\x08".to_vec();
    assert_eq!(server.track(bytes).await.status, 400);
}

/// What a figure is at the moment.
async fn figure(server: &Server, name: &str) -> u64 {
    let reply = server
        .ask(Method::GET, "/metrics", &[], Body::empty())
        .await;
    let text = String::from_utf8(reply.bytes).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |value| value.trim().parse().unwrap())
}

#[tokio::test]
async fn row_42_an_item_has_so_many_properties_and_the_rest_is_counted() {
    let server = Server::start().await;
    let many = |count: usize| -> serde_json::Map<String, Value> {
        (0..count)
            .map(|key| (format!("k{key}"), json!(1)))
            .collect()
    };
    const FIGURE: &str = "hindsight_ingest_pairs_dropped_total ";
    let before = figure(&server, FIGURE).await;
    let data = json!({"name": "x", "properties": many(1_500), "measurements": many(1_030)});
    let item = server.envelope("EventData", data);
    assert_eq!(server.track(item.to_string()).await.status, 200);
    let kept = server
        .query("customEvents | project array_length(bag_keys(customDimensions)), array_length(bag_keys(customMeasurements))")
        .await;
    assert_eq!(kept.json()["tables"][0]["rows"], json!([[1024, 1024]]));
    // Other tests of this process may count too.
    assert!(figure(&server, FIGURE).await >= before + 476 + 6);
}
