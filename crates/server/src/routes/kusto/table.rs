//! The routes of the Kusto protocol.

use super::super::route::{Admission, Operation, Reply, Route, json_body, ok, open, route};
use super::{authentication, management, query};

const DATA_SET: &[Reply] = &[ok("KustoDataSet", "The tables.")];
const FRAMES: &[Reply] = &[ok("KustoFrames", "The frames of the data set.")];
const ADDRESSES: &[Reply] = &[ok("KustoAuthentication", "The addresses.")];

/// All of them.
pub(in crate::routes) static ROUTES: &[Route] = &[
    route(
        "/v1/rest/auth/metadata",
        &[open(
            "kustoAuthentication",
            "Where clients of the Kusto protocol sign in.",
            ADDRESSES,
            |route| route.get(authentication),
        )],
    ),
    route(
        "/v1/rest/mgmt",
        &[Operation {
            method: "post",
            admission: Admission::Kusto,
            body: json_body(true, "KustoRequest"),
            ..open(
                "kustoManagement",
                "Execute a management command of the Kusto protocol that reads.",
                DATA_SET,
                |route| route.post(management::post),
            )
        }],
    ),
    route(
        "/v1/rest/query",
        &[Operation {
            method: "post",
            admission: Admission::Kusto,
            body: json_body(true, "KustoRequest"),
            ..open(
                "kustoQueryV1",
                "Execute a query or a management command of the Kusto protocol.",
                DATA_SET,
                |route| route.post(query::v1),
            )
        }],
    ),
    route(
        "/v2/rest/query",
        &[Operation {
            method: "post",
            admission: Admission::Kusto,
            body: json_body(true, "KustoRequest"),
            ..open(
                "kustoQueryV2",
                "Execute a query of the Kusto protocol; the reply is an array of frames.",
                FRAMES,
                |route| route.post(query::v2),
            )
        }],
    ),
];
