//! Durable telemetry: append, scan, expire
