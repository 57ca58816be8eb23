//! What a client would like: `Prefer`, as a header or as the query parameter `prefer` (`D1`, `D17`).

use std::time::Duration;

use axum::http::HeaderMap;

use crate::error::ApiError;
use crate::params::Params;

/// The preferences that this service knows. Others are ignored, as RFC 7240 asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefer {
    /// `ai.response-thinning` or `response-v1`: the lower-case form, where it was said.
    pub(crate) thin: Option<bool>,
    /// `wait`, seconds.
    pub(crate) wait: Option<u64>,
    /// `include-render`
    pub(crate) render: bool,
    /// `include-statistics`
    pub(crate) statistics: bool,
    /// `include-dataSources`
    pub(crate) data_sources: bool,
    /// `ai.include-query-payload`
    pub(crate) query_payload: bool,
    /// `ai.metric-leaf=object` (`D2`), where it was said.
    pub(crate) leaf_object: Option<bool>,
}

impl Prefer {
    /// The preferences of a request; it may wait for at most `longest` (`D19`).
    pub(crate) fn read(
        headers: &HeaderMap,
        params: &Params,
        longest: Duration,
    ) -> Result<Prefer, ApiError> {
        let mut prefer = Prefer::default();
        if let Some(text) = params.one("prefer")? {
            prefer.add(&text);
        }
        for value in headers.get_all("prefer") {
            prefer.add(value.to_str().unwrap_or_default());
        }
        // The engine bounds it to the fraction of a second; the reply tells whole ones.
        let most = longest.as_secs() + u64::from(longest.subsec_nanos() > 0);
        prefer.wait = prefer.wait.map(|wait| wait.min(most));
        Ok(prefer)
    }

    fn add(&mut self, text: &str) {
        for preference in text.split([',', ';']) {
            let (name, value) = preference.split_once('=').unwrap_or((preference, "true"));
            self.set(
                name.trim().to_ascii_lowercase().as_str(),
                value.trim().trim_matches('"'),
            );
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let yes = value.eq_ignore_ascii_case("true");
        match name {
            "wait" => self.wait = value.parse().ok(),
            "include-render" => self.render = yes,
            "include-statistics" => self.statistics = yes,
            "include-datasources" => self.data_sources = yes,
            "ai.include-query-payload" => self.query_payload = yes,
            "ai.response-thinning" => self.thin = Some(yes),
            "response-v1" if yes => self.thin = Some(true),
            "ai.metric-leaf" => self.leaf_object = Some(value.eq_ignore_ascii_case("object")),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, query: &str) -> Prefer {
        let mut headers = HeaderMap::new();
        headers.insert("prefer", header.parse().unwrap());
        Prefer::read(
            &headers,
            &Params::parse(Some(query)),
            Duration::from_secs(600),
        )
        .unwrap()
    }

    #[test]
    fn preferences_come_from_header_and_parameter() {
        let prefer = read(
            "wait=60, include-statistics=true,include-render=true",
            "prefer=ai.response-thinning%3Dtrue",
        );
        let expected = Prefer {
            wait: Some(60),
            statistics: true,
            render: true,
            thin: Some(true),
            ..Prefer::default()
        };
        assert_eq!(prefer, expected);
    }

    #[test]
    fn wait_is_bounded_and_unknown_preferences_are_ignored() {
        assert_eq!(read("wait=1000000000", "").wait, Some(600));
        assert_eq!(read("respond-async, x=1", ""), Prefer::default());
        assert_eq!(read("response-v1=true", "").thin, Some(true));
        assert_eq!(read("ai.response-thinning=false", "").thin, Some(false));
        assert_eq!(read("ai.metric-leaf=object", "").leaf_object, Some(true));
    }
}
