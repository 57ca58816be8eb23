//! `--demo`: a web shop's telemetry, a day of it at once and then live, through the same ingestion as everyone's.

mod envelope;
mod items;
mod payment;
mod shop;
mod visit;

use std::time::Duration;

use jiff::{Span, Timestamp};

use items::Items;

pub(crate) use shop::Shop;

/// How much time passes between two rounds of live telemetry.
pub(crate) const LIVE_STEP: Duration = Duration::from_secs(5);

/// How many envelopes a body holds at most.
const BODY_ITEMS: usize = 2_000;

/// The telemetry of a stretch of time.
pub(crate) struct Sent {
    /// Envelopes as NDJSON; empty if there are none.
    pub(crate) envelopes: Vec<u8>,
    /// Spans of the payment service in OTLP's JSON, if there are any.
    pub(crate) spans: Option<Vec<u8>>,
}

/// The telemetry of `from..to`, oldest first.
pub(crate) fn bodies(shop: &mut Shop, from: Timestamp, to: Timestamp) -> Bodies<'_> {
    Bodies { shop, at: from, to }
}

/// Iterates over the bodies of a stretch of time; each is made when it is asked for, so a day needs little memory.
pub(crate) struct Bodies<'a> {
    shop: &'a mut Shop,
    at: Timestamp,
    to: Timestamp,
}

impl Iterator for Bodies<'_> {
    type Item = Sent;

    fn next(&mut self) -> Option<Sent> {
        let mut items = Items::default();
        while self.at < self.to && items.envelopes.len() < BODY_ITEMS {
            self.shop.second(self.at, &mut items);
            self.at = self.at.checked_add(Span::new().seconds(1)).ok()?;
        }
        let Items { envelopes, spans } = items;
        let lines: Vec<String> = envelopes.iter().map(serde_json::Value::to_string).collect();
        (!lines.is_empty()).then(|| Sent {
            envelopes: lines.join("\n").into_bytes(),
            spans: (!spans.is_empty()).then(|| payment::request(&spans)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn hour() -> Vec<serde_json::Value> {
        let to: Timestamp = "2025-06-02T13:00:00Z".parse().expect("a time");
        let from = to
            .checked_sub(Span::new().hours(1))
            .expect("an hour earlier");
        let mut shop = Shop::new("11111111-2222-3333-4444-555555555555", 7);
        bodies(&mut shop, from, to)
            .flat_map(|body| {
                let text = String::from_utf8(body.envelopes).expect("text");
                text.lines()
                    .map(|l| serde_json::from_str(l).expect("JSON"))
                    .collect::<Vec<serde_json::Value>>()
            })
            .collect()
    }

    #[test]
    fn an_hour_has_every_telemetry_type() {
        let types: BTreeSet<String> = hour()
            .iter()
            .filter_map(|e| e["data"]["baseType"].as_str().map(str::to_owned))
            .collect();
        let expected = [
            "AvailabilityData",
            "EventData",
            "ExceptionData",
            "MessageData",
            "MetricData",
            "PageViewData",
            "PageViewPerfData",
            "RemoteDependencyData",
            "RequestData",
        ];
        assert_eq!(types, expected.map(str::to_owned).into());
    }

    #[test]
    fn an_hour_has_failures_a_slow_dependency_and_the_sample_city() {
        let items = hour();
        let data = |e: &serde_json::Value, key: &str| e["data"]["baseData"][key].clone();
        assert!(items.iter().any(|e| data(e, "success") == false));
        assert!(
            items
                .iter()
                .any(|e| data(e, "target") == "payments.example")
        );
        assert!(items.iter().any(|e| e["tags"]["ai.location.city"] == "x"));
    }

    #[test]
    fn the_same_seed_gives_the_same_telemetry() {
        assert_eq!(hour(), hour());
    }
}
