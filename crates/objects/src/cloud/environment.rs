//! Environment variables, and why they do not suffice.

use url::Url;

/// Why the environment does not suffice for an object store. No text has the value of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEnvironment {
    /// A part of the credentials of S3 is missing.
    #[error(
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither for the role of the machine; AWS_SKIP_SIGNATURE=true is for a bucket that needs no credentials"
    )]
    Credentials,
    /// A variable is missing that has no default.
    #[error("set {0}, {1}")]
    Missing(&'static str, &'static str),
    /// Two variables that exclude each other.
    #[error("set {0} or {1}, not both")]
    Both(&'static str, &'static str),
    /// The value of a variable cannot be used.
    #[error("{0} cannot be used: expected {1}")]
    Unusable(&'static str, &'static str),
    /// A file that a variable names cannot be read.
    #[error("the file of {0} cannot be read: {1}")]
    File(&'static str, String),
    /// The address of a service is no URL.
    #[error("{0} is not the URL of a service")]
    Endpoint(&'static str),
    /// The address of a service is without TLS.
    #[error("{0} is without TLS: set {1}=true to permit that")]
    WithoutTls(&'static str, &'static str),
    /// The client could not be made.
    #[error("the client of the object store: {0}")]
    Client(String),
}

/// The environment variables. One that is blank counts as not set.
pub(super) struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl<'a> Environment<'a> {
    pub(super) fn new(variables: &'a dyn Fn(&str) -> Option<String>) -> Environment<'a> {
        Environment(variables)
    }

    /// The value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let value = (self.0)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The first variable that is set, and its value.
    pub(super) fn first(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }

    /// Whether a variable says yes.
    pub(super) fn is_set(&self, name: &str) -> bool {
        let value = self.get(name);
        value.is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    /// The URL that one of the variables has. One without TLS needs the permission of `allow_http`.
    pub(super) fn url(
        &self,
        names: &[&'static str],
        allow_http: &'static str,
    ) -> Result<Option<Url>, BadEnvironment> {
        let Some((name, text)) = self.first(names) else {
            return Ok(None);
        };
        let url = Url::parse(&text).map_err(|_| BadEnvironment::Endpoint(name))?;
        match url.scheme() {
            _ if url.host_str().is_none() => Err(BadEnvironment::Endpoint(name)),
            "https" => Ok(Some(url)),
            "http" if self.is_set(allow_http) => Ok(Some(url)),
            "http" => Err(BadEnvironment::WithoutTls(name, allow_http)),
            _ => Err(BadEnvironment::Endpoint(name)),
        }
    }
}

/// A URL as the clients expect it: without a `/` at the end.
pub(super) fn text_of(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;

    use super::*;

    /// An environment of some variables.
    pub(in crate::cloud) fn of(
        variables: &[(&'static str, &str)],
    ) -> impl Fn(&str) -> Option<String> + use<> {
        let known: HashMap<&str, String> = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        move |name| known.get(name).cloned()
    }

    #[test]
    fn urls_need_tls_or_a_permission() {
        let url = |variables: &[(&'static str, &str)]| {
            let variables = of(variables);
            let found = Environment::new(&variables).url(&["A", "B"], "ALLOW");
            found.map(|url| url.map(|url| text_of(&url)))
        };
        let text = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(url(&[]), Ok(None));
        assert_eq!(
            url(&[("A", " "), ("B", "https://b/x/")]),
            text("https://b/x")
        );
        assert_eq!(
            url(&[("A", "https://a"), ("B", "https://b")]),
            text("https://a")
        );
        let plain = ("B", "http://b:1");
        assert_eq!(url(&[plain]), Err(BadEnvironment::WithoutTls("B", "ALLOW")));
        assert_eq!(url(&[plain, ("ALLOW", "True")]), text("http://b:1"));
        for wrong in ["b:9000", "ftp://b", "https://", "b"] {
            assert_eq!(
                url(&[("B", wrong)]),
                Err(BadEnvironment::Endpoint("B")),
                "{wrong}"
            );
        }
    }
}
