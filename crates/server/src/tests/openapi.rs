//! `/openapi.json` says what the router does.

use std::collections::BTreeSet;

use super::*;
use crate::openapi::{document, public_path};
use crate::routes::table;

/// Every `$ref` of a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get("$ref") {
                found.insert(target.clone());
            }
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_served_to_everybody() {
    let server = Server::start().await;
    let reply = server
        .ask(Method::GET, "/openapi.json", &[], Body::empty())
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("content-type"),
        "application/json; charset=utf-8"
    );
    assert_eq!(reply.json(), document(table::all()));
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let document = document(table::all());
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for target in &found {
        let pointer = target.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    for kind in ["schemas", "parameters"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let target = format!("#/components/{kind}/{name}");
            assert!(found.contains(&target), "{target} is not used");
        }
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let described = table::all().filter(|route| !route.alias);
    let ids: Vec<&str> = described
        .flat_map(|route| route.operations)
        .map(|operation| operation.id)
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

/// Each described method is answered by its handler, and no other method is.
#[tokio::test]
async fn paths_have_the_described_methods_and_no_others() {
    let server = Server::start().await;
    let key = [("x-api-key", server.key.as_str())];
    for route in table::all() {
        let path = public_path(route.path)
            .replace("{version}", "v1")
            .replace("{tenant}", "common")
            .replace("{appId}", &server.shop.id.to_string())
            .replace("{metricId}", "requests/count")
            .replace("{eventType}", "requests")
            .replace("{eventId}", "x");
        let mut allowed = BTreeSet::new();
        for operation in route.operations {
            allowed.insert(operation.method.to_uppercase());
            if operation.method == "get" {
                allowed.insert("HEAD".to_owned());
            }
        }
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            let name = Method::from_bytes(method.as_bytes()).unwrap();
            let reply = server.ask(name, &path, &key, Body::empty()).await;
            let answered = reply.headers.get("allow").is_none();
            assert_eq!(answered, allowed.contains(method), "{method} {path}");
            if !answered {
                assert_eq!(reply.status, 404, "{method} {path}");
                let header: BTreeSet<String> = reply
                    .header("allow")
                    .split(',')
                    .map(str::to_owned)
                    .collect();
                assert_eq!(header, allowed, "{path}");
            }
        }
    }
}

/// What is answered without arguments is a status that the document names.
#[tokio::test]
async fn statuses_are_described() {
    let server = Server::start().await;
    let document = document(table::all());
    for route in table::all().filter(|route| !route.alias) {
        let path = public_path(route.path);
        for operation in route.operations {
            let described = &document["paths"][&path][operation.method]["responses"];
            for (app, key) in [
                (server.shop.id.to_string(), server.key.as_str()),
                (server.shop.id.to_string(), ""),
                ("nobody".to_owned(), server.key.as_str()),
            ] {
                let path = path
                    .replace("{version}", "v1")
                    .replace("{tenant}", "common")
                    .replace("{appId}", &app)
                    .replace("{metricId}", "nothing/here")
                    .replace("{eventType}", "requests")
                    .replace("{eventId}", "x");
                let method = Method::from_bytes(operation.method.to_uppercase().as_bytes());
                let headers = [("x-api-key", key)];
                let reply = server
                    .ask(method.unwrap(), &path, &headers, Body::empty())
                    .await;
                let status = reply.status.as_str();
                assert!(
                    described.get(status).is_some(),
                    "{status} of {} {path}",
                    operation.method
                );
            }
        }
    }
}
