//! The issuer's addresses, in both versions.

use super::super::route::{Admission, Operation, Reply, RequestBody, Route, ok, open, route};
use super::{authorize, device, discovery, token};
use crate::app::App;

type Add = fn(
    axum::routing::MethodRouter<std::sync::Arc<App>>,
) -> axum::routing::MethodRouter<std::sync::Arc<App>>;

/// What a client asks a person for, in the address.
const AUTHORIZE: &[&str] = &[
    "client_id",
    "response_type",
    "redirect_uri",
    "response_mode",
    "resource",
    "scope",
    "state",
    "nonce",
    "prompt",
    "max_age",
    "login_hint",
    "code_challenge",
    "code_challenge_method",
];

const PAGE: Reply = Reply {
    media: "text/html",
    ..ok("Page", "A page for a person.")
};
const PAGES: &[Reply] = &[PAGE];
const PAGE_OR_BACK: &[Reply] = &[
    PAGE,
    Reply {
        status: 303,
        media: "",
        schema: "",
        description: "Back to the client, with a code, a token or an error.",
    },
];

/// A form of the fields that a schema names.
const fn form(schema: &'static str) -> Option<RequestBody> {
    Some(RequestBody {
        required: true,
        media: &["application/x-www-form-urlencoded"],
        schema,
    })
}

/// What a program posts.
const fn posted(
    id: &'static str,
    summary: &'static str,
    body: &'static str,
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        method: "post",
        admission: Admission::Program,
        body: form(body),
        ..open(id, summary, replies, add)
    }
}

/// A page.
const fn shown(
    id: &'static str,
    summary: &'static str,
    parameters: &'static [&'static str],
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        admission: Admission::Person,
        parameters,
        ..open(id, summary, replies, add)
    }
}

/// A page's form.
const fn filled_in(
    id: &'static str,
    summary: &'static str,
    parameters: &'static [&'static str],
    body: &'static str,
    replies: &'static [Reply],
    add: Add,
) -> Operation {
    Operation {
        method: "post",
        body: form(body),
        ..shown(id, summary, parameters, replies, add)
    }
}

const fn failed(status: u16, description: &'static str) -> Reply {
    Reply {
        status,
        ..ok("OAuthError", description)
    }
}

const NO_TENANT: Reply = failed(400, "There is no such tenant.");
const FAILED: Reply = failed(500, "The server failed; its log says why.");
const CONFIGURATION: &[Reply] = &[ok("OpenIdConfiguration", "The document."), NO_TENANT];
const KEYS: &[Reply] = &[ok("JsonWebKeys", "The keys."), NO_TENANT, FAILED];
const INSTANCE: &[Reply] = &[
    ok("Instance", "It is."),
    failed(400, "The authority is not this directory."),
];
const USER_INFO: &[Reply] = &[
    ok("UserInfo", "Who the person is."),
    Reply {
        status: 401,
        ..ok("Error", "The token of a user is missing or not valid.")
    },
    Reply {
        status: 503,
        ..ok("Error", "The server cannot judge tokens at the moment.")
    },
];

const AUTHORIZE_SUMMARY: &str = "Let a person sign in, and send them back to the client.";
const SIGN_IN_SUMMARY: &str = "Name and password, from the sign-in page.";
const SIGN_OUT_SUMMARY: &str = "End the browser's session.";
const TOKEN_SUMMARY: &str = "Get a token, for a code, a refresh token, a device or a secret.";
const DEVICE_SUMMARY: &str = "Begin the sign-in of a device.";
const DISCOVERY_SUMMARY: &str = "Where the issuer's addresses are and what it can do.";
const KEYS_SUMMARY: &str = "The public keys that tokens are signed with.";
const USER_INFO_SUMMARY: &str = "Who the person of an access token is.";

/// All of the issuer's addresses.
pub(in super::super) static ROUTES: &[Route] = &[
    route(
        "/{tenant}/oauth2/authorize",
        &[
            shown(
                "authorize",
                AUTHORIZE_SUMMARY,
                AUTHORIZE,
                PAGE_OR_BACK,
                |r| r.get(authorize::authorize_v1),
            ),
            filled_in(
                "authorizePost",
                AUTHORIZE_SUMMARY,
                &[],
                "AuthorizeForm",
                PAGE_OR_BACK,
                |r| r.post(authorize::post_authorize_v1),
            ),
        ],
    ),
    route(
        "/{tenant}/oauth2/v2.0/authorize",
        &[
            shown(
                "authorizeV2",
                AUTHORIZE_SUMMARY,
                AUTHORIZE,
                PAGE_OR_BACK,
                |r| r.get(authorize::authorize_v2),
            ),
            filled_in(
                "authorizePostV2",
                AUTHORIZE_SUMMARY,
                &[],
                "AuthorizeForm",
                PAGE_OR_BACK,
                |r| r.post(authorize::post_authorize_v2),
            ),
        ],
    ),
    route(
        "/{tenant}/oauth2/signin",
        &[filled_in(
            "signIn",
            SIGN_IN_SUMMARY,
            AUTHORIZE,
            "SignInForm",
            PAGE_OR_BACK,
            |r| r.post(authorize::sign_in_v1),
        )],
    ),
    route(
        "/{tenant}/oauth2/v2.0/signin",
        &[filled_in(
            "signInV2",
            SIGN_IN_SUMMARY,
            AUTHORIZE,
            "SignInForm",
            PAGE_OR_BACK,
            |r| r.post(authorize::sign_in_v2),
        )],
    ),
    route(
        "/{tenant}/oauth2/logout",
        &[
            shown("askSignOut", SIGN_OUT_SUMMARY, &[], PAGES, |r| {
                r.get(authorize::sign_out)
            }),
            filled_in(
                "signOut",
                SIGN_OUT_SUMMARY,
                &[],
                "SignOutForm",
                PAGES,
                |r| r.post(authorize::sign_out),
            ),
        ],
    ),
    route(
        "/{tenant}/oauth2/v2.0/logout",
        &[
            shown("askSignOutV2", SIGN_OUT_SUMMARY, &[], PAGES, |r| {
                r.get(authorize::sign_out)
            }),
            filled_in(
                "signOutV2",
                SIGN_OUT_SUMMARY,
                &[],
                "SignOutForm",
                PAGES,
                |r| r.post(authorize::sign_out),
            ),
        ],
    ),
    route(
        "/{tenant}/oauth2/token",
        &[posted(
            "token",
            TOKEN_SUMMARY,
            "TokenRequest",
            &[ok("TokenReply", "The token. Numbers are texts.")],
            |r| r.post(token::token_v1),
        )],
    ),
    route(
        "/{tenant}/oauth2/v2.0/token",
        &[posted(
            "tokenV2",
            TOKEN_SUMMARY,
            "TokenRequest",
            &[ok("TokenReplyV2", "The token.")],
            |r| r.post(token::token_v2),
        )],
    ),
    route(
        "/{tenant}/oauth2/devicecode",
        &[posted(
            "deviceCode",
            DEVICE_SUMMARY,
            "DeviceRequest",
            &[ok(
                "DeviceReply",
                "What the device shows. Numbers are texts.",
            )],
            |r| r.post(token::device_code_v1),
        )],
    ),
    route(
        "/{tenant}/oauth2/v2.0/devicecode",
        &[posted(
            "deviceCodeV2",
            DEVICE_SUMMARY,
            "DeviceRequest",
            &[ok("DeviceReplyV2", "What the device shows.")],
            |r| r.post(token::device_code_v2),
        )],
    ),
    route(
        "/devicelogin",
        &[
            shown(
                "deviceLogin",
                "Where a person types a device's code in.",
                &[],
                PAGES,
                |r| r.get(device::device_page),
            ),
            filled_in(
                "deviceDecision",
                "A device's code, then the decision.",
                &[],
                "DeviceForm",
                PAGES,
                |r| r.post(device::device_post),
            ),
        ],
    ),
    route(
        "/{tenant}/.well-known/openid-configuration",
        &[open(
            "configuration",
            DISCOVERY_SUMMARY,
            CONFIGURATION,
            |r| r.get(discovery::configuration_v1),
        )],
    ),
    route(
        "/{tenant}/v2.0/.well-known/openid-configuration",
        &[open(
            "configurationV2",
            DISCOVERY_SUMMARY,
            CONFIGURATION,
            |r| r.get(discovery::configuration_v2),
        )],
    ),
    route(
        "/{tenant}/openid/userinfo",
        &[
            Operation {
                admission: Admission::Bearer,
                ..open("userInfo", USER_INFO_SUMMARY, USER_INFO, |r| {
                    r.get(discovery::user_info)
                })
            },
            Operation {
                method: "post",
                admission: Admission::Bearer,
                ..open("userInfoPost", USER_INFO_SUMMARY, USER_INFO, |r| {
                    r.post(discovery::user_info)
                })
            },
        ],
    ),
    route(
        "/{tenant}/discovery/keys",
        &[open("keys", KEYS_SUMMARY, KEYS, |r| r.get(discovery::keys))],
    ),
    route(
        "/{tenant}/discovery/v2.0/keys",
        &[open("keysV2", KEYS_SUMMARY, KEYS, |r| {
            r.get(discovery::keys)
        })],
    ),
    route(
        "/{tenant}/discovery/instance",
        &[Operation {
            parameters: &["authorization_endpoint", "api-version"],
            ..open(
                "instance",
                "Whether an authority is this directory.",
                INSTANCE,
                |r| r.get(discovery::instance),
            )
        }],
    ),
];
