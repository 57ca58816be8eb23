//! `Cache-Control` of requests and `Age` of replies (`D18`).

use axum::http::{HeaderMap, HeaderValue, header};
use hindsight_engine::CacheControl;

/// The directives that count. Unknown ones are ignored, names are case-insensitive.
pub(crate) fn read(headers: &HeaderMap) -> CacheControl {
    let mut control = CacheControl::default();
    let values = headers
        .get_all(header::CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok());
    for directive in values.flat_map(|value| value.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-cache" => control.bypass = true,
            "no-store" => {
                control.bypass = true;
                control.no_store = true;
            }
            "max-age" => {
                control.max_age = value
                    .trim()
                    .trim_matches('"')
                    .parse()
                    .ok()
                    .or(control.max_age)
            }
            _ => {}
        }
    }
    control
}

/// Says whose reply it is and how old.
pub(crate) fn write(headers: &mut HeaderMap, age: Option<u64>) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    let vary = match age {
        Some(_) => "Authorization, X-Api-Key, Accept-Encoding",
        None => "Authorization, X-Api-Key, Accept, Accept-Encoding",
    };
    headers.insert(header::VARY, HeaderValue::from_static(vary));
    if let Some(age) = age {
        headers.insert(header::AGE, HeaderValue::from(age));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_and_unknown_ones_ignored() {
        let check = |text: &'static str, bypass: bool, no_store: bool, max_age: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert("cache-control", HeaderValue::from_static(text));
            assert_eq!(
                read(&headers),
                CacheControl {
                    bypass,
                    no_store,
                    max_age
                },
                "{text}"
            );
        };
        check("No-Cache", true, false, None);
        check("no-store", true, true, None);
        check("max-age=30, stale-if-error=5", false, false, Some(30));
        check("max-age=soon", false, false, None);
        check("public", false, false, None);
    }
}
