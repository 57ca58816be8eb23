//! A cloud as its resource manager describes it (Azure Resource Manager: `metadata/endpoints` of 2022-09-01, `tenants` and
//! `subscriptions` of 2022-12-01). Only what is there is named: a client that looks for more finds that it is not.

use serde_json::{Value, json};

/// Where everything is: one server is issuer, resource manager and query API. The first audience is the one that tokens for
/// the resource manager are asked with.
pub(crate) fn endpoints(base: &str, audiences: &[String]) -> Value {
    let own = std::iter::once(base).chain(audiences.iter().map(String::as_str));
    json!({
        "name": "Hindsight",
        "authentication": {
            "loginEndpoint": base,
            "audiences": own.collect::<Vec<_>>(),
            "tenant": "common",
            "identityProvider": "AAD",
        },
        "resourceManager": base,
        "appInsightsResourceId": base,
        "logAnalyticsResourceId": base,
        "suffixes": {},
    })
}

/// The one tenant.
pub(crate) fn tenants(tenant: &str) -> Value {
    json!({
        "value": [{
            "id": format!("/tenants/{tenant}"),
            "tenantId": tenant,
            "tenantCategory": "Home",
            "displayName": "Hindsight",
        }],
    })
}

/// No subscription.
pub(crate) fn subscriptions() -> Value {
    json!({ "value": [], "count": { "type": "Total", "value": 0 } })
}
