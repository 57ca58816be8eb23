//! The settings of S3, from the environment.

use rusty_s3::{Bucket, Credentials, UrlStyle};
use url::Url;

/// The region of services that have none.
const DEFAULT_REGION: &str = "us-east-1";

/// Why the environment does not suffice for an object store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEnvironment {
    /// One of the two parts of a credential is missing.
    #[error(
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither for a bucket that needs no credentials"
    )]
    Credentials,
    /// The address of the service is no URL.
    #[error("{0} is not the URL of a service")]
    Endpoint(&'static str),
    /// The address of the service is without TLS.
    #[error("{0} is without TLS: set AWS_ALLOW_HTTP=true to permit that")]
    WithoutTls(&'static str),
    /// The client could not be made.
    #[error("the client of the object store: {0}")]
    Client(String),
}

/// A bucket and what a client of it needs.
pub(crate) struct S3Settings {
    pub(super) address: String,
    /// What keys begin with: empty, or with a `/` at the end.
    pub(super) prefix: String,
    pub(super) bucket: Bucket,
    pub(super) credentials: Option<Credentials>,
}

impl S3Settings {
    pub(crate) fn new(
        bucket: &str,
        prefix: &str,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<S3Settings, BadEnvironment> {
        let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let is_set = |name: &str| {
            variable(name).is_some_and(|value| matches!(value.trim(), "1" | "true" | "TRUE"))
        };
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        let endpoints = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
        let named = endpoints
            .into_iter()
            .find_map(|name| Some((name, variable(name)?)));
        let (endpoint, style) = match named {
            Some((name, text)) => {
                let url = endpoint(name, &text, is_set("AWS_ALLOW_HTTP"))?;
                let by_host = is_set("AWS_VIRTUAL_HOSTED_STYLE_REQUEST");
                let style = if by_host {
                    UrlStyle::VirtualHost
                } else {
                    UrlStyle::Path
                };
                (url, style)
            }
            None => {
                let text = format!("https://s3.{region}.amazonaws.com");
                let url = endpoint("AWS_REGION", &text, false)?;
                // The certificate of S3 is for names of one part in front of its own.
                let style = if bucket.contains('.') {
                    UrlStyle::Path
                } else {
                    UrlStyle::VirtualHost
                };
                (url, style)
            }
        };
        let secrets = (
            variable("AWS_ACCESS_KEY_ID"),
            variable("AWS_SECRET_ACCESS_KEY"),
        );
        let credentials = match (secrets, variable("AWS_SESSION_TOKEN")) {
            ((Some(key), Some(secret)), Some(token)) => {
                Some(Credentials::new_with_token(key, secret, token))
            }
            ((Some(key), Some(secret)), None) => Some(Credentials::new(key, secret)),
            ((None, None), None) => None,
            _ => return Err(BadEnvironment::Credentials),
        };
        let slash = if prefix.is_empty() { "" } else { "/" };
        Ok(S3Settings {
            address: format!("s3://{bucket}{slash}{prefix}"),
            prefix: format!("{prefix}{slash}"),
            bucket: Bucket::new(endpoint, style, bucket.to_owned(), region)
                .map_err(|error| BadEnvironment::Client(error.to_string()))?,
            credentials,
        })
    }
}

fn endpoint(name: &'static str, text: &str, allows_http: bool) -> Result<Url, BadEnvironment> {
    let url = Url::parse(text.trim()).map_err(|_| BadEnvironment::Endpoint(name))?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if allows_http => Ok(url),
        "http" => Err(BadEnvironment::WithoutTls(name)),
        _ => Err(BadEnvironment::Endpoint(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<S3Settings, BadEnvironment> {
        S3Settings::new("shop", "a/b", |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_says_where_the_service_is() {
        let url = |variables: &[(&str, &str)]| {
            let settings = settings(variables).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(settings.address, "s3://shop/a/b");
            assert_eq!(settings.prefix, "a/b/");
            settings.bucket.base_url().to_string()
        };
        assert_eq!(url(&[]), "https://shop.s3.us-east-1.amazonaws.com/");
        assert_eq!(
            url(&[("AWS_REGION", "eu-west-1")]),
            "https://shop.s3.eu-west-1.amazonaws.com/"
        );
        let minio = ("AWS_ENDPOINT_URL", "http://localhost:9000");
        let allow = ("AWS_ALLOW_HTTP", "true");
        assert_eq!(url(&[minio, allow]), "http://localhost:9000/shop/");
        let by_host = ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true");
        let secure = ("AWS_ENDPOINT_URL", "https://s3.example");
        assert_eq!(url(&[secure, by_host]), "https://shop.s3.example/");
        let refused = |variables: &[(&str, &str)]| settings(variables).err();
        assert_eq!(
            refused(&[minio]),
            Some(BadEnvironment::WithoutTls("AWS_ENDPOINT_URL"))
        );
        let wrong = ("AWS_ENDPOINT_URL", "localhost:9000");
        assert_eq!(
            refused(&[wrong]),
            Some(BadEnvironment::Endpoint("AWS_ENDPOINT_URL"))
        );
        let half = ("AWS_ACCESS_KEY_ID", "key");
        assert_eq!(refused(&[half]), Some(BadEnvironment::Credentials));
    }
}
