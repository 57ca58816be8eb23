//! The payment service, which sends spans of OpenTelemetry: one operation has rows of both protocols.

use jiff::{SignedDuration, Timestamp};
use rand::rngs::SmallRng;
use serde_json::{Value, json};

use super::envelope::random_hex;
use super::items::Items;

/// A call of the payment service.
pub(super) struct Payment<'a> {
    /// The trace that the shop's SDK began.
    pub(super) operation_id: &'a str,
    /// The shop's dependency that is this call.
    pub(super) parent: &'a str,
    pub(super) at: Timestamp,
    /// Milliseconds that the shop waited.
    pub(super) took: f64,
    pub(super) failed: bool,
}

impl Payment<'_> {
    /// Appends the service's span, and that of its call of the bank. A failed payment has an exception.
    pub(super) fn record(&self, random: &mut SmallRng, items: &mut Items) {
        let (own, bank) = (random_hex(random, 16), random_hex(random, 16));
        let code = if self.failed { 503 } else { 200 };
        let attributes = [
            text("http.request.method", "POST"),
            text("http.route", "/charge"),
            text("url.scheme", "https"),
            text("url.path", "/charge"),
            text("server.address", "payments.example"),
            json!({"key": "http.response.status_code", "value": {"intValue": code.to_string()}}),
            text("tenant", "shop"),
        ];
        let events = if self.failed {
            vec![json!({
                "timeUnixNano": self.moment(0.9), "name": "exception",
                "attributes": [text("exception.type", "bank.Timeout"), text("exception.message", "The bank did not answer")],
            })]
        } else {
            Vec::new()
        };
        let status = json!({"code": if self.failed { 2 } else { 0 }});
        items.spans.push(json!({
            "traceId": self.operation_id, "spanId": own, "parentSpanId": self.parent, "name": "POST /charge", "kind": 2,
            "startTimeUnixNano": self.moment(0.02), "endTimeUnixNano": self.moment(0.98),
            "attributes": attributes, "events": events, "status": status,
        }));
        let attributes = [
            text("rpc.system", "grpc"),
            text("server.address", "bank.example"),
            json!({"key": "rpc.grpc.status_code", "value": {"intValue": if self.failed { "4" } else { "0" }}}),
        ];
        items.spans.push(json!({
            "traceId": self.operation_id, "spanId": bank, "parentSpanId": own, "name": "bank.Cards/Charge", "kind": 3,
            "startTimeUnixNano": self.moment(0.1), "endTimeUnixNano": self.moment(0.9),
            "attributes": attributes, "status": status,
        }));
    }

    /// A moment of the call, in nanoseconds since 1970.
    fn moment(&self, share: f64) -> String {
        let after = SignedDuration::from_micros((self.took * share * 1000.0) as i64);
        let at = self.at.checked_add(after).unwrap_or(self.at);
        at.as_nanosecond().to_string()
    }
}

/// A request of these spans, in OTLP's JSON.
pub(super) fn request(spans: &[Value]) -> Vec<u8> {
    let attributes = [
        text("service.name", "payments"),
        text("service.instance.id", "payments-0"),
        text("service.version", "1.4.2"),
        text("telemetry.sdk.language", "python"),
        text("telemetry.sdk.version", "1.45.1"),
    ];
    let scope_spans = json!([{"scope": {"name": "payments"}, "spans": spans}]);
    let resource = json!({"resource": {"attributes": attributes}, "scopeSpans": scope_spans});
    json!({"resourceSpans": [resource]})
        .to_string()
        .into_bytes()
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}
