//! The shop: who visits when, what its machines measure, and the tests that watch it from outside.

use jiff::Timestamp;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::envelope::{Context, duration, envelope, random_hex};
use super::items::Items;
use super::visit::Visit;

/// Seconds between two measurements of the machines.
const MEASURE_SECONDS: i64 = 60;
/// Seconds between two availability tests.
const AVAILABILITY_SECONDS: i64 = 300;
/// Seconds between two visits of the probe from the city `x`, which samples of data-plane SDKs ask for.
const PROBE_SECONDS: i64 = 600;

const INSTANCES: [(&str, &str); 4] = [
    ("storefront", "storefront-0"),
    ("storefront", "storefront-1"),
    ("orders", "orders-0"),
    ("stock", "stock-0"),
];

/// A simulated web shop. The same seed gives the same telemetry.
pub(crate) struct Shop {
    key: String,
    random: SmallRng,
}

impl Shop {
    /// A shop that sends with this instrumentation key.
    pub(crate) fn new(key: &str, seed: u64) -> Shop {
        Shop {
            key: key.to_owned(),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// Appends the telemetry of the second that begins at `at`.
    pub(super) fn second(&mut self, at: Timestamp, items: &mut Items) {
        let second = at.as_second();
        if self.random.random_bool(visits_per_second(second)) {
            Visit::new(&self.key, at, &mut self.random).record(items);
        }
        if second % MEASURE_SECONDS == 0 {
            self.measure(at, items);
        }
        if second % AVAILABILITY_SECONDS == 0 {
            self.availability(at, items);
        }
        if second % PROBE_SECONDS == 0 {
            self.probe(at, items);
        }
    }

    fn measure(&mut self, at: Timestamp, items: &mut Items) {
        for (role, instance) in INSTANCES {
            let context = Context {
                role: role.to_owned(),
                instance: instance.to_owned(),
                ..Context::default()
            };
            let load = daylight(at.as_second());
            let counters = [
                (r"\Processor(_Total)\% Processor Time", 15.0 + 50.0 * load),
                (
                    r"\Process(??APP_WIN32_PROC??)\% Processor Time",
                    8.0 + 30.0 * load,
                ),
                (
                    r"\Process(??APP_WIN32_PROC??)\% Processor Time Normalized",
                    2.0 + 7.5 * load,
                ),
                (
                    r"\Process(??APP_WIN32_PROC??)\Private Bytes",
                    2.1e8 + 4e7 * load,
                ),
                (
                    r"\Process(??APP_WIN32_PROC??)\IO Data Bytes/sec",
                    4e4 + 2e5 * load,
                ),
                (r"\Memory\Available Bytes", 3.1e9 - 6e8 * load),
                (
                    r"\ASP.NET Applications(??APP_W3SVC_PROC??)\Requests/Sec",
                    0.2 + load,
                ),
                (
                    r"\ASP.NET Applications(??APP_W3SVC_PROC??)\Request Execution Time",
                    40.0 + 60.0 * load,
                ),
                (
                    r"\ASP.NET Applications(??APP_W3SVC_PROC??)\Requests In Application Queue",
                    (4.0 * load).floor(),
                ),
                (
                    r"\.NET CLR Exceptions(??APP_CLR_PROC??)\# of Exceps Thrown / sec",
                    0.05 * load,
                ),
            ];
            for (name, value) in counters {
                let value = value * self.random.random_range(0.9..1.1);
                items.push(self.metric(at, &context, name, value, 1, json!({})));
            }
            let waiting = self.random.random_range(0.0..20.0) * load;
            items.push(self.metric(
                at,
                &context,
                "OrdersWaiting",
                waiting.round(),
                1,
                json!({ "queue": "orders" }),
            ));
        }
    }

    fn metric(
        &self,
        at: Timestamp,
        context: &Context,
        name: &str,
        value: f64,
        count: u32,
        properties: Value,
    ) -> Value {
        let point = json!({
            "name": name, "kind": 1, "value": value, "count": count,
            "min": value / f64::from(count), "max": value / f64::from(count), "stdDev": 0.0,
        });
        let data = json!({ "ver": 2, "metrics": [point], "properties": properties });
        envelope(&self.key, at, context, "", "MetricData", data)
    }

    fn availability(&mut self, at: Timestamp, items: &mut Items) {
        for location in ["West Europe", "East US", "Southeast Asia"] {
            let passed = !self.random.random_bool(0.02);
            let took = self.random.random_range(90.0..420.0);
            let context = Context {
                operation_id: self.id(32),
                ..Context::default()
            };
            let data = json!({
                "ver": 2, "id": self.id(16), "name": "Front page answers", "duration": duration(took),
                "success": passed, "runLocation": location, "message": if passed { "Passed" } else { "HTTP 503" },
            });
            items.push(envelope(
                &self.key,
                at,
                &context,
                "",
                "AvailabilityData",
                data,
            ));
        }
    }

    /// A smoke test from a city called `x` whose operation's name holds the word `a`: one item of every type.
    fn probe(&mut self, at: Timestamp, items: &mut Items) {
        let operation_id = self.id(32);
        let person = [
            ("ai.location.city", "x"),
            ("ai.user.id", "probe"),
            ("ai.session.id", "probe"),
        ];
        let context = Context {
            operation_id,
            operation_name: "Probe a page".to_owned(),
            role: "storefront".to_owned(),
            instance: "storefront-0".to_owned(),
            person: person.map(|(tag, text)| (tag, text.to_owned())).to_vec(),
        };
        let request = self.id(16);
        let exception = json!({ "id": 1, "typeName": "ProbeException", "message": "a deliberate one", "hasFullStack": false });
        let typed = [
            (
                "RequestData",
                json!({ "ver": 2, "id": request, "name": "Probe a page", "duration": duration(12.5),
                "success": true, "responseCode": "200", "url": "https://shop.example/probe" }),
            ),
            (
                "RemoteDependencyData",
                json!({ "ver": 2, "id": self.id(16), "name": "probe", "type": "HTTP",
                "target": "stock.example", "duration": duration(4.0), "success": true, "resultCode": "200" }),
            ),
            (
                "MessageData",
                json!({ "ver": 2, "message": "Probe took a look", "severityLevel": 1 }),
            ),
            (
                "EventData",
                json!({ "ver": 2, "name": "Probed", "measurements": { "pages": 1 } }),
            ),
            (
                "ExceptionData",
                json!({ "ver": 2, "severityLevel": 2, "exceptions": [exception] }),
            ),
            (
                "PageViewData",
                json!({ "ver": 2, "name": "Probe", "url": "https://shop.example/probe",
                "duration": duration(80.0) }),
            ),
            (
                "PageViewPerfData",
                json!({ "ver": 2, "name": "Probe", "url": "https://shop.example/probe",
                "perfTotal": duration(80.0), "networkConnect": duration(5.0), "sentRequest": duration(10.0),
                "receivedResponse": duration(25.0), "domProcessing": duration(40.0) }),
            ),
            (
                "AvailabilityData",
                json!({ "ver": 2, "id": self.id(16), "name": "Probe", "duration": duration(80.0),
                "success": true, "runLocation": "x", "message": "Passed" }),
            ),
        ];
        for (base_type, data) in typed {
            items.push(envelope(&self.key, at, &context, &request, base_type, data));
        }
        items.push(self.metric(at, &context, "ProbeTime", 80.0, 2, json!({})));
        items.push(self.metric(
            at,
            &context,
            r"\Processor(_Total)\% Processor Time",
            20.0,
            1,
            json!({}),
        ));
    }

    fn id(&mut self, digits: usize) -> String {
        random_hex(&mut self.random, digits)
    }
}

/// From 0 at night to 1 at noon, UTC.
fn daylight(second: i64) -> f64 {
    let hour = (second.rem_euclid(86_400)) as f64 / 3_600.0;
    (0.5 - 0.5 * (hour / 24.0 * std::f64::consts::TAU).cos()).clamp(0.0, 1.0)
}

/// The chance that somebody visits within a second.
fn visits_per_second(second: i64) -> f64 {
    0.03 + 0.12 * daylight(second)
}
