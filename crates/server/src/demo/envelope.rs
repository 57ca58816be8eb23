//! Envelopes of the ingestion protocol, as SDKs write them.

use jiff::Timestamp;
use rand::Rng;
use rand::rngs::SmallRng;
use serde_json::{Map, Value, json};

/// What the items of one operation share.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// `ai.operation.id`
    pub(super) operation_id: String,
    /// `ai.operation.name`
    pub(super) operation_name: String,
    /// `ai.cloud.role`
    pub(super) role: String,
    /// `ai.cloud.roleInstance`
    pub(super) instance: String,
    /// Tags of the person: user, session, place, browser.
    pub(super) person: Vec<(&'static str, String)>,
}

impl Context {
    fn tags(&self, parent: &str) -> Map<String, Value> {
        let mut tags = Map::new();
        let mut put = |key: &str, value: &str| {
            if !value.is_empty() {
                tags.insert(key.to_owned(), json!(value));
            }
        };
        put("ai.operation.id", &self.operation_id);
        put("ai.operation.name", &self.operation_name);
        put("ai.operation.parentId", parent);
        put("ai.cloud.role", &self.role);
        put("ai.cloud.roleInstance", &self.instance);
        put("ai.application.ver", "3.2.0");
        put("ai.application.build", "3.2.0-417");
        put("ai.cloud.environment", "production");
        put("ai.cloud.location", "westeurope");
        put("ai.cloud.deploymentUnit", &self.role);
        put(
            "ai.internal.sdkVersion",
            if self.role == "browser" {
                "javascript:3.4.4"
            } else {
                "dotnet:2.22.0"
            },
        );
        for (key, value) in &self.person {
            put(key, value);
        }
        tags
    }
}

/// One envelope.
pub(super) fn envelope(
    key: &str,
    at: Timestamp,
    context: &Context,
    parent: &str,
    base_type: &str,
    base_data: Value,
) -> Value {
    json!({
        "ver": 1,
        "name": format!("Microsoft.ApplicationInsights.{}", base_type.trim_end_matches("Data")),
        "time": format!("{at:.6}"),
        "sampleRate": 100.0,
        "iKey": key,
        "tags": context.tags(parent),
        "data": { "baseType": base_type, "baseData": base_data },
    })
}

/// A duration as SDKs write it, `d.hh:mm:ss.fffffff`.
pub(super) fn duration(milliseconds: f64) -> String {
    let ticks = (milliseconds * 10_000.0).max(0.0) as u64;
    let seconds = ticks / 10_000_000;
    format!(
        "0.{:02}:{:02}:{:02}.{:07}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        ticks % 10_000_000
    )
}

/// `digits` random hexadecimal digits: the id of an operation or item.
pub(super) fn random_hex(random: &mut SmallRng, digits: usize) -> String {
    (0..digits)
        .map(|_| char::from_digit(random.random_range(0..16), 16).unwrap_or('0'))
        .collect()
}
