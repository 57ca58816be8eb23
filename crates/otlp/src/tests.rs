//! Payloads of the official types against what is read of them, and mutated ones.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

use super::fuzzing::mapped;
use super::*;

const TRACES: &str = include_str!("../../../fuzz/seeds/otlp/traces.json");
const LOGS: &str = include_str!("../../../fuzz/seeds/otlp/logs.json");
const METRICS: &str = include_str!("../../../fuzz/seeds/otlp/metrics.json");

const SIGNALS: [(Signal, &str); 3] = [
    (Signal::Traces, TRACES),
    (Signal::Logs, LOGS),
    (Signal::Metrics, METRICS),
];

fn transcoded(signal: Signal, json: &str) -> Vec<u8> {
    decode(signal, Encoding::Json, json.as_bytes())
        .unwrap()
        .into_owned()
}

#[test]
fn json_is_what_the_official_types_read() {
    let traces = ExportTraceServiceRequest::decode(transcoded(Signal::Traces, TRACES).as_slice());
    let span = traces.unwrap().resource_spans[0].scope_spans[0].spans[0].clone();
    assert_eq!(span.trace_id, (1..=16).collect::<Vec<u8>>());
    assert_eq!(
        (
            span.kind,
            span.start_time_unix_nano,
            span.end_time_unix_nano
        ),
        (2, 1000, 2000)
    );
    assert_eq!(span.status.unwrap().code, 2);
    assert_eq!(
        (span.attributes.len(), span.events.len(), span.links.len()),
        (7, 1, 1)
    );
    let shown = format!("{:?}", span.attributes);
    for text in [
        "IntValue(-7)",
        "DoubleValue(NaN)",
        "BytesValue([1, 2])",
        "DoubleValue(1.5)",
    ] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    let logs = ExportLogsServiceRequest::decode(transcoded(Signal::Logs, LOGS).as_slice());
    let record = logs.unwrap().resource_logs[0].scope_logs[0].log_records[0].clone();
    assert_eq!(
        (record.severity_number, record.event_name.as_str()),
        (13, "e")
    );
    let metrics =
        ExportMetricsServiceRequest::decode(transcoded(Signal::Metrics, METRICS).as_slice());
    let metrics = metrics.unwrap().resource_metrics[0].scope_metrics[0]
        .metrics
        .clone();
    let shown = format!("{metrics:?}");
    assert_eq!(metrics.len(), 5);
    for text in [
        "AsInt(-5)",
        "AsDouble(2.0)",
        "min: Some(1.0)",
        "sum: Some(4.5)",
        "value: 3.0",
    ] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
}

#[test]
fn every_item_becomes_its_rows() {
    let found = SIGNALS.map(|(signal, json)| mapped(signal, &transcoded(signal, json)));
    // The span has an event; the gauge has no recorded value.
    assert_eq!(found, [Ok((1, 2, 0)), Ok((1, 1, 0)), Ok((5, 4, 0))]);
}

#[test]
fn mutated_payloads_are_mapped_or_refused() {
    // A generator of numbers that needs no crate (Numerical Recipes).
    let mut state = 7_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let (mut good, mut bad) = (0, 0);
    for round in 0..30_000 {
        let (signal, json) = SIGNALS[round % 3];
        let mut payload = transcoded(signal, json);
        for _ in 0..=random(3) {
            let at = random(payload.len());
            match random(4) {
                0 => payload[at] ^= 1 << random(8),
                1 => payload[at] = [0, 0x7f, 0x80, 0xff][random(4)],
                2 => payload.truncate(at.max(1)),
                _ => {
                    let end = (at + random(20)).min(payload.len());
                    let part = payload[at..end].to_vec();
                    payload.splice(at..at, part);
                }
            }
        }
        match mapped(signal, &payload) {
            Ok((items, rows, rejected)) => {
                assert!(rejected <= items && rows <= 2 * items + payload.len());
                good += 1;
            }
            Err(_) => bad += 1,
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} {bad}");
}

#[test]
fn mutated_json_is_read_or_refused() {
    let mut state = 11_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    const WORDS: [&[u8]; 8] = [b"\"", b"{", b"]", b"null", b"1e999", b"-1", b"\xff", b","];
    for round in 0..6_000 {
        let (signal, json) = SIGNALS[round % 3];
        let mut text = json.as_bytes().to_vec();
        let at = random(text.len());
        text.splice(at..at, WORDS[random(WORDS.len())].iter().copied());
        if let Ok(payload) = decode(signal, Encoding::Json, &text) {
            let _ = mapped(signal, &payload);
        }
    }
}
