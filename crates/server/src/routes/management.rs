//! What the Azure CLI asks a cloud's resource manager when somebody signs in. Hindsight manages no resources: it is one
//! cloud with one tenant and no subscriptions, and these are the addresses that say so.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;

use super::route::{Admission, Operation, Reply, Route, ok, open, route};
use crate::app::App;
use crate::origin::Head;
use crate::wire::management as wire;

const TENANTS: &[Reply] = &[ok("TenantList", "The tenant.")];
const SUBSCRIPTIONS: &[Reply] = &[ok("SubscriptionList", "None.")];

/// All of them.
pub(super) static ROUTES: &[Route] = &[
    route(
        "/metadata/endpoints",
        &[Operation {
            parameters: &["api-version"],
            ..open(
                "endpoints",
                "Where this cloud's issuer and interfaces are, for `az cloud register`.",
                &[ok("Endpoints", "The addresses.")],
                |route| route.get(endpoints),
            )
        }],
    ),
    route(
        "/tenants",
        &[Operation {
            admission: Admission::SignedIn,
            parameters: &["api-version"],
            ..open(
                "tenants",
                "The tenants that one may sign in to.",
                TENANTS,
                |route| route.get(tenants),
            )
        }],
    ),
    route(
        "/subscriptions",
        &[Operation {
            admission: Admission::SignedIn,
            parameters: &["api-version"],
            ..open(
                "subscriptions",
                "The subscriptions of the tenant. Hindsight has none.",
                SUBSCRIPTIONS,
                |route| route.get(subscriptions),
            )
        }],
    ),
];

async fn endpoints(State(app): State<Arc<App>>, head: Head) -> Json<Value> {
    let audiences = &app.settings.auth_audiences;
    let base = head.issuer_base(&app.settings, &app.issuer.base());
    Json(wire::endpoints(&base, audiences))
}

async fn tenants(State(app): State<Arc<App>>) -> Json<Value> {
    Json(wire::tenants(app.issuer.tenant()))
}

async fn subscriptions() -> Json<Value> {
    Json(wire::subscriptions())
}
