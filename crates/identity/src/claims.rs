//! Verifies the claims of a token (RFC 7519 §4.1, RFC 8725 §3.8 to §3.10).

use serde_json::Value;

use crate::jwt::TokenError;
use crate::right::{Right, Rights};

/// Tolerated clock skew, seconds.
const SKEW: i64 = 60;
/// The scope and role that lets a token read telemetry.
pub const READ_SCOPE: &str = "Data.Read";
/// The scope and role that lets a token send telemetry.
pub const WRITE_SCOPE: &str = "Data.Write";
/// The scope that lets the portal's tokens manage applications and keys, as far as the roles of the person do.
pub(crate) const MANAGE_SCOPE: &str = "Data.Manage";
/// The id of the portal's client. It is public and has one redirect address: `/portal/` of the origin by which the browser reaches
/// the server.
pub const PORTAL_CLIENT: &str = "hindsight-portal";
/// The scope of users' tokens that some clients ask for instead.
pub const USER_SCOPE: &str = "user_impersonation";

/// The expected claims.
#[derive(Debug)]
pub(crate) struct Expected<'e> {
    /// One of these, exactly.
    pub(crate) issuers: &'e [&'e str],
    /// One of these; a slash at the end does not count.
    pub(crate) audiences: &'e [String],
    /// Exactly this, where it is set.
    pub(crate) tenant: Option<&'e str>,
    /// Seconds since 1970.
    pub(crate) now: i64,
}

/// Checks issuer, audience, tenant and times.
pub(crate) fn check(claims: &Value, expected: &Expected<'_>) -> Result<(), TokenError> {
    let text = |name: &'static str| claims.get(name).and_then(Value::as_str);
    let issuer = text("iss").ok_or(TokenError::Missing("iss"))?;
    if !expected.issuers.contains(&issuer) {
        return Err(TokenError::Issuer);
    }
    let audience = claims.get("aud").ok_or(TokenError::Missing("aud"))?;
    if !list(audience).any(|audience| is_audience(audience, expected.audiences)) {
        return Err(TokenError::Audience);
    }
    if expected
        .tenant
        .is_some_and(|tenant| text("tid") != Some(tenant))
    {
        return Err(TokenError::Tenant);
    }
    let expires = time(claims, "exp")?.ok_or(TokenError::Missing("exp"))?;
    if expected.now >= expires.saturating_add(SKEW) {
        return Err(TokenError::Expired);
    }
    let begins = time(claims, "nbf")?.unwrap_or(i64::MIN);
    if expected.now < begins.saturating_sub(SKEW) {
        return Err(TokenError::NotYet);
    }
    Ok(())
}

/// Whether an audience is one of those; a slash at the end does not count.
pub(crate) fn is_audience(audience: &str, known: &[String]) -> bool {
    let bare = audience.trim_end_matches('/');
    known
        .iter()
        .any(|known| known.trim_end_matches('/') == bare)
}

/// The rights that a token itself grants at most: by scope for people (`scp`), by role for programs (`roles`).
pub(crate) fn rights(claims: &Value) -> Rights {
    let scopes = claims.get("scp").or_else(|| claims.get("scope"));
    let scopes = scopes
        .into_iter()
        .flat_map(list)
        .flat_map(|text| text.split(' '));
    let roles = claims.get("roles").into_iter().flat_map(list);
    let granted = |name: &str| match name {
        READ_SCOPE | USER_SCOPE => Rights::NONE.with(Right::Read),
        WRITE_SCOPE => Rights::NONE.with(Right::Ingest),
        _ => Rights::NONE,
    };
    scopes
        .map(granted)
        .chain(roles.filter(|role| *role != USER_SCOPE).map(granted))
        .fold(Rights::NONE, Rights::and)
}

/// The rights that one of the embedded issuer's tokens grants at most. Tokens of the portal alone may manage applications and keys.
pub(crate) fn own_rights(claims: &Value) -> Rights {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let scopes = text("scp").unwrap_or_default();
    let manages = scopes.split(' ').any(|scope| scope == MANAGE_SCOPE);
    if manages && text("appid") == Some(PORTAL_CLIENT) {
        rights(claims).with(Right::Admin)
    } else {
        rights(claims)
    }
}

/// A text, or each text of a list.
fn list(value: &Value) -> impl Iterator<Item = &str> {
    let many = value.as_array().into_iter().flatten();
    value
        .as_str()
        .into_iter()
        .chain(many.filter_map(Value::as_str))
}

/// A moment in seconds since 1970 (RFC 7519 §2, NumericDate).
fn time(claims: &Value, name: &'static str) -> Result<Option<i64>, TokenError> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    // What is far outside of any date saturates, which is early or late enough.
    let float = || value.as_f64().map(|seconds| seconds.floor() as i64);
    value
        .as_i64()
        .or_else(float)
        .map(Some)
        .ok_or(TokenError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DAY: i64 = 86_400;
    const NOW: i64 = 1_800_000_000;

    fn good() -> Value {
        json!({"iss": "https://idp/t/", "aud": "https://api", "tid": "t", "exp": NOW + 100, "nbf": NOW - 100})
    }

    fn verdict(change: impl FnOnce(&mut Value)) -> Result<(), TokenError> {
        let mut claims = good();
        change(&mut claims);
        let audiences = ["https://api/".to_owned(), "https://other".to_owned()];
        check(
            &claims,
            &Expected {
                issuers: &["https://idp/t/"],
                audiences: &audiences,
                tenant: Some("t"),
                now: NOW,
            },
        )
    }

    #[test]
    fn a_good_token_passes_with_and_without_the_slash() {
        assert_eq!(verdict(|_| ()), Ok(()));
        assert_eq!(verdict(|c| c["aud"] = json!("https://api/")), Ok(()));
        assert_eq!(
            verdict(|c| c["aud"] = json!(["x", "https://other"])),
            Ok(())
        );
        assert_eq!(verdict(|c| c["exp"] = json!(NOW as f64 + 0.5)), Ok(()));
    }

    #[test]
    fn each_wrong_claim_is_refused() {
        let remove = |name: &'static str| {
            move |c: &mut Value| {
                c.as_object_mut().unwrap().remove(name);
            }
        };
        assert_eq!(verdict(remove("iss")), Err(TokenError::Missing("iss")));
        assert_eq!(verdict(remove("aud")), Err(TokenError::Missing("aud")));
        assert_eq!(verdict(remove("exp")), Err(TokenError::Missing("exp")));
        assert_eq!(verdict(remove("tid")), Err(TokenError::Tenant));
        assert_eq!(verdict(remove("nbf")), Ok(()));
        assert_eq!(
            verdict(|c| c["iss"] = json!("https://idp/t")),
            Err(TokenError::Issuer)
        );
        assert_eq!(
            verdict(|c| c["aud"] = json!("https://api.evil")),
            Err(TokenError::Audience)
        );
        assert_eq!(verdict(|c| c["aud"] = json!([])), Err(TokenError::Audience));
        assert_eq!(verdict(|c| c["tid"] = json!("u")), Err(TokenError::Tenant));
        assert_eq!(
            verdict(|c| c["exp"] = json!("soon")),
            Err(TokenError::Malformed)
        );
    }

    #[test]
    fn clocks_may_differ_by_seconds_but_not_by_a_day() {
        assert_eq!(verdict(|c| c["exp"] = json!(NOW - 5)), Ok(()));
        assert_eq!(
            verdict(|c| c["exp"] = json!(NOW - DAY)),
            Err(TokenError::Expired)
        );
        assert_eq!(verdict(|c| c["nbf"] = json!(NOW + 5)), Ok(()));
        assert_eq!(
            verdict(|c| c["nbf"] = json!(NOW + DAY)),
            Err(TokenError::NotYet)
        );
        for (exp, nbf, expected) in [
            (NOW - SKEW + 1, NOW + SKEW, Ok(())),
            (NOW - SKEW, NOW, Err(TokenError::Expired)),
            (NOW, NOW + SKEW + 1, Err(TokenError::NotYet)),
        ] {
            let found = verdict(|c| (c["exp"], c["nbf"]) = (json!(exp), json!(nbf)));
            assert_eq!(found, expected, "{exp} {nbf}");
        }
    }

    #[test]
    fn scopes_and_roles_grant_rights() {
        let check = |claims: Value, expected: &str| {
            assert_eq!(rights(&claims).text(), expected, "{claims}")
        };
        check(json!({"scp": "openid Data.Read"}), "read");
        check(json!({"scp": "user_impersonation"}), "read");
        check(json!({"roles": ["Data.Read", "Data.Write"]}), "read,ingest");
        check(json!({"scope": "Data.Read"}), "read");
        check(json!({"scp": "Data.ReadWrite data.read"}), "");
        check(json!({"roles": ["user_impersonation"]}), "");
        check(json!({}), "");
    }

    #[test]
    fn the_portal_alone_may_manage() {
        let check = |claims: Value, expected: &str| {
            assert_eq!(own_rights(&claims).text(), expected, "{claims}");
            assert!(!rights(&claims).may(Right::Admin), "{claims}");
        };
        let scopes = "Data.Read Data.Manage";
        check(json!({"scp": scopes, "appid": PORTAL_CLIENT}), "read,admin");
        check(json!({"scp": scopes, "appid": "another"}), "read");
        check(json!({"scp": scopes}), "read");
        check(json!({"scp": "Data.Read", "appid": PORTAL_CLIENT}), "read");
        check(
            json!({"roles": ["Data.Manage"], "appid": PORTAL_CLIENT}),
            "",
        );
    }
}
