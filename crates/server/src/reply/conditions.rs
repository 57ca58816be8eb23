//! What a request says of the reply that it would take: `Accept`, `If-None-Match`.

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

/// The media types that the caller takes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accept(Vec<String>);

impl Accept {
    /// Reads `Accept`.
    pub(crate) fn read(headers: &HeaderMap) -> Accept {
        let values = headers.get_all(header::ACCEPT).iter();
        let texts = values.map(|value| value.to_str().unwrap_or_default());
        let ranges = texts.flat_map(|text| text.split(',')).map(str::trim);
        Accept(
            ranges
                .filter(|range| !range.is_empty())
                .map(str::to_ascii_lowercase)
                .collect(),
        )
    }

    /// Whether a reply of this type, such as `application/json`, is permitted. The most specific range that fits decides
    /// (RFC 9110 §12.5.1); without the header everything is permitted. Parameters of ranges are not compared: clients
    /// write `application/json;odata.metadata=none` for what they would take anyway.
    pub(crate) fn permits(&self, media: &str) -> bool {
        let family = media.split('/').next().unwrap_or_default();
        let fitting = |range: &String| {
            let mut parts = range.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let fits = match name {
                "*/*" | "*" => 1,
                _ if name.strip_suffix("/*") == Some(family) => 2,
                _ if name == media => 3,
                _ => return None,
            };
            Some((fits, weight(parts)))
        };
        let best = self
            .0
            .iter()
            .filter_map(fitting)
            .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.0.is_empty() || best.is_some_and(|(_, weight)| weight > 0.0)
    }
}

/// `q=0.5`; 1 where nothing is said, or nothing that is a number.
fn weight<'t>(mut parameters: impl Iterator<Item = &'t str>) -> f64 {
    let q = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "q").then(|| value.trim())
    });
    q.and_then(|text| text.parse().ok()).unwrap_or(1.0)
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

    #[test]
    fn the_most_specific_range_decides() {
        for (value, json) in [
            ("*/*", true),
            ("application/*", true),
            ("application/json;odata.metadata=none", true),
            ("text/html, application/xhtml+xml, */*;q=0.8", true),
            ("Application/JSON; Q=0.1", true),
            ("text/html", false),
            ("application/json;q=0, */*", false),
            ("image/*", false),
            ("application/json;q=much", true),
        ] {
            let sent = headers("accept", value);
            let accept = Accept::read(&sent);
            assert_eq!(accept.permits("application/json"), json, "{value}");
        }
        assert!(Accept::default().permits("application/xml"));
    }
}
