//! What a route is: a path, its operations, who may use them and how they are described.

use std::sync::Arc;

use axum::routing::MethodRouter;
use hindsight_identity::Right;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::guard::{Duty, Needs};

/// A path with its operations.
pub(crate) struct Route {
    /// As the router writes it.
    pub(crate) path: &'static str,
    /// Another spelling of a path that is described already.
    pub(crate) alias: bool,
    pub(crate) operations: &'static [Operation],
}

/// Adds a handler to the others of a path.
pub(crate) type Add = fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>;

/// One method of a path.
pub(crate) struct Operation {
    /// `get`, `post`, `put` or `delete`. A path with GET has HEAD too.
    pub(crate) method: &'static str,
    /// Its name in programs that are made from the document.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) admission: Admission,
    /// The parameters beside those of the path and of the admission, by their names in `parameters.json`.
    pub(crate) parameters: &'static [&'static str],
    pub(crate) body: Option<RequestBody>,
    /// What it answers when all is well.
    pub(crate) replies: &'static [Reply],
    /// Adds the handler to the path's others.
    pub(crate) add: Add,
}

/// What a request carries.
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    /// Media types that are read alike.
    pub(crate) media: &'static [&'static str],
    pub(crate) schema: &'static str,
}

/// A successful reply.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) media: &'static str,
    pub(crate) schema: &'static str,
    pub(crate) description: &'static str,
}

/// Who may use an operation, and how it may fail therefore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A query of an application: a credential, limits, the cache.
    Query,
    /// Telemetry, which carries its instrumentation key.
    Telemetry,
    /// Telemetry of OpenTelemetry: its application is named in one of several ways.
    OpenTelemetry,
    /// Items with their columns, identities and times: a credential with the right to administer the application.
    Import,
    /// About no application: any good credential.
    SignedIn,
    /// A request of the Kusto protocol, which names its application in the body: any good credential.
    Kusto,
    /// A client of the issuer, which shows in the request itself who it is.
    Program,
    /// A person at the issuer's pages.
    Person,
    /// The bearer of one of the issuer's tokens, which the issuer checks itself.
    Bearer,
    /// The portal's endpoints about an application: a credential with this right on it.
    Portal(Right),
    /// The portal's page on this machine, with the secret of a link, which the handler checks.
    Link,
    /// The server's figures: a setting says for whom.
    Figures,
    /// Test mode: a program under test and its tests, on this machine.
    Test,
    /// For everybody.
    Open,
}

impl Admission {
    /// What the gate before the operation asks for.
    pub(crate) const fn needs(self) -> Needs {
        match self {
            Admission::Query => Needs::App(Right::Read),
            Admission::Portal(right) => Needs::App(right),
            Admission::Import => Needs::App(Right::Admin),
            Admission::Telemetry => Needs::Telemetry,
            Admission::OpenTelemetry => Needs::OpenTelemetry,
            Admission::SignedIn | Admission::Kusto => Needs::Credential,
            Admission::Figures => Needs::Figures,
            Admission::Program
            | Admission::Person
            | Admission::Bearer
            | Admission::Link
            | Admission::Test
            | Admission::Open => Needs::Nothing,
        }
    }

    /// What a node does that serves the operation.
    pub(crate) const fn duty(self) -> Duty {
        match self {
            Admission::Telemetry | Admission::OpenTelemetry | Admission::Import => Duty::Ingestion,
            Admission::Query
            | Admission::SignedIn
            | Admission::Kusto
            | Admission::Portal(_)
            | Admission::Test => Duty::Queries,
            Admission::Program
            | Admission::Person
            | Admission::Bearer
            | Admission::Link
            | Admission::Figures
            | Admission::Open => Duty::Any,
        }
    }

    /// The group of operations in the document.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Admission::Query => "Queries",
            Admission::Kusto => "Kusto protocol",
            Admission::Telemetry | Admission::OpenTelemetry | Admission::Import => "Telemetry",
            Admission::SignedIn => "Management",
            Admission::Program | Admission::Person | Admission::Bearer => "Identity",
            Admission::Portal(_) | Admission::Link => "Portal",
            Admission::Test => "Test mode",
            Admission::Figures | Admission::Open => "Server",
        }
    }

    /// The parameters that all such operations have.
    pub(crate) fn parameters(self) -> impl Iterator<Item = &'static str> {
        let names: &[&str] = match self {
            Admission::Query => &["prefer", "Prefer", "Cache-Control"],
            _ => &[],
        };
        names.iter().copied()
    }

    /// The statuses of refusals and failures.
    pub(crate) const fn failures(self, with_body: bool) -> &'static [u16] {
        match (self, with_body) {
            (Admission::Query | Admission::Kusto, false) => {
                &[400, 401, 402, 403, 404, 429, 500, 502, 503, 504]
            }
            (Admission::Query | Admission::Kusto, true) => &[
                400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504,
            ],
            (Admission::Telemetry, _) => &[400, 401, 402, 403, 408, 413, 415, 429, 500, 502, 503],
            (Admission::Portal(_), false) => {
                &[400, 401, 402, 403, 404, 412, 429, 500, 502, 503, 504]
            }
            (Admission::Portal(_), true) => &[
                400, 401, 402, 403, 404, 408, 412, 413, 415, 429, 500, 502, 503, 504,
            ],
            (Admission::Import, _) => &[400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 502, 503],
            (Admission::Link, _) => &[400, 403, 408, 413, 415, 500, 503],
            (Admission::OpenTelemetry, _) => &[400, 401, 403, 413, 415, 429, 500, 502, 503],
            (Admission::SignedIn, false) => &[400, 401, 403, 429, 500, 502, 503],
            (Admission::SignedIn, true) => &[400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503],
            (Admission::Program | Admission::Person, false) => &[400, 401, 429, 500],
            (Admission::Program | Admission::Person, true) => &[400, 401, 408, 413, 429, 500],
            (Admission::Figures, _) => &[400, 401, 403, 429, 502, 503],
            (Admission::Test, false) => &[],
            (Admission::Test, true) => &[400, 404, 408, 413, 415, 500, 503, 504],
            (Admission::Bearer | Admission::Open, _) => &[],
        }
    }

    /// The type and the schema of refusals.
    pub(crate) const fn error(self) -> (&'static str, &'static str) {
        match self {
            Admission::Telemetry => ("application/json", "TrackReply"),
            Admission::OpenTelemetry => ("application/json", "RpcStatus"),
            Admission::Kusto => ("application/json", "KustoError"),
            Admission::Program => ("application/json", "OAuthError"),
            Admission::Person => ("text/html", "Page"),
            Admission::Query
            | Admission::Import
            | Admission::SignedIn
            | Admission::Portal(_)
            | Admission::Link
            | Admission::Bearer
            | Admission::Figures
            | Admission::Test
            | Admission::Open => ("application/json", "Error"),
        }
    }

    /// The credentials that the operation takes, as OpenAPI writes them.
    pub(crate) fn security(self) -> Value {
        match self {
            Admission::Query
            | Admission::Import
            | Admission::SignedIn
            | Admission::Portal(_)
            | Admission::Kusto => {
                json!([{ "apiKey": [] }, { "bearer": [] }, { "basic": [] }, { "apiKeyParameter": [] }])
            }
            // Without a credential the instrumentation key is enough, unless a setting asks for more.
            // Likewise the figures.
            Admission::Telemetry | Admission::OpenTelemetry | Admission::Figures => {
                json!([{}, { "apiKey": [] }, { "bearer": [] }, { "basic": [] }])
            }
            Admission::Program => json!([{}, { "client": [] }]),
            Admission::Bearer => json!([{ "bearer": [] }]),
            Admission::Person | Admission::Link | Admission::Test | Admission::Open => json!([]),
        }
    }
}

/// 200 with JSON.
pub(crate) const fn ok(schema: &'static str, description: &'static str) -> Reply {
    Reply {
        status: 200,
        media: "application/json",
        schema,
        description,
    }
}

/// A body of JSON.
pub(crate) const fn json_body(required: bool, schema: &'static str) -> Option<RequestBody> {
    Some(RequestBody {
        required,
        media: &["application/json"],
        schema,
    })
}

/// A GET that queries an application.
pub(crate) const fn query(
    id: &'static str,
    summary: &'static str,
    parameters: &'static [&'static str],
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        method: "get",
        id,
        summary,
        admission: Admission::Query,
        parameters,
        body: None,
        replies,
        add,
    }
}

/// A GET for everybody.
pub(crate) const fn open(
    id: &'static str,
    summary: &'static str,
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        admission: Admission::Open,
        ..query(id, summary, &[], replies, add)
    }
}

/// A path that is described.
pub(crate) const fn route(path: &'static str, operations: &'static [Operation]) -> Route {
    Route {
        path,
        alias: false,
        operations,
    }
}

/// Another spelling of a described path.
pub(crate) const fn alias(path: &'static str, operations: &'static [Operation]) -> Route {
    Route {
        alias: true,
        ..route(path, operations)
    }
}
