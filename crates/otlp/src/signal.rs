//! The three kinds of telemetry of OTLP.

/// What a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Spans, with their events: requests, dependencies, exceptions and traces.
    Traces,
    /// Log records: traces, exceptions, custom events and availability results.
    Logs,
    /// Data points: custom metrics and performance counters.
    Metrics,
}
