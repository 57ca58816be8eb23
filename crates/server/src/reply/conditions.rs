//! The replies that a client already has: `If-None-Match`.

use axum::http::{HeaderMap, HeaderValue, Method, header};

/// The replies that the caller has already (RFC 9110 §13.1.2); for GET and HEAD only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions(Vec<String>);

impl Conditions {
    /// Reads `If-None-Match`.
    pub(crate) fn read(method: &Method, headers: &HeaderMap) -> Conditions {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Conditions::default();
        }
        let values = headers.get_all(header::IF_NONE_MATCH).iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        Conditions(
            texts
                .flat_map(|text| text.split(','))
                .map(|tag| opaque(tag).to_owned())
                .collect(),
        )
    }

    /// Whether a reply with this tag would tell the caller nothing new. Tags are compared weakly.
    pub(super) fn already_has(&self, etag: &HeaderValue) -> bool {
        let etag = etag.to_str().map(opaque).unwrap_or_default();
        self.0.iter().any(|known| known == "*" || known == etag)
    }
}

/// A tag without its weakness.
fn opaque(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn tags_are_compared_weakly_and_only_where_nothing_is_changed() {
        let etag = HeaderValue::from_static("W/\"a\"");
        for (value, has) in [
            ("W/\"a\"", true),
            ("\"x\", \"a\"", true),
            ("*", true),
            ("\"A\"", false),
            ("", false),
        ] {
            let sent = headers("if-none-match", value);
            let read = |method| Conditions::read(&method, &sent).already_has(&etag);
            assert_eq!(read(Method::GET), has, "{value}");
            assert_eq!(read(Method::HEAD), has, "{value}");
            assert!(!read(Method::POST), "{value}");
        }
    }
}
