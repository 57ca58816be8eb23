//! Every URL on one page: what the router is made of, and what `/openapi.json` says.

use std::sync::Arc;

use axum::routing::MethodRouter;
use hindsight_identity::Right;
use serde_json::{Value, json};

use super::{events, health, ingest, management, metadata, metrics, oauth, prometheus, query};
use crate::app::App;
use crate::auth::gate::Needs;
use crate::openapi;

/// A path with its operations.
pub(crate) struct Route {
    /// As the router writes it.
    pub(crate) path: &'static str,
    /// Another spelling of a path that is described already.
    pub(crate) alias: bool,
    pub(crate) operations: &'static [Operation],
}

/// One method of a path.
pub(crate) struct Operation {
    /// `get` or `post`. A path with GET has HEAD too.
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
    pub(crate) add: fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>,
}

/// What a request carries.
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    /// Media types that are read alike.
    pub(crate) media: &'static [&'static str],
    pub(crate) schema: &'static str,
}

/// What is answered.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) media: &'static str,
    pub(crate) schema: &'static str,
    pub(crate) description: &'static str,
}

/// Who may use an operation, and how it may fail therefore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// A question about an application: a credential, limits, the cache.
    Question,
    /// Telemetry, which carries its instrumentation key.
    Telemetry,
    /// About no application: any good credential.
    SignedIn,
    /// A client of the issuer, which shows in the request itself who it is.
    Program,
    /// A person at the issuer's pages.
    Person,
    /// Whoever shows a token of the issuer, which it judges itself.
    Bearer,
    /// For everybody.
    Open,
}

impl Admission {
    /// What the gate before the operation asks for.
    pub(crate) const fn needs(self) -> Needs {
        match self {
            Admission::Question => Needs::App(Right::Read),
            Admission::Telemetry => Needs::Telemetry,
            Admission::SignedIn => Needs::Credential,
            Admission::Program | Admission::Person | Admission::Bearer | Admission::Open => {
                Needs::Nothing
            }
        }
    }

    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Admission::Question => "Questions",
            Admission::Telemetry => "Telemetry",
            Admission::SignedIn => "Management",
            Admission::Program | Admission::Person | Admission::Bearer => "Identity",
            Admission::Open => "Server",
        }
    }

    /// The parameters that all such operations have.
    pub(crate) fn parameters(self) -> impl Iterator<Item = &'static str> {
        let names: &[&str] = match self {
            Admission::Question => &["prefer", "Prefer", "Cache-Control"],
            _ => &[],
        };
        names.iter().copied()
    }

    /// The statuses of refusals and failures.
    pub(crate) const fn failures(self, with_body: bool) -> &'static [u16] {
        match (self, with_body) {
            (Admission::Question, false) => {
                &[400, 401, 402, 403, 404, 406, 429, 500, 502, 503, 504]
            }
            (Admission::Question, true) => &[
                400, 401, 402, 403, 404, 406, 408, 413, 415, 429, 500, 502, 503, 504,
            ],
            (Admission::Telemetry, _) => &[400, 401, 402, 403, 408, 413, 415, 429, 500, 502, 503],
            (Admission::SignedIn, _) => &[400, 401, 403, 429, 500, 502, 503],
            (Admission::Program | Admission::Person, false) => &[400, 401, 429, 500],
            (Admission::Program | Admission::Person, true) => &[400, 401, 408, 413, 429, 500],
            (Admission::Bearer | Admission::Open, _) => &[],
        }
    }

    /// The type and the schema of refusals.
    pub(crate) const fn error(self) -> (&'static str, &'static str) {
        match self {
            Admission::Telemetry => ("application/json", "TrackReply"),
            Admission::Program => ("application/json", "OAuthError"),
            Admission::Person => ("text/html", "Page"),
            Admission::Question | Admission::SignedIn | Admission::Bearer | Admission::Open => {
                ("application/json", "Error")
            }
        }
    }

    pub(crate) fn security(self) -> Value {
        match self {
            Admission::Question | Admission::SignedIn => {
                json!([{ "apiKey": [] }, { "bearer": [] }, { "basic": [] }, { "apiKeyParameter": [] }])
            }
            // Without a credential the instrumentation key is enough, unless a setting asks for more.
            Admission::Telemetry => {
                json!([{}, { "apiKey": [] }, { "bearer": [] }, { "basic": [] }])
            }
            Admission::Program => json!([{}, { "client": [] }]),
            Admission::Bearer => json!([{ "bearer": [] }]),
            Admission::Person | Admission::Open => json!([]),
        }
    }
}

/// 200 with JSON.
pub(super) const fn ok(schema: &'static str, description: &'static str) -> Reply {
    Reply {
        status: 200,
        media: "application/json",
        schema,
        description,
    }
}

const RESULT: &[Reply] = &[ok("QueryReply", "The result's tables.")];
const EVENTS: &[Reply] = &[
    ok("EventsReply", "The events."),
    Reply {
        media: "text/csv",
        ..ok("Csv", "The events.")
    },
];
const METADATA: &[Reply] = &[ok("Metadata", "Tables, their columns, the applications.")];
const TAKEN: &[Reply] = &[
    ok("TrackReply", "All items are on disk."),
    Reply {
        status: 206,
        ..ok(
            "TrackReply",
            "Some items are on disk; `errors` names the others.",
        )
    },
];

const fn json_body(required: bool, schema: &'static str) -> Option<RequestBody> {
    Some(RequestBody {
        required,
        media: &["application/json"],
        schema,
    })
}

/// A GET that asks about an application.
const fn asked(
    id: &'static str,
    summary: &'static str,
    parameters: &'static [&'static str],
    replies: &'static [Reply],
    add: fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>,
) -> Operation {
    Operation {
        method: "get",
        id,
        summary,
        admission: Admission::Question,
        parameters,
        body: None,
        replies,
        add,
    }
}

/// A GET for everybody.
pub(super) const fn open(
    id: &'static str,
    summary: &'static str,
    replies: &'static [Reply],
    add: fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>,
) -> Operation {
    Operation {
        admission: Admission::Open,
        ..asked(id, summary, &[], replies, add)
    }
}

const fn track(id: &'static str) -> Operation {
    Operation {
        method: "post",
        id,
        summary: "Take in telemetry of SDKs. 200 means that all items are on disk.",
        admission: Admission::Telemetry,
        parameters: &[],
        body: Some(RequestBody {
            required: true,
            media: &["application/json", "application/x-json-stream"],
            schema: "Telemetry",
        }),
        replies: TAKEN,
        add: |route| route.post(ingest::track),
    }
}

const METRIC: &[&str] = &[
    "timespan",
    "interval",
    "aggregation",
    "segment",
    "top",
    "orderby",
    "filter",
];
const ODATA: &[&str] = &[
    "timespan", "$filter", "$search", "$orderby", "$select", "$skip", "$top", "$format", "$count",
    "$apply",
];

/// A path that is described.
pub(super) const fn route(path: &'static str, operations: &'static [Operation]) -> Route {
    Route {
        path,
        alias: false,
        operations,
    }
}

const fn alias(path: &'static str, operations: &'static [Operation]) -> Route {
    Route {
        alias: true,
        ..route(path, operations)
    }
}

/// Every route of the program.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().chain(management::ROUTES).chain(oauth::ROUTES)
}

/// Telemetry, questions and the server itself.
static ROUTES: &[Route] = &[
    // Telemetry in. Exporters append their path to an endpoint that ends in a slash, which makes two.
    route("/v2/track", &[track("track")]),
    route("/v2.1/track", &[track("trackV21")]),
    alias("//v2/track", &[track("track")]),
    alias("//v2.1/track", &[track("trackV21")]),
    // Questions in.
    route(
        "/{version}/apps/{appId}/query",
        &[
            asked(
                "queryGet",
                "Execute an Analytics query.",
                &["query", "timespan", "applications"],
                RESULT,
                |route| route.get(query::get),
            ),
            Operation {
                method: "post",
                body: json_body(true, "QueryRequest"),
                ..asked(
                    "queryPost",
                    "Execute an Analytics query.",
                    &["timespan", "applications"],
                    RESULT,
                    |route| route.post(query::post),
                )
            },
        ],
    ),
    route(
        "/{version}/workspaces/{appId}/query",
        &[
            asked(
                "workspaceQueryGet",
                "Execute an Analytics query over the tables' workspace names.",
                &["query", "timespan", "applications"],
                RESULT,
                |route| route.get(query::workspace_get),
            ),
            Operation {
                method: "post",
                body: json_body(true, "QueryRequest"),
                ..asked(
                    "workspaceQueryPost",
                    "Execute an Analytics query over the tables' workspace names.",
                    &["timespan", "applications"],
                    RESULT,
                    |route| route.post(query::workspace_post),
                )
            },
        ],
    ),
    route(
        "/{version}/apps/{appId}/metrics",
        &[Operation {
            method: "post",
            body: json_body(true, "MetricsRequest"),
            ..asked(
                "metricsPost",
                "Retrieve metric data for several metrics.",
                &[],
                &[ok(
                    "MetricsReply",
                    "A reply for each member, in their order.",
                )],
                |route| route.post(metrics::post),
            )
        }],
    ),
    route(
        "/{version}/apps/{appId}/metrics/{*metricId}",
        &[asked(
            "metricGet",
            "Retrieve metric data for one metric.",
            METRIC,
            &[ok("MetricReply", "The metric's values.")],
            |route| route.get(metrics::get),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/{eventType}",
        &[asked(
            "eventsGet",
            "Execute an OData query for events.",
            ODATA,
            EVENTS,
            |route| route.get(events::list),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/{eventType}/{eventId}",
        &[asked(
            "eventGet",
            "Get an event.",
            &["timespan", "$format"],
            EVENTS,
            |route| route.get(events::single),
        )],
    ),
    // What can be asked.
    route(
        "/{version}/apps/{appId}/metrics/metadata",
        &[asked(
            "metricsMetadata",
            "The metrics and how they may be asked.",
            &[],
            &[ok("MetricsMetadata", "Metrics by id, dimensions by path.")],
            |route| route.get(metadata::metrics),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/$metadata",
        &[asked(
            "eventsMetadata",
            "The model of events.",
            &[],
            &[Reply {
                media: "application/xml",
                ..ok("Xml", "The model.")
            }],
            |route| route.get(metadata::events),
        )],
    ),
    alias(
        "/{version}/apps/{appId}/events/%24metadata",
        &[asked("eventsMetadata", "", &[], &[], |route| {
            route.get(metadata::events)
        })],
    ),
    route(
        "/{version}/apps/{appId}/query/schema",
        &[asked(
            "querySchema",
            "The tables and their columns, as tables.",
            &[],
            RESULT,
            |route| route.get(metadata::schema),
        )],
    ),
    route(
        "/{version}/apps/{appId}/metadata",
        &[
            asked(
                "metadataGet",
                "The tables and their columns.",
                &["applications"],
                METADATA,
                |route| route.get(metadata::get),
            ),
            Operation {
                method: "post",
                body: json_body(false, "MetadataRequest"),
                ..asked(
                    "metadataPost",
                    "The tables and their columns.",
                    &["applications"],
                    METADATA,
                    |route| route.post(metadata::post),
                )
            },
        ],
    ),
    // The server itself.
    route(
        "/health",
        &[open(
            "health",
            "Whether the process answers.",
            &[ok("Status", "It does.")],
            |route| route.get(health::health),
        )],
    ),
    route(
        "/ready",
        &[open(
            "ready",
            "Whether telemetry can be stored.",
            &[
                ok("Status", "It can."),
                Reply {
                    status: 503,
                    ..ok("Status", "It cannot at the moment.")
                },
            ],
            |route| route.get(health::ready),
        )],
    ),
    route(
        "/version",
        &[open(
            "version",
            "The program's name and version.",
            &[ok("Version", "Both.")],
            |route| route.get(health::version),
        )],
    ),
    route(
        "/metrics",
        &[open(
            "figures",
            "The server's figures for Prometheus.",
            &[Reply {
                media: "text/plain",
                ..ok("Figures", "All of them.")
            }],
            |route| route.get(prometheus::render),
        )],
    ),
    route(
        "/openapi.json",
        &[open(
            "openapi",
            "This document.",
            &[ok("Document", "The document.")],
            |route| route.get(openapi::serve),
        )],
    ),
];
