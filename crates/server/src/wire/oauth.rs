//! The issuer's JSON: version 1 writes numbers as texts, version 2 as numbers (`docs/api-facts.md §8`).

use hindsight_identity::issuer::{DeviceReply, Issuer, OAuthError, TokenReply, TokenType, Version};
use hindsight_identity::{READ_SCOPE, USER_SCOPE, WRITE_SCOPE};
use serde_json::{Map, Value, json};

/// A number in the form of a version.
fn number(value: i64, version: Version) -> Value {
    match version {
        Version::V1 => value.to_string().into(),
        Version::V2 => value.into(),
    }
}

/// A token's reply.
pub(crate) fn token(reply: &TokenReply, version: Version) -> Value {
    let mut out = Map::new();
    let mut set = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    let token_type = match reply.token_type {
        TokenType::Lower => "bearer",
        TokenType::Upper => "Bearer",
    };
    set("token_type", token_type.into());
    if let Some(scope) = &reply.scope {
        let named = match version {
            Version::V1 => scope.clone(),
            Version::V2 => named_scopes(reply, scope),
        };
        set("scope", named.into());
    }
    set("expires_in", number(reply.expires_in, version));
    set("ext_expires_in", number(reply.expires_in, version));
    if version == Version::V1 {
        set("expires_on", number(reply.expires_on, version));
        set("not_before", number(reply.not_before, version));
        set("resource", reply.resource.clone().into());
    }
    set("access_token", reply.access_token.clone().into());
    let optional = [
        ("refresh_token", &reply.refresh_token),
        ("id_token", &reply.id_token),
        ("client_info", &reply.client_info),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            set(name, value.clone().into());
        }
    }
    Value::Object(out)
}

/// Version 2 names a scope with its resource before it, and OpenID's as they are.
fn named_scopes(reply: &TokenReply, scope: &str) -> String {
    let resource = reply.resource.trim_end_matches('/');
    let named = scope.split(' ').map(|name| match name {
        READ_SCOPE | WRITE_SCOPE | USER_SCOPE => format!("{resource}/{name}"),
        other => other.to_owned(),
    });
    let mut names: Vec<String> = named.collect();
    if reply.id_token.is_some() {
        names.extend(["openid", "profile"].map(str::to_owned));
    }
    names.dedup();
    names.join(" ")
}

/// What a device is told.
pub(crate) fn device(reply: &DeviceReply, version: Version) -> Value {
    let count = |value: u64| number(i64::try_from(value).unwrap_or(i64::MAX), version);
    let place = match version {
        Version::V1 => "verification_url",
        Version::V2 => "verification_uri",
    };
    json!({
        "user_code": reply.user_code,
        "device_code": reply.device_code,
        place: reply.verification_url,
        "expires_in": count(reply.expires_in),
        "interval": count(reply.interval),
        "message": reply.message,
    })
}

/// An error's body. `now` is the time as text.
pub(crate) fn error(error: &OAuthError, trace: &str, correlation: &str, now: &str) -> Value {
    json!({
        "error": error.error,
        "error_description": format!(
            "AADSTS{}: {}\r\nTrace ID: {trace}\r\nCorrelation ID: {correlation}\r\nTimestamp: {now}",
            error.code(), error.message
        ),
        "error_codes": error.codes,
        "timestamp": now,
        "trace_id": trace,
        "correlation_id": correlation,
    })
}

/// The discovery document of a version (OpenID Connect Discovery §3).
pub(crate) fn discovery(issuer: &Issuer, version: Version, implicit: bool) -> Value {
    let (base, tenant) = (issuer.base(), issuer.tenant());
    let root = format!("{base}/{tenant}");
    let (oauth, keys) = match version {
        Version::V1 => (format!("{root}/oauth2"), format!("{root}/discovery/keys")),
        Version::V2 => (
            format!("{root}/oauth2/v2.0"),
            format!("{root}/discovery/v2.0/keys"),
        ),
    };
    let responses: &[&str] = if implicit {
        &["code", "token"]
    } else {
        &["code"]
    };
    json!({
        "issuer": issuer.name(version),
        "authorization_endpoint": format!("{oauth}/authorize"),
        "token_endpoint": format!("{oauth}/token"),
        "device_authorization_endpoint": format!("{oauth}/devicecode"),
        "end_session_endpoint": format!("{oauth}/logout"),
        "jwks_uri": keys,
        "userinfo_endpoint": issuer.user_info_address(),
        "response_types_supported": responses,
        "response_modes_supported": ["query", "fragment", "form_post"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"
        ],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "claims_supported": [
            "sub", "iss", "aud", "exp", "iat", "nbf", "auth_time", "nonce", "name", "preferred_username", "oid", "tid"
        ],
        "authorization_response_iss_parameter_supported": true,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "claims_parameter_supported": false,
        "http_logout_supported": false,
        "tenant_region_scope": null,
        "cloud_instance_name": host(&base),
    })
}

/// Which addresses mean this directory, for clients that ask before they trust one.
pub(crate) fn instance(issuer: &Issuer) -> Value {
    let base = issuer.base();
    let host = host(&base);
    json!({
        "tenant_discovery_endpoint": format!("{base}/{}/v2.0/.well-known/openid-configuration", issuer.tenant()),
        "api-version": "1.1",
        "metadata": [{ "preferred_network": host, "preferred_cache": host, "aliases": [host] }],
    })
}

/// Host and port of an address.
pub(crate) fn host(base: &str) -> &str {
    base.split_once("://").map_or(base, |(_, host)| host)
}
