//! One person's visit: a page, the requests behind it, what those call, and what goes wrong.

use jiff::{Span, Timestamp};
use rand::Rng;
use rand::rngs::SmallRng;
use serde_json::{Value, json};

use super::envelope::{Context, duration, envelope, random_hex};
use super::items::Items;
use super::payment::Payment;

const PLACES: [(&str, &str, &str); 6] = [
    ("Germany", "Bavaria", "Munich"),
    ("United States", "Washington", "Redmond"),
    ("India", "Karnataka", "Bengaluru"),
    ("Brazil", "São Paulo", "São Paulo"),
    ("Japan", "Tokyo", "Tokyo"),
    ("France", "Île-de-France", "Paris"),
];
const BROWSERS: [&str; 4] = ["Chrome 126.0", "Firefox 127.0", "Safari 17.5", "Edge 126.0"];
const SYSTEMS: [&str; 4] = ["Windows 11", "Mac OS X 14", "Android 14", "iOS 17"];
const PAGES: [(&str, &str, &str); 5] = [
    ("Home", "GET Home/Index", "/"),
    ("Catalogue", "GET Products/List", "/products"),
    ("Product", "GET Products/Get", "/products/17"),
    ("Cart", "POST Carts/Add", "/cart"),
    ("Checkout", "POST Orders/Create", "/checkout"),
];

/// A visit in the making.
pub(super) struct Visit<'a> {
    key: &'a str,
    at: Timestamp,
    random: &'a mut SmallRng,
    person: Vec<(&'static str, String)>,
    plan: &'static str,
}

/// The choice that a number stands for.
#[expect(clippy::indexing_slicing, reason = "the remainder is below the length")]
fn any_of<T: Copy, const N: usize>(choices: &[T; N], number: usize) -> T {
    choices[number % N]
}

impl<'a> Visit<'a> {
    /// Somebody comes.
    pub(super) fn new(key: &'a str, at: Timestamp, random: &'a mut SmallRng) -> Visit<'a> {
        let user = random.random_range(0..900_u32);
        let (country, state, city) = any_of(&PLACES, user as usize);
        let person = vec![
            ("ai.user.id", format!("u{user:03}")),
            (
                "ai.user.authUserId",
                if user % 3 == 0 {
                    format!("customer{user}")
                } else {
                    String::new()
                },
            ),
            (
                "ai.session.id",
                format!("s{user:03}-{}", at.as_second() / 1_800),
            ),
            ("ai.location.country", country.to_owned()),
            ("ai.location.province", state.to_owned()),
            ("ai.location.city", city.to_owned()),
            ("ai.location.ip", format!("203.0.113.{}", user % 250)),
        ];
        Visit {
            key,
            at,
            random,
            person,
            plan: any_of(&["free", "pro", "enterprise"], user as usize),
        }
    }

    /// Appends everything that the visit leaves behind.
    pub(super) fn record(mut self, items: &mut Items) {
        let page = any_of(&PAGES, self.random.random_range(0..PAGES.len()));
        let operation_id = random_hex(self.random, 32);
        let failed = self.random.random_bool(0.04);
        let took = self.request(page, &operation_id, failed, items);
        self.page(page, &operation_id, took, failed, items);
        if page.0 == "Checkout" && !failed {
            self.checkout(&operation_id, items);
        }
    }

    fn context(
        &self,
        operation_id: &str,
        operation_name: &str,
        role: &str,
        client: &str,
    ) -> Context {
        let mut person = self.person.clone();
        person.push(("ai.device.type", client.to_owned()));
        let pick = self.person.first().map_or(0, |(_, user)| {
            user.len() + user.bytes().map(usize::from).sum::<usize>()
        });
        person.push(("ai.device.browser", any_of(&BROWSERS, pick).to_owned()));
        if client == "Browser" {
            person.push(("ai.device.osVersion", any_of(&SYSTEMS, pick).to_owned()));
        }
        Context {
            operation_id: operation_id.to_owned(),
            operation_name: operation_name.to_owned(),
            role: role.to_owned(),
            instance: format!("{role}-0"),
            person,
        }
    }

    fn properties(&self) -> Value {
        json!({ "plan": self.plan, "region": "westeurope", "deployment.id": "d-417", "tenant": format!("tenant-{:02}", self.person.len() * 7 % 40) })
    }

    /// The server's request with its dependencies and traces; answers how long it took, in milliseconds.
    fn request(
        &mut self,
        page: (&str, &str, &str),
        operation_id: &str,
        failed: bool,
        items: &mut Items,
    ) -> f64 {
        let (_, name, path) = page;
        let id = random_hex(self.random, 16);
        let role = if name.contains("Orders") {
            "orders"
        } else {
            "storefront"
        };
        let context = self.context(operation_id, name, role, "PC");
        let mut took = self.random.random_range(5.0..60.0);
        took += self.dependency(
            &context,
            &id,
            ("SQL", "sql.shop.example | shop", "SELECT products"),
            3.0,
            false,
            items,
        );
        if role == "orders" {
            // The slow one: every fifth payment waits for seconds.
            let slow = if self.random.random_bool(0.2) {
                2_500.0
            } else {
                140.0
            };
            took += self.dependency(
                &context,
                &id,
                ("HTTP", "payments.example", "POST /charge"),
                slow,
                failed,
                items,
            );
        }
        let code = if failed { "500" } else { "200" };
        let data = json!({
            "ver": 2, "id": id, "name": name, "duration": duration(took), "success": !failed, "responseCode": code,
            "url": format!("https://shop.example{path}"), "properties": self.properties(),
            "measurements": { "payloadBytes": self.random.random_range(200..90_000) },
        });
        items.push(envelope(
            self.key,
            self.at,
            &context,
            "",
            "RequestData",
            data,
        ));
        self.trace(&context, &id, failed, items);
        if failed {
            self.exception(&context, &id, items);
        }
        took
    }

    fn dependency(
        &mut self,
        context: &Context,
        parent: &str,
        (kind, target, name): (&str, &str, &str),
        typical: f64,
        failed: bool,
        items: &mut Items,
    ) -> f64 {
        let took = typical * self.random.random_range(0.5..2.0);
        let id = random_hex(self.random, 16);
        if kind == "HTTP" {
            let payment = Payment {
                operation_id: &context.operation_id,
                parent: &id,
                at: self.at,
                took,
                failed,
            };
            payment.record(self.random, items);
        }
        let data = json!({
            "ver": 2, "id": id, "name": name, "type": kind, "target": target,
            "data": if kind == "SQL" { "SELECT id, price FROM products WHERE tag = @p0" } else { "https://payments.example/charge" },
            "duration": duration(took), "success": !failed, "resultCode": if failed { "503" } else { "0" },
            "properties": self.properties(),
        });
        items.push(envelope(
            self.key,
            self.at,
            context,
            parent,
            "RemoteDependencyData",
            data,
        ));
        took
    }

    fn trace(&mut self, context: &Context, parent: &str, failed: bool, items: &mut Items) {
        let (severity, message) = if failed {
            (3, "Payment provider timed out, the order was not placed")
        } else {
            (1, "Page rendered from cache")
        };
        let data = json!({ "ver": 2, "message": message, "severityLevel": severity, "properties": self.properties() });
        items.push(envelope(
            self.key,
            self.at,
            context,
            parent,
            "MessageData",
            data,
        ));
    }

    fn exception(&mut self, context: &Context, parent: &str, items: &mut Items) {
        let frame = |level: u32, method: &str| json!({ "level": level, "method": method, "assembly": "Shop.Web, Version=3.2.0.0", "fileName": "Payments.cs", "line": 40 + level });
        let stack = [
            frame(0, "Shop.Payments.Charge"),
            frame(1, "Shop.Orders.Create"),
        ];
        let inner = json!({ "id": 2, "outerId": 1, "typeName": "System.TimeoutException",
            "message": "The operation has timed out", "hasFullStack": true, "parsedStack": stack });
        let outer = json!({ "id": 1, "typeName": "Shop.PaymentException", "message": "The payment was not accepted",
            "hasFullStack": true, "parsedStack": stack });
        let data = json!({ "ver": 2, "severityLevel": 3, "exceptions": [outer, inner], "properties": self.properties() });
        items.push(envelope(
            self.key,
            self.at,
            context,
            parent,
            "ExceptionData",
            data,
        ));
    }

    /// What the browser sends: the view, its timings, and now and then a script error.
    fn page(
        &mut self,
        page: (&str, &str, &str),
        operation_id: &str,
        took: f64,
        failed: bool,
        items: &mut Items,
    ) {
        let (title, _, path) = page;
        let context = self.context(operation_id, path, "browser", "Browser");
        let url = format!("https://shop.example{path}");
        let network = self.random.random_range(5.0..40.0);
        let processing = self.random.random_range(40.0..400.0);
        let total = network + took + processing;
        let at = self
            .at
            .checked_add(Span::new().milliseconds(total as i64))
            .unwrap_or(self.at);
        let view = json!({ "ver": 2, "id": random_hex(self.random, 16), "name": title, "url": url, "duration": duration(total),
            "properties": self.properties() });
        items.push(envelope(self.key, at, &context, "", "PageViewData", view));
        let timings = json!({
            "ver": 2, "name": title, "url": url, "duration": duration(total), "perfTotal": duration(total),
            "networkConnect": duration(network), "sentRequest": duration(took * 0.6), "receivedResponse": duration(took * 0.4),
            "domProcessing": duration(processing),
        });
        items.push(envelope(
            self.key,
            at,
            &context,
            "",
            "PageViewPerfData",
            timings,
        ));
        if failed && self.random.random_bool(0.3) {
            let error = json!({ "id": 1, "typeName": "TypeError", "message": "order is undefined", "hasFullStack": false });
            let data = json!({ "ver": 2, "severityLevel": 3, "exceptions": [error] });
            items.push(envelope(self.key, at, &context, "", "ExceptionData", data));
        }
    }

    fn checkout(&mut self, operation_id: &str, items: &mut Items) {
        let context = self.context(operation_id, "POST Orders/Create", "orders", "PC");
        let value = (self.random.random_range(10.0..400.0_f64) * 100.0).round() / 100.0;
        let data = json!({ "ver": 2, "name": "CheckoutCompleted", "properties": self.properties(),
            "measurements": { "orderValue": value, "items": self.random.random_range(1..8) } });
        items.push(envelope(self.key, self.at, &context, "", "EventData", data));
    }
}
