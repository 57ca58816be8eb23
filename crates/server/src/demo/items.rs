//! What the shop sends: envelopes of the Application Insights SDKs, and spans of OpenTelemetry.

use serde_json::Value;

/// The telemetry of a stretch of time.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Envelopes.
    pub(super) envelopes: Vec<Value>,
    /// Spans of the payment service.
    pub(super) spans: Vec<Value>,
}

impl Items {
    /// Adds an envelope.
    pub(super) fn push(&mut self, envelope: Value) {
        self.envelopes.push(envelope);
    }
}
