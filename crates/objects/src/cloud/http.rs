//! Sends the requests of all clients, with the TLS and the limits that this program sets.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use hindsight_store::ObjectError;
use http_body_util::BodyExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use reqwest::Client;
use reqwest::redirect::Policy;
use url::Url;

use super::environment::BadEnvironment;
use super::failure::{Failure, code, refused, unanswered, without_credentials};
use crate::address::Cloud;

/// Longest time until a connection is there.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest time without a byte of a reply.
const SILENCE: Duration = Duration::from_secs(10);
/// Longest time of a request with a body, besides that of the body.
const REQUEST: Duration = Duration::from_secs(20);
/// Bytes a second that an upload has at least; a slower one is given up.
const SLOWEST: u64 = 1 << 20;
/// Longest time of a request to the machine's metadata service, which replies at once or is not there.
const METADATA: Duration = Duration::from_secs(2);
/// Bytes that are read of the body of an error.
const LONGEST: usize = 16 << 10;

/// How often a request is sent that fails in passing: three times within a second or two.
pub(super) fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(1),
            base: 4.0,
        },
        max_retries: 2,
        // A reply that stalled for the longest time is not read again: callers wait for one such time and not for three.
        retry_timeout: SILENCE.saturating_sub(Duration::from_secs(1)),
    }
}

/// Sends requests, and says of each that fails what that means ([`Failure`]).
#[derive(Debug, Clone)]
pub(super) struct Service {
    cloud: Cloud,
    /// What the host and port of requests to the object store end with. Others are for credentials.
    authority: String,
    reader: Client,
    /// Without a limit for the time until the reply, which comes when an upload is whole.
    uploader: Client,
    /// For the metadata service, which is never behind a proxy.
    metadata: Client,
}

impl Service {
    /// Sends requests to the object store at a URL, and to the services that issue credentials for it.
    pub(super) fn new(cloud: Cloud, endpoint: &Url) -> Result<Service, BadEnvironment> {
        let failed = |error: String| BadEnvironment::Client(error);
        let tls = tls().map_err(failed)?;
        let builder = || {
            Client::builder()
                .use_preconfigured_tls(tls.clone())
                .redirect(Policy::none())
                .connect_timeout(CONNECT)
        };
        let built = |client: Result<Client, reqwest::Error>| {
            client.map_err(|error| failed(error.to_string()))
        };
        let host = endpoint.host_str().unwrap_or_default();
        Ok(Service {
            cloud,
            authority: match endpoint.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            },
            reader: built(builder().read_timeout(SILENCE).build())?,
            uploader: built(builder().build())?,
            metadata: built(builder().no_proxy().timeout(METADATA).build())?,
        })
    }

    async fn to_store(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        // Every put is conditional: `Bucket` knows no other one.
        let is_put = request.method().as_str() == "PUT";
        let bytes = request.body().content_length();
        let sent = if bytes == 0 {
            self.reader.call(request).await
        } else {
            let limit = REQUEST + Duration::from_secs(bytes as u64 / SLOWEST);
            let sent = tokio::time::timeout(limit, self.uploader.call(request)).await;
            sent.map_err(|_| {
                let text = format!("no reply within {} s", limit.as_secs());
                Failure::Final(ObjectError::Unavailable(text))
            })?
        };
        let reply = sent.map_err(|error| unanswered(&error))?;
        let status = reply.status();
        if status.is_success() {
            let (head, body) = reply.into_parts();
            let body = body.map_err(|error| HttpError::from(unanswered(&error)));
            return Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)));
        }
        let named = reply.headers().get("x-ms-error-code");
        let named = named.and_then(|code| Some(format!("<Code>{}</Code>", code.to_str().ok()?)));
        let body = match named {
            Some(code) => code,
            None => start_of(reply.into_body()).await,
        };
        Err(refused(self.cloud, is_put, status.as_u16(), code(&body)))
    }

    async fn to_issuer(&self, request: HttpRequest) -> Result<HttpResponse, Failure> {
        // Issuers have TLS, which `Environment::url` sees to; metadata services have none.
        let is_machine = request.uri().scheme_str() == Some("http");
        let client = if is_machine {
            &self.metadata
        } else {
            &self.reader
        };
        let failed = |status: Option<u16>, failure: Failure| {
            without_credentials(self.cloud, is_machine, status, failure)
        };
        let reply = client.call(request).await;
        let reply = reply.map_err(|error| failed(None, unanswered(&error)))?;
        let status = reply.status();
        if status.is_success() {
            return Ok(reply);
        }
        let status = status.as_u16();
        Err(failed(
            Some(status),
            refused(self.cloud, false, status, None),
        ))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let authority = request.uri().authority();
        let is_store = authority.is_some_and(|found| found.as_str().ends_with(&self.authority));
        let sent = if is_store {
            self.to_store(request).await
        } else {
            self.to_issuer(request).await
        };
        Ok(sent?)
    }
}

impl HttpConnector for Service {
    /// The options of `object_store` are not used: the limits are those of this file, and URLs without TLS are refused where they are read.
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

/// The first bytes of the body of an error, as text.
async fn start_of(body: HttpResponseBody) -> String {
    let mut parts = body.bytes_stream();
    let mut start = Vec::new();
    while let Some(Ok(part)) = parts.next().await {
        start.extend_from_slice(&part);
        if start.len() > LONGEST {
            break;
        }
    }
    String::from_utf8_lossy(&start).into_owned()
}

/// TLS with the authorities of the machine.
fn tls() -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    // Named, because the dependencies of `object_store` compile a second provider in.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
