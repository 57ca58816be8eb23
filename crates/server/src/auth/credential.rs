//! The credential of a request: found, not judged.
//!
//! The order is `X-Api-Key`, `Authorization`, `api_key`; the first that is present counts alone (`D4`).

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The header of API keys.
const API_KEY_HEADER: &str = "x-api-key";
/// The query parameter of API keys.
const API_KEY_PARAMETER: &str = "api_key";

/// What a request shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// Nothing, or an empty field: 401.
    Absent,
    /// An API key, whether good or not.
    Key(String),
    /// A bearer token.
    Bearer(String),
    /// A header that cannot be read at all: 401.
    Malformed,
    /// The same header twice: 400, because two readers could choose differently.
    Repeated(&'static str),
}

/// The credential of a request.
pub(crate) fn find(headers: &HeaderMap, uri: &Uri) -> Credential {
    match single(headers, API_KEY_HEADER) {
        Err(repeated) => return repeated,
        Ok(Some(Err(()))) => return Credential::Malformed,
        Ok(Some(Ok(key))) => return key_or_absent(key),
        Ok(None) => {}
    }
    match single(headers, AUTHORIZATION.as_str()) {
        Err(repeated) => return repeated,
        Ok(Some(Err(()))) => return Credential::Malformed,
        Ok(Some(Ok(value))) => return authorization(value),
        Ok(None) => {}
    }
    parameter(uri)
}

/// The one value of a header: its text, or `Err` where it is no text.
fn single<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<Option<Result<&'h str, ()>>, Credential> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Credential::Repeated(name));
    }
    Ok(first.map(|value| value.to_str().map_err(|_| ())))
}

fn key_or_absent(key: &str) -> Credential {
    match key.trim() {
        "" => Credential::Absent,
        key => Credential::Key(key.to_owned()),
    }
}

fn authorization(value: &str) -> Credential {
    let (scheme, rest) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" if rest.trim().is_empty() => Credential::Absent,
        "bearer" => Credential::Bearer(rest.trim().to_owned()),
        "basic" => basic(rest.trim()),
        _ => Credential::Malformed,
    }
}

/// The key is the user name, or the password where there is no user name.
fn basic(encoded: &str) -> Credential {
    let Some(text) = STANDARD
        .decode(encoded)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
    else {
        return Credential::Malformed;
    };
    let Some((user, password)) = text.split_once(':') else {
        return Credential::Malformed;
    };
    key_or_absent(if user.is_empty() { password } else { user })
}

fn parameter(uri: &Uri) -> Credential {
    let mut values = crate::params::pairs(uri.query().unwrap_or_default())
        .filter(|(name, _)| name == API_KEY_PARAMETER);
    match (values.next(), values.next()) {
        (Some(_), Some(_)) => Credential::Repeated(API_KEY_PARAMETER),
        (Some((_, key)), None) => key_or_absent(&key),
        _ => Credential::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn check(headers: &[(&'static str, &str)], uri: &str, expected: Credential) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        assert_eq!(
            find(&map, &uri.parse().unwrap()),
            expected,
            "{headers:?} {uri}"
        );
    }

    fn key(text: &str) -> Credential {
        Credential::Key(text.to_owned())
    }

    fn basic_header(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn a_key_is_found_in_each_place() {
        check(&[("x-api-key", "k")], "/", key("k"));
        check(
            &[("X-API-KEY".to_ascii_lowercase().leak(), "k")],
            "/",
            key("k"),
        );
        check(&[("authorization", &basic_header("k:"))], "/", key("k"));
        check(&[("authorization", &basic_header(":k"))], "/", key("k"));
        check(
            &[("authorization", "Bearer t")],
            "/",
            Credential::Bearer("t".to_owned()),
        );
        check(&[], "/?a=1&api_key=k%5F1", key("k_1"));
    }

    #[test]
    fn the_user_name_wins_over_the_password() {
        check(
            &[("authorization", &basic_header("user:pass"))],
            "/",
            key("user"),
        );
        check(&[("authorization", &basic_header(":a:b"))], "/", key("a:b"));
    }

    #[test]
    fn of_several_credentials_the_first_in_order_counts_alone() {
        check(
            &[("x-api-key", "h"), ("authorization", &basic_header("b:"))],
            "/?api_key=q",
            key("h"),
        );
        check(
            &[("authorization", &basic_header("b:"))],
            "/?api_key=q",
            key("b"),
        );
    }

    #[test]
    fn empty_credentials_are_none() {
        check(&[("x-api-key", "")], "/", Credential::Absent);
        check(&[("authorization", "Basic Og==")], "/", Credential::Absent);
        check(&[("authorization", "Bearer ")], "/", Credential::Absent);
        check(&[], "/?api_key=", Credential::Absent);
        check(&[], "/", Credential::Absent);
    }

    #[test]
    fn unreadable_and_repeated_credentials_are_named_so() {
        check(
            &[("authorization", "Basic ???")],
            "/",
            Credential::Malformed,
        );
        check(
            &[("authorization", "Negotiate x")],
            "/",
            Credential::Malformed,
        );
        check(
            &[("x-api-key", "a"), ("x-api-key", "b")],
            "/",
            Credential::Repeated("x-api-key"),
        );
        check(
            &[],
            "/?api_key=a&api_key=b",
            Credential::Repeated("api_key"),
        );
    }
}
