//! Every route declares what it needs, and the gate before it asks for that.

use super::*;
use crate::auth::guard::Needs;
use crate::routes::route::{Admission, Operation, Route};
use crate::routes::table;

fn all() -> impl Iterator<Item = (&'static Route, &'static Operation)> {
    table::all().flat_map(|route| {
        route
            .operations
            .iter()
            .map(move |operation| (route, operation))
    })
}

/// A path that the route matches, about the shop where it names an application.
fn path(server: &Server, route: &Route) -> String {
    let shop = server.shop.id.to_string();
    let filled = route
        .path
        .replace("{version}", "v1")
        .replace("{appId}", &shop)
        .replace(
            "{instrumentationKey}",
            &server.shop.instrumentation_key.to_string(),
        );
    let filled = filled.replace("{tenant}", "common").replace("{*", "{");
    let segments = filled
        .split('/')
        .map(|part| if part.starts_with('{') { "x" } else { part });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn closed_routes_need_a_credential() {
    let server = Server::with(|settings| {
        settings.set("ingest.require_credential", "true").unwrap();
        settings.set("prometheus.access", "credential").unwrap();
    })
    .await;
    let mut asked = 0;
    for (route, operation) in all() {
        let path = path(&server, route);
        let method: Method = operation.method.to_uppercase().parse().unwrap();
        let reply = server.ask(method, &path, &[], Body::empty()).await;
        let expected = operation.admission.needs() != Needs::Nothing;
        let open = [
            "/health",
            "/ready",
            "/version",
            "/openapi.json",
            "/devicelogin",
            "/metadata/endpoints",
            "/v1/rest/auth/metadata",
            "/api/profiles/",
            "//api/profiles/",
            "/{tenant}/",
            "/portal/{*",
            "/portal/session",
            "/docs",
        ];
        let is_page = matches!(route.path, "/portal" | "/portal/");
        assert_eq!(
            expected,
            !is_page && !open.iter().any(|open| route.path.starts_with(open)),
            "{}",
            route.path
        );
        // The issuer itself looks at the token that this one is about.
        let checks_itself = route.path.ends_with("/openid/userinfo");
        assert_eq!(
            reply.status == 401,
            expected || checks_itself,
            "{} {path}: {}",
            operation.method,
            reply.status
        );
        assert_ne!(reply.status, 404, "{path} is no path of its route");
        asked += 1;
    }
    assert!(asked > 30, "{asked}");
}

#[tokio::test]
async fn an_ingestion_key_permits_no_query() {
    let server = Server::start().await;
    let (catalogue, now) = (server.app.store.catalogue(), server.app.now());
    let rights = hindsight_identity::Rights::parse("ingest").unwrap();
    let (_, key) = crate::app::create_key_with(catalogue, server.shop.id, "", rights, now, None)
        .await
        .unwrap();
    for (route, operation) in all().filter(|(_, operation)| operation.admission == Admission::Query)
    {
        let method: Method = operation.method.to_uppercase().parse().unwrap();
        let path = path(&server, route);
        let reply = server
            .ask(method, &path, &[("x-api-key", &key)], Body::empty())
            .await;
        assert_eq!(reply.status, 403, "{path}");
    }
}
