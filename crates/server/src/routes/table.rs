//! Every URL on one page: the router and `/openapi.json` are made of this table.

use std::sync::Arc;

use axum::routing::MethodRouter;

use super::replies::{METADATA, RESULT};
use super::route::{
    Add, Admission, Operation, Reply, RequestBody, Route, alias, json_body, ok, open, query, route,
};
use super::{
    batch, events, health, import, ingest, kusto, live, management, metadata, metrics, oauth,
    openapi, otlp, portal, prometheus, resource, sdk, test_mode,
};
use crate::app::App;

const EVENTS: &[Reply] = &[
    ok("EventsReply", "The events."),
    Reply {
        media: "text/csv",
        ..ok("Csv", "The events.")
    },
];
const MODEL: &[Reply] = &[Reply {
    media: "application/xml",
    ..ok("Xml", "The model.")
}];
const SCHEMA: &[Reply] = &[ok("SchemaReply", "The columns, and the tables.")];
const WORKSPACE_METADATA: &[Reply] = &[ok(
    "WorkspaceMetadata",
    "Tables, their columns, the applications as workspaces.",
)];
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

const IMPORTED: &[Reply] = &[ok(
    "ImportReply",
    "All items that are not refused are on disk, each once.",
)];

/// History of other systems.
const IMPORT: Operation = Operation {
    method: "post",
    admission: Admission::Import,
    body: Some(RequestBody {
        required: true,
        media: &["application/x-ndjson"],
        schema: "ImportLines",
    }),
    ..open(
        "import",
        "Store items with their columns, of any age that is kept. Items that are there already are not stored again.",
        IMPORTED,
        |route| route.post(import::import),
    )
};

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

const EXPORTED: &[Reply] = &[
    ok(
        "OtlpReply",
        "All items are on disk, but for those that `partialSuccess` counts.",
    ),
    Reply {
        media: "application/x-protobuf",
        ..ok("Protobuf", "The same in protobuf.")
    },
];

/// A signal of OpenTelemetry.
const fn export(id: &'static str, schema: &'static str, add: Add) -> Operation {
    Operation {
        method: "post",
        id,
        summary: "Take in telemetry of OpenTelemetry (OTLP). 200 means that all items are on disk that are not counted as rejected.",
        admission: Admission::OpenTelemetry,
        parameters: &["x-instrumentation-key", "exportKey"],
        body: Some(RequestBody {
            required: true,
            media: &["application/json", "application/x-protobuf"],
            schema,
        }),
        replies: EXPORTED,
        add,
    }
}

const TRACES: Operation = export("exportTraces", "OtlpTraces", |route| {
    route.post(otlp::traces)
});
const LOGS: Operation = export("exportLogs", "OtlpLogs", |route| route.post(otlp::logs));
const POINTS: Operation = export("exportMetrics", "OtlpMetrics", |route| {
    route.post(otlp::metrics)
});

/// OpenTelemetry, on the main port and on ports of its own. gRPC has paths of its own.
pub(crate) static OPEN_TELEMETRY: &[Route] = &[
    route("/v1/traces", &[TRACES]),
    route("/v1/logs", &[LOGS]),
    route("/v1/metrics", &[POINTS]),
    alias("//v1/traces", &[TRACES]),
    alias("//v1/logs", &[LOGS]),
    alias("//v1/metrics", &[POINTS]),
    alias(
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        &[TRACES],
    ),
    alias(
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        &[LOGS],
    ),
    alias(
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        &[POINTS],
    ),
];

const SUBSCRIBED: &[Reply] = &[Reply {
    media: "",
    ..ok("", "Whether somebody watches, in the header.")
}];

/// What SDKs send and ask for live metrics.
const fn quick_pulse(id: &'static str, add: Add) -> Operation {
    Operation {
        method: "post",
        id,
        summary: "Live metrics of SDKs. The header x-ms-qps-subscribed says whether somebody watches the application.",
        admission: Admission::Telemetry,
        parameters: &["ikey", "api-version"],
        body: Some(RequestBody {
            required: false,
            media: &["application/json"],
            schema: "LiveSamples",
        }),
        replies: SUBSCRIBED,
        add,
    }
}

/// The id of an application, for SDKs.
const APP_ID: Operation = open(
    "profileAppId",
    "The id of the application of an instrumentation key, as plain text.",
    &[
        Reply {
            media: "text/plain",
            ..ok("AppIdText", "The id.")
        },
        Reply {
            status: 404,
            ..ok("Error", "There is no such key.")
        },
    ],
    |route| route.get(sdk::app_id),
);

fn sdk_ping(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.post(sdk::ping)
}

fn sdk_post(route: MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>> {
    route.post(sdk::post)
}

/// Queries of a workspace.
const WORKSPACE_QUERY: &[Operation] = &[
    query(
        "workspaceQueryGet",
        "Execute an Analytics query over the tables' workspace names.",
        &["query", "timespan", "applications"],
        RESULT,
        |route| route.get(super::query::workspace_get),
    ),
    Operation {
        method: "post",
        body: json_body(true, "QueryRequest"),
        ..query(
            "workspaceQueryPost",
            "Execute an Analytics query over the tables' workspace names.",
            &["timespan", "applications"],
            RESULT,
            |route| route.post(super::query::workspace_post),
        )
    },
];

/// The description of a workspace.
const WORKSPACE_DESCRIPTION: &[Operation] = &[
    query(
        "workspaceMetadataGet",
        "The tables and their columns under their workspace names.",
        &["applications"],
        WORKSPACE_METADATA,
        |route| route.get(metadata::workspace_get),
    ),
    Operation {
        method: "post",
        body: json_body(false, "MetadataRequest"),
        ..query(
            "workspaceMetadataPost",
            "The tables and their columns under their workspace names.",
            &["applications"],
            WORKSPACE_METADATA,
            |route| route.post(metadata::workspace_post),
        )
    },
];

/// Several queries of workspaces.
const BATCH: &[Operation] = &[Operation {
    method: "post",
    admission: Admission::SignedIn,
    body: json_body(true, "BatchRequest"),
    ..open(
        "batch",
        "Execute several Analytics queries of workspaces.",
        BATCH_REPLIES,
        |route| route.post(batch::post),
    )
}];
const BATCH_REPLIES: &[Reply] = &[ok("BatchReply", "A reply for each member, in their order.")];

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

/// Every route of the program.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    ROUTES
        .iter()
        .chain(OPEN_TELEMETRY)
        .chain(resource::ROUTES)
        .chain(kusto::ROUTES)
        .chain(management::ROUTES)
        .chain(oauth::ROUTES)
        .chain(portal::ROUTES)
}

/// Every route of the program in test mode.
pub(crate) fn of_test_mode() -> impl Iterator<Item = &'static Route> {
    all().chain(test_mode::ROUTES)
}

/// Telemetry, questions and the server itself.
static ROUTES: &[Route] = &[
    // Telemetry in. Exporters append their path to an endpoint that ends in a slash, which makes two.
    route("/v2/track", &[track("track")]),
    route("/v2.1/track", &[track("trackV21")]),
    alias("//v2/track", &[track("track")]),
    alias("//v2.1/track", &[track("trackV21")]),
    // What SDKs ask for beside it. Some append their path to an endpoint that ends in a slash.
    route(
        "/QuickPulseService.svc/ping",
        &[quick_pulse("livePing", sdk_ping)],
    ),
    route(
        "/QuickPulseService.svc/post",
        &[quick_pulse("livePost", sdk_post)],
    ),
    alias(
        "//QuickPulseService.svc/ping",
        &[quick_pulse("livePing", sdk_ping)],
    ),
    alias(
        "//QuickPulseService.svc/post",
        &[quick_pulse("livePost", sdk_post)],
    ),
    route("/api/profiles/{instrumentationKey}/appId", &[APP_ID]),
    alias("//api/profiles/{instrumentationKey}/appId", &[APP_ID]),
    route("/{version}/apps/{appId}/import", &[IMPORT]),
    // Questions in.
    route(
        "/{version}/apps/{appId}/query",
        &[
            query(
                "queryGet",
                "Execute an Analytics query.",
                &["query", "timespan", "applications"],
                RESULT,
                |route| route.get(super::query::get),
            ),
            Operation {
                method: "post",
                body: json_body(true, "QueryRequest"),
                ..query(
                    "queryPost",
                    "Execute an Analytics query.",
                    &["timespan", "applications"],
                    RESULT,
                    |route| route.post(super::query::post),
                )
            },
        ],
    ),
    route("/{version}/workspaces/{appId}/query", WORKSPACE_QUERY),
    alias("/workspaces/{appId}/query", WORKSPACE_QUERY),
    route("/{version}/$batch", BATCH),
    alias("/$batch", BATCH),
    route(
        "/{version}/apps/{appId}/metrics",
        &[Operation {
            method: "post",
            body: json_body(true, "MetricsRequest"),
            ..query(
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
        &[query(
            "metricGet",
            "Retrieve metric data for one metric.",
            METRIC,
            &[ok("MetricReply", "The metric's values.")],
            |route| route.get(metrics::get),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/{eventType}",
        &[query(
            "eventsGet",
            "Execute an OData query for events.",
            ODATA,
            EVENTS,
            |route| route.get(events::list),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/{eventType}/{eventId}",
        &[query(
            "eventGet",
            "Get an event.",
            &["timespan", "$format"],
            EVENTS,
            |route| route.get(events::single),
        )],
    ),
    route(
        "/{version}/apps/{appId}/live/metrics",
        &[query(
            "liveMetrics",
            "Watch the live metrics of an application as server-sent events.",
            &[],
            &[Reply {
                media: "text/event-stream",
                ..ok(
                    "LiveEvents",
                    "The samples of the last minute, then each as it comes.",
                )
            }],
            |route| route.get(live::metrics),
        )],
    ),
    // What can be asked.
    route(
        "/{version}/apps/{appId}/metrics/metadata",
        &[query(
            "metricsMetadata",
            "The metrics, with their aggregations and dimensions.",
            &[],
            &[ok("MetricsMetadata", "Metrics by id, dimensions by path.")],
            |route| route.get(metadata::metrics),
        )],
    ),
    route(
        "/{version}/apps/{appId}/events/$metadata",
        &[query(
            "eventsMetadata",
            "The model of events.",
            &[],
            MODEL,
            |route| route.get(metadata::events),
        )],
    ),
    // The address that the context of a single event names.
    route(
        "/{version}/apps/{appId}/events/{eventType}/$metadata",
        &[query(
            "eventMetadata",
            "The model of events.",
            &[],
            MODEL,
            |route| route.get(metadata::event),
        )],
    ),
    alias(
        "/{version}/apps/{appId}/events/{eventType}/%24metadata",
        &[query("eventMetadata", "", &[], &[], |route| {
            route.get(metadata::event)
        })],
    ),
    alias(
        "/{version}/apps/{appId}/events/%24metadata",
        &[query("eventsMetadata", "", &[], &[], |route| {
            route.get(metadata::events)
        })],
    ),
    route(
        "/{version}/apps/{appId}/query/schema",
        &[query(
            "querySchema",
            "The tables and their columns, as tables.",
            &[],
            SCHEMA,
            |route| route.get(metadata::schema),
        )],
    ),
    route(
        "/{version}/apps/{appId}/metadata",
        &[
            query(
                "metadataGet",
                "The tables and their columns.",
                &["applications"],
                METADATA,
                |route| route.get(metadata::get),
            ),
            Operation {
                method: "post",
                body: json_body(false, "MetadataRequest"),
                ..query(
                    "metadataPost",
                    "The tables and their columns.",
                    &["applications"],
                    METADATA,
                    |route| route.post(metadata::post),
                )
            },
        ],
    ),
    route(
        "/{version}/workspaces/{appId}/metadata",
        WORKSPACE_DESCRIPTION,
    ),
    alias("/workspaces/{appId}/metadata", WORKSPACE_DESCRIPTION),
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
        prometheus::PATH,
        &[Operation {
            admission: Admission::Figures,
            ..open(
                "figures",
                "The server's figures for Prometheus. The setting `prometheus.access` says for whom.",
                &[Reply {
                    media: "text/plain",
                    ..ok("Figures", "All of them.")
                }],
                |route| route.get(prometheus::render),
            )
        }],
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
