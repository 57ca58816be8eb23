//! The portal's addresses.

use hindsight_identity::Right;

use super::super::route::{
    Add, Admission, Operation, Reply, Route, alias, json_body, ok, open, route,
};
use super::{apps, check, keys, language, me, pages, saved, session, tail};

const PAGE: &[Reply] = &[Reply {
    media: "text/html",
    ..ok("Page", "The page.")
}];
const DONE: &[Reply] = &[Reply {
    status: 204,
    media: "",
    schema: "",
    description: "It is done.",
}];

/// A GET that needs a right on the application of the path.
const fn about(
    right: Right,
    id: &'static str,
    summary: &'static str,
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        admission: Admission::Portal(right),
        ..open(id, summary, replies, add)
    }
}

/// A GET for every credential.
const fn signed_in(
    id: &'static str,
    summary: &'static str,
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        admission: Admission::SignedIn,
        ..open(id, summary, replies, add)
    }
}

/// The pages.
const SHOWN: &[Operation] = &[open("portal", "The portal's page.", PAGE, |r| {
    r.get(pages::any)
})];

/// All of the portal's addresses.
pub(in super::super) static ROUTES: &[Route] = &[
    route(
        "/portal/",
        &[open("portal", "The portal's page.", PAGE, |r| {
            r.get(pages::index)
        })],
    ),
    alias(
        "/portal",
        &[open("portal", "The portal's page.", PAGE, |r| {
            r.get(pages::root)
        })],
    ),
    alias("/portal/{*path}", SHOWN),
    route(
        "/docs",
        &[open(
            "docs",
            "The reference of this API as a page.",
            PAGE,
            |r| r.get(pages::docs),
        )],
    ),
    route(
        "/portal/session",
        &[Operation {
            method: "post",
            admission: Admission::Link,
            body: json_body(true, "PortalLink"),
            ..open(
                "portalSession",
                "Sign the owner of this machine in, by the secret of a printed link.",
                DONE,
                |r| r.post(session::begin),
            )
        }],
    ),
    route(
        "/portal/api/sign-out",
        &[Operation {
            method: "post",
            ..signed_in(
                "portalSignOut",
                "Revoke the tokens of this sign-in, and end the session of the browser.",
                DONE,
                |r| r.post(session::end),
            )
        }],
    ),
    route(
        "/portal/api/link",
        &[Operation {
            method: "post",
            ..signed_in(
                "portalLink",
                "A link that signs the owner of this machine in, good once and for ten minutes.",
                &[ok("PortalLink", "The secret of the link.")],
                |r| r.post(session::link),
            )
        }],
    ),
    route(
        "/portal/api/me",
        &[signed_in(
            "portalMe",
            "The principal, and its rights on every application.",
            &[ok("PortalMe", "Name and rights.")],
            |r| r.get(me::me),
        )],
    ),
    route(
        "/portal/api/language",
        &[signed_in(
            "portalLanguage",
            "The functions, operators and plug-ins of queries, and what is refused.",
            &[ok(
                "PortalLanguage",
                "Sections of entries, and refused names.",
            )],
            |r| r.get(language::language),
        )],
    ),
    route(
        "/portal/api/apps",
        &[
            signed_in(
                "portalApps",
                "The applications that one may read or send telemetry to.",
                &[ok("PortalApps", "The applications by name.")],
                |r| r.get(apps::list),
            ),
            Operation {
                method: "post",
                body: json_body(true, "PortalNewApp"),
                ..signed_in(
                    "portalCreateApp",
                    "Create an application.",
                    &[ok("PortalApp", "The application.")],
                    |r| r.post(apps::create),
                )
            },
        ],
    ),
    route(
        "/portal/api/apps/{appId}",
        &[Operation {
            method: "put",
            body: json_body(true, "PortalAppLimits"),
            ..about(
                Right::Admin,
                "portalChangeApp",
                "Set the pricing tier, the daily cap and the retention of an application.",
                &[ok("PortalApp", "The application.")],
                |r| r.put(apps::change),
            )
        }],
    ),
    route(
        "/portal/api/apps/{appId}/keys",
        &[
            about(
                Right::Admin,
                "portalKeys",
                "The API keys of an application, without their secrets.",
                &[ok("PortalKeys", "The keys, oldest first.")],
                |r| r.get(keys::list),
            ),
            Operation {
                method: "post",
                body: json_body(true, "PortalNewKey"),
                ..about(
                    Right::Admin,
                    "portalCreateKey",
                    "Create an API key. This reply alone has it.",
                    &[ok("PortalCreatedKey", "The key.")],
                    |r| r.post(keys::create),
                )
            },
        ],
    ),
    route(
        "/portal/api/apps/{appId}/keys/{keyId}",
        &[Operation {
            method: "delete",
            ..about(
                Right::Admin,
                "portalDeleteKey",
                "Delete an API key. It is refused within a second.",
                DONE,
                |r| r.delete(keys::delete),
            )
        }],
    ),
    route(
        "/portal/api/apps/{appId}/queries",
        &[about(
            Right::Read,
            "portalQueries",
            "The saved queries of an application.",
            &[ok("PortalQueries", "The queries by name.")],
            |r| r.get(saved::queries),
        )],
    ),
    route(
        "/portal/api/apps/{appId}/queries/{queryName}",
        &[
            Operation {
                method: "put",
                parameters: &["If-Match", "newOnly"],
                body: json_body(true, "PortalSaveQuery"),
                ..about(
                    Right::Read,
                    "portalSaveQuery",
                    "Save a query, or change the version that If-Match names.",
                    &[ok("PortalQuery", "The saved query.")],
                    |r| r.put(saved::put_query),
                )
            },
            Operation {
                method: "delete",
                parameters: &["If-Match"],
                ..about(
                    Right::Read,
                    "portalDeleteQuery",
                    "Delete the version of a saved query that If-Match names.",
                    DONE,
                    |r| r.delete(saved::delete_query),
                )
            },
        ],
    ),
    route(
        "/portal/api/apps/{appId}/workbooks",
        &[about(
            Right::Read,
            "portalWorkbooks",
            "The saved workbooks of an application.",
            &[ok(
                "PortalWorkbooks",
                "The workbooks by name, without their documents.",
            )],
            |r| r.get(saved::workbooks),
        )],
    ),
    route(
        "/portal/api/apps/{appId}/workbooks/{workbookName}",
        &[
            about(
                Right::Read,
                "portalWorkbook",
                "A saved workbook.",
                &[ok(
                    "PortalQuery",
                    "The workbook; its text is the JSON document.",
                )],
                |r| r.get(saved::workbook),
            ),
            Operation {
                method: "put",
                parameters: &["If-Match", "newOnly"],
                body: json_body(true, "PortalSaveQuery"),
                ..about(
                    Right::Read,
                    "portalSaveWorkbook",
                    "Save a workbook, or change the version that If-Match names.",
                    &[ok("PortalQuery", "The saved workbook.")],
                    |r| r.put(saved::put_workbook),
                )
            },
            Operation {
                method: "delete",
                parameters: &["If-Match"],
                ..about(
                    Right::Read,
                    "portalDeleteWorkbook",
                    "Delete the version of a saved workbook that If-Match names.",
                    DONE,
                    |r| r.delete(saved::delete_workbook),
                )
            },
        ],
    ),
    route(
        "/portal/api/apps/{appId}/check",
        &[Operation {
            method: "post",
            body: json_body(true, "PortalQuestion"),
            ..about(
                Right::Read,
                "portalCheck",
                "Check a query without running it.",
                &[ok(
                    "PortalChecked",
                    "Its errors with their places, or the columns of its results.",
                )],
                |r| r.post(check::check),
            )
        }],
    ),
    route(
        "/portal/api/apps/{appId}/tail",
        &[Operation {
            method: "post",
            body: json_body(false, "PortalTail"),
            ..about(
                Right::Read,
                "portalTail",
                "Items as they arrive, one line of JSON each.",
                &[Reply {
                    media: "application/x-ndjson",
                    ..ok(
                        "PortalTailLine",
                        "A line for each item, and one for what was left out.",
                    )
                }],
                |r| r.post(tail::tail),
            )
        }],
    ),
];
