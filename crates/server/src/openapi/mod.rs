//! The OpenAPI 3.1 document. It is made from the table of routes that the router is made from, so the two cannot differ.

use serde_json::{Map, Value, json};

use crate::error::CODES;
use crate::routes::route::{Admission, Operation, Route};

/// The shapes of bodies, by name.
const SCHEMAS: [&str; 3] = [
    include_str!("schemas.json"),
    include_str!("oauth_schemas.json"),
    include_str!("portal_schemas.json"),
];
/// Those of test mode.
const TEST_MODE_SCHEMAS: &str = include_str!("test_mode_schemas.json");
/// The parameters, by the names under which operations list them.
const PARAMETERS: [&str; 2] = [
    include_str!("parameters.json"),
    include_str!("oauth_parameters.json"),
];

/// The document of these routes.
pub(crate) fn document<'r>(routes: impl Iterator<Item = &'r Route>) -> Value {
    described_with(routes, &SCHEMAS)
}

/// The document of the routes of test mode.
pub(crate) fn document_of_test_mode<'r>(routes: impl Iterator<Item = &'r Route>) -> Value {
    let [first, second, third] = SCHEMAS;
    described_with(routes, &[first, second, third, TEST_MODE_SCHEMAS])
}

/// The document of these routes with the schemas of these texts.
fn described_with<'r>(routes: impl Iterator<Item = &'r Route>, texts: &[&str]) -> Value {
    let mut paths = Map::new();
    for route in routes.filter(|route| !route.alias) {
        let mut operations = Map::new();
        for operation in route.operations {
            operations.insert(
                operation.method.to_owned(),
                described(route.path, operation),
            );
        }
        paths.insert(public_path(route.path), Value::Object(operations));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hindsight",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Application Insights on your own machine: telemetry in, and the query API (metrics, events, query) over it.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas(texts),
            "parameters": parameters(),
            "securitySchemes": security_schemes(),
        },
    })
}

/// The entries of all these objects.
fn merged(texts: &[&str]) -> Value {
    // The files are part of the program; a test reads them.
    let objects = texts
        .iter()
        .map(|text| serde_json::from_str(text).unwrap_or_default());
    let entries = objects.flat_map(|object: Map<String, Value>| object);
    Value::Object(entries.collect())
}

/// The parameters by the keys of their components.
fn parameters() -> Value {
    let Value::Object(listed) = merged(&PARAMETERS) else {
        return Value::Null;
    };
    let keyed = listed
        .into_iter()
        .map(|(name, parameter)| (component_key(&name), parameter));
    Value::Object(keyed.collect())
}

/// The key of a parameter's component, which must match `^[a-zA-Z0-9._-]+$` (OpenAPI 3.1 §4.8.7): `$filter` is `odata.filter`.
fn component_key(name: &str) -> String {
    name.replace('$', "odata.")
}

fn schemas(texts: &[&str]) -> Value {
    let mut schemas = merged(texts);
    let codes: Vec<&str> = CODES.iter().map(|(_, code, _)| *code).collect();
    if let Some(object) = schemas.as_object_mut() {
        let described = json!({ "description": "What kind of failure it is.", "enum": codes });
        object.insert("ErrorCode".to_owned(), described);
    }
    schemas
}

fn security_schemes() -> Value {
    json!({
        "apiKey": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
        "apiKeyParameter": { "type": "apiKey", "in": "query", "name": "api_key" },
        "client": { "type": "http", "scheme": "basic", "description": "A client's id and secret (RFC 6749 §2.3.1)." },
        "basic": { "type": "http", "scheme": "basic", "description": "The key as user name or as password." },
        "bearer": { "type": "http", "scheme": "bearer", "description": "An OAuth 2.0 access token." },
    })
}

/// The path as OpenAPI writes it: a parameter takes the rest of the path where the router says `{*name}`.
pub(crate) fn public_path(path: &str) -> String {
    path.replace("{*", "{")
}

fn described(path: &str, operation: &Operation) -> Value {
    let in_path = path
        .split('{')
        .skip(1)
        .filter_map(|part| part.split('}').next())
        .map(|name| name.trim_start_matches('*').to_owned());
    let listed = operation.parameters.iter().copied();
    let conditional = is_conditional(operation).then_some("If-None-Match");
    let names = in_path.chain(
        listed
            .chain(operation.admission.parameters())
            .chain(conditional)
            .map(str::to_owned),
    );
    let parameters: Vec<Value> = names
        .map(|name| json!({ "$ref": format!("#/components/parameters/{}", component_key(&name)) }))
        .collect();
    let mut out = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [operation.admission.tag()],
        "parameters": parameters,
        "responses": replies(operation),
        "security": operation.admission.security(),
    });
    if let (Some(body), Some(object)) = (&operation.body, out.as_object_mut()) {
        let schema =
            json!({ "schema": { "$ref": format!("#/components/schemas/{}", body.schema) } });
        let content: Map<String, Value> = body
            .media
            .iter()
            .map(|media| ((*media).to_owned(), schema.clone()))
            .collect();
        let body = json!({ "required": body.required, "content": content });
        object.insert("requestBody".to_owned(), body);
    }
    out
}

fn replies(operation: &Operation) -> Value {
    let mut replies = Map::new();
    for reply in operation.replies {
        let schema =
            json!({ "schema": { "$ref": format!("#/components/schemas/{}", reply.schema) } });
        let entry = replies
            .entry(reply.status.to_string())
            .or_insert_with(|| json!({ "description": reply.description, "content": {}, "headers": headers(operation, reply.status) }));
        let content = entry.get_mut("content").and_then(Value::as_object_mut);
        if let Some(content) = content.filter(|_| !reply.media.is_empty()) {
            content.insert(reply.media.to_owned(), schema);
        }
    }
    let (media, schema) = operation.admission.error();
    let schema = json!({ "schema": { "$ref": format!("#/components/schemas/{schema}") } });
    for status in operation.admission.failures(operation.body.is_some()) {
        replies.entry(status.to_string()).or_insert_with(|| {
            json!({
                "description": meaning(operation.admission, *status),
                "headers": headers(operation, *status),
                "content": { media: schema },
            })
        });
    }
    if is_conditional(operation) {
        let unchanged = json!({ "description": "The client has this very reply (If-None-Match).", "headers": headers(operation, 304) });
        replies.insert("304".to_owned(), unchanged);
    }
    Value::Object(replies)
}

/// What a failure's status means.
fn meaning(admission: Admission, status: u16) -> String {
    if matches!(admission, Admission::Program | Admission::Person) {
        let text = match status {
            400 => "The request is invalid, or its code or token is no longer valid.",
            401 => {
                "The client is unknown, or its secret is missing or wrong; the person's name or password is wrong."
            }
            408 => "The body arrived too slowly.",
            413 => "The body is too large.",
            429 => "Too many failed attempts.",
            _ => "The server failed; its log says why.",
        };
        return text.to_owned();
    }
    let known = CODES.iter().filter(|(of, _, _)| *of == status);
    let meanings: Vec<String> = known
        .map(|(_, code, meaning)| format!("{code}: {meaning}"))
        .collect();
    meanings.join(" ")
}

/// Whether a client may say which replies it has.
fn is_conditional(operation: &Operation) -> bool {
    operation.admission == Admission::Query && operation.method == "get"
}

fn headers(operation: &Operation, status: u16) -> Value {
    let mut headers = Map::new();
    let mut add = |name: &str, description: &str, schema: Value| {
        let header = json!({ "description": description, "schema": schema });
        headers.insert(name.to_owned(), header);
    };
    add(
        "x-ms-request-id",
        "The request's id; errors and the log have it too.",
        json!({ "type": "string", "format": "uuid" }),
    );
    let seconds = json!({ "type": "integer", "minimum": 0 });
    match (status, operation.admission) {
        (200 | 304, Admission::Query) => {
            add(
                "Age",
                "Seconds since the reply was made, where it came from the cache.",
                seconds,
            );
            add(
                "ETag",
                "Of a reply that is kept.",
                json!({ "type": "string" }),
            );
            add(
                "Hindsight-Missing",
                "Tables and times whose telemetry is damaged and cannot be read, if the reply lacks any.",
                json!({ "type": "string" }),
            );
            add(
                "Preference-Applied",
                "What of Prefer was followed.",
                json!({ "type": "string" }),
            );
        }
        (303, _) => add(
            "Location",
            "Where to go on, with the answer for the client.",
            json!({ "type": "string" }),
        ),
        (401, _) => add(
            "WWW-Authenticate",
            "The ways to authenticate.",
            json!({ "type": "string" }),
        ),
        (429 | 503, _) => add("Retry-After", "Seconds after which to ask again.", seconds),
        _ => {}
    }
    Value::Object(headers)
}
