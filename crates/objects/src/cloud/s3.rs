//! S3, and services with its interface.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use url::Url;

use super::environment::{BadEnvironment, Environment, text_of};
use super::http::{Service, retries};
use crate::address::Cloud;

/// The region of services that have none.
const DEFAULT_REGION: &str = "us-east-1";
/// The variable that permits services without TLS.
const ALLOW_HTTP: &str = "AWS_ALLOW_HTTP";
/// Variables that the client gets as they are: where credentials are that the environment does not have, and how S3 encrypts objects.
const PASSED: [&str; 14] = [
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_ENDPOINT_URL_STS",
    "AWS_IMDSV1_FALLBACK",
    "AWS_METADATA_ENDPOINT",
    "AWS_REQUEST_PAYER",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_SERVER_SIDE_ENCRYPTION",
    "AWS_SKIP_SIGNATURE",
    "AWS_SSE_BUCKET_KEY_ENABLED",
    "AWS_SSE_KMS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

/// Where a bucket is.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    region: String,
    /// The URL of the service, with the name of the bucket if that belongs to the host.
    endpoint: Url,
    /// Whether the name of the bucket belongs to the host, and not to the path.
    is_by_host: bool,
}

/// A client of a bucket.
pub(super) fn client(
    bucket: &str,
    environment: &Environment<'_>,
) -> Result<Arc<dyn ObjectStore>, BadEnvironment> {
    let place = place(bucket, environment)?;
    // Credentials go there.
    environment.url(&["AWS_ENDPOINT_URL_STS"], ALLOW_HTTP)?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_region(place.region)
        .with_endpoint(text_of(&place.endpoint))
        .with_virtual_hosted_style_request(place.is_by_host)
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_http_connector(Service::new(Cloud::S3, &place.endpoint)?)
        .with_retry(retries());
    for name in PASSED {
        if let (Some(value), Ok(key)) = (environment.get(name), key(name)) {
            builder = builder.with_config(key, value);
        }
    }
    let token = environment.get("AWS_SESSION_TOKEN");
    let secrets = (
        environment.get("AWS_ACCESS_KEY_ID"),
        environment.get("AWS_SECRET_ACCESS_KEY"),
    );
    match (secrets, token) {
        ((Some(key), Some(secret)), token) => {
            builder = builder
                .with_access_key_id(key)
                .with_secret_access_key(secret);
            if let Some(token) = token {
                builder = builder.with_token(token);
            }
        }
        ((None, None), None) => {}
        _ => return Err(BadEnvironment::Credentials),
    }
    let client = builder.build();
    let client = client.map_err(|error| BadEnvironment::Client(error.to_string()))?;
    Ok(Arc::new(client))
}

/// The setting of the client that has the name of a variable.
fn key(name: &str) -> Result<AmazonS3ConfigKey, object_store::Error> {
    name.to_ascii_lowercase().parse()
}

fn place(bucket: &str, environment: &Environment<'_>) -> Result<Place, BadEnvironment> {
    let named = environment.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    let region = named.map_or(DEFAULT_REGION.to_owned(), |(_, region)| region);
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
    let (mut endpoint, is_by_host, name) = match environment.url(&names, ALLOW_HTTP)? {
        Some(url) => {
            let is_by_host = environment.is_set("AWS_VIRTUAL_HOSTED_STYLE_REQUEST");
            (url, is_by_host, "AWS_ENDPOINT_URL")
        }
        None => {
            let text = format!("https://s3.{region}.amazonaws.com");
            let url = Url::parse(&text).map_err(|_| BadEnvironment::Endpoint("AWS_REGION"))?;
            // The certificate of S3 is for names of one part in front of its own.
            (url, !bucket.contains('.'), "AWS_REGION")
        }
    };
    if is_by_host {
        let host = endpoint.host_str().unwrap_or_default();
        let host = format!("{bucket}.{host}");
        let changed = endpoint.set_host(Some(&host));
        changed.map_err(|_| BadEnvironment::Endpoint(name))?;
    }
    Ok(Place {
        region,
        endpoint,
        is_by_host,
    })
}

#[cfg(test)]
mod tests {
    use super::super::environment::tests::of;
    use super::*;

    const KEY: (&str, &str) = ("AWS_ACCESS_KEY_ID", "key");
    const SECRET: (&str, &str) = ("AWS_SECRET_ACCESS_KEY", "secret");

    fn url(bucket: &str, variables: &[(&'static str, &str)]) -> Result<String, BadEnvironment> {
        let variables = of(variables);
        let place = place(bucket, &Environment::new(&variables))?;
        let path = if place.is_by_host { "" } else { bucket };
        Ok(format!("{}{path}", place.endpoint))
    }

    #[test]
    fn the_environment_says_where_the_service_is() {
        let text = |text: &str| Ok(text.to_owned());
        let amazon = "https://shop.s3.us-east-1.amazonaws.com/";
        assert_eq!(url("shop", &[]), text(amazon));
        assert_eq!(
            url("shop", &[("AWS_REGION", "eu-west-1")]),
            text("https://shop.s3.eu-west-1.amazonaws.com/")
        );
        assert_eq!(
            url("my.shop", &[("AWS_DEFAULT_REGION", "eu-west-1")]),
            text("https://s3.eu-west-1.amazonaws.com/my.shop")
        );
        assert_eq!(
            url("shop", &[("AWS_REGION", "a b")]),
            Err(BadEnvironment::Endpoint("AWS_REGION"))
        );
        let minio = ("AWS_ENDPOINT_URL", "http://localhost:9000");
        let allow = (ALLOW_HTTP, "true");
        assert_eq!(
            url("shop", &[minio, allow]),
            text("http://localhost:9000/shop")
        );
        let by_host = ("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true");
        let secure = ("AWS_ENDPOINT_URL_S3", "https://s3.example");
        assert_eq!(
            url("shop", &[secure, by_host, minio]),
            text("https://shop.s3.example/")
        );
        assert_eq!(
            url("shop", &[minio]),
            Err(BadEnvironment::WithoutTls("AWS_ENDPOINT_URL", ALLOW_HTTP))
        );
    }

    #[test]
    fn credentials_are_whole_or_absent() {
        let error = |variables: &[(&'static str, &str)]| {
            let variables = of(variables);
            client("shop", &Environment::new(&variables)).err()
        };
        let token = ("AWS_SESSION_TOKEN", "token");
        assert_eq!(error(&[]), None);
        assert_eq!(error(&[KEY, SECRET]), None);
        assert_eq!(error(&[KEY, SECRET, token]), None);
        for half in [&[KEY][..], &[SECRET], &[token], &[KEY, token]] {
            assert_eq!(error(half), Some(BadEnvironment::Credentials));
        }
        let issuer = ("AWS_ENDPOINT_URL_STS", "http://sts.example");
        assert_eq!(
            error(&[issuer]),
            Some(BadEnvironment::WithoutTls(
                "AWS_ENDPOINT_URL_STS",
                ALLOW_HTTP
            ))
        );
    }

    #[test]
    fn the_client_knows_the_variables_that_it_gets() {
        for name in PASSED {
            assert!(key(name).is_ok(), "{name}");
        }
    }
}
