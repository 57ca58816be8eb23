//! The client of S3.

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use bytes::Bytes;
use hindsight_store::{ObjectError, ObjectInfo, ObjectStorage};
use reqwest::header::{IF_NONE_MATCH, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rusty_s3::actions::S3Action;
use tokio::runtime::{Builder, Runtime};

use super::body::Body;
use super::list;
use super::reply::{Failure, success};
use super::settings::{BadEnvironment, S3Settings};

/// How long a signature holds.
const SIGNED: Duration = Duration::from_secs(15 * 60);
/// Longest time until a connection is there.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest time without a byte of a reply.
const SILENCE: Duration = Duration::from_secs(10);
/// Longest time of a request without a body, and of the first megabyte of an upload.
const REQUEST: Duration = Duration::from_secs(20);
/// Bytes a second that an upload has at least; a slower one is given up.
const SLOWEST: u64 = 1 << 20;
/// How often a request is sent that fails in passing. One without a reply in time is not sent again.
const ATTEMPTS: u32 = 3;
/// The wait before the second attempt; each further one is four times as long.
const WAIT: Duration = Duration::from_millis(200);

/// A bucket of S3.
pub(crate) struct S3 {
    inner: Arc<Inner>,
    /// Sends the requests: callers block, and may be on a thread of another runtime.
    runtime: Option<Runtime>,
}

struct Inner {
    settings: S3Settings,
    client: Client,
    /// Without a limit for the time until the reply, which comes when an upload is whole.
    uploader: Client,
}

impl fmt::Debug for S3 {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S3({})", self.inner.settings.address)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The last reference may go on a thread that must not block.
            runtime.shutdown_background();
        }
    }
}

impl S3 {
    pub(crate) fn new(settings: S3Settings) -> Result<S3, BadEnvironment> {
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
        let client = built(builder().read_timeout(SILENCE).build())?;
        let uploader = built(builder().build())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(S3 {
            inner: Arc::new(Inner {
                settings,
                client,
                uploader,
            }),
            runtime: Some(runtime),
        })
    }

    /// Runs requests on the threads of the client and waits for them.
    fn run<T: Send + 'static, F: Future<Output = Result<T, ObjectError>> + Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Inner>) -> F,
    ) -> Result<T, ObjectError> {
        let ended = || ObjectError::Unavailable("the client has ended".to_owned());
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        let (sender, receiver) = sync_channel(1);
        let work = work(self.inner.clone());
        runtime.spawn(async move {
            // The caller waits: the receiver is there.
            let _ = sender.send(work.await);
        });
        receiver.recv().map_err(|_| ended())?
    }
}

impl Inner {
    /// Sends a request, and sends it again if it fails in passing.
    async fn send(
        &self,
        request: impl Fn() -> RequestBuilder + Send + Sync,
    ) -> Result<Response, ObjectError> {
        let mut wait = WAIT;
        for attempt in 1.. {
            let failed = match request().send().await {
                Ok(reply) => match success(reply).await {
                    Ok(reply) => return Ok(reply),
                    Err(Failure::Final(error)) => return Err(error),
                    Err(Failure::Again(text)) => text,
                },
                Err(error) if error.is_timeout() => {
                    return Err(ObjectError::Unavailable(described(error)));
                }
                Err(error) => described(error),
            };
            if attempt == ATTEMPTS {
                return Err(ObjectError::Unavailable(failed));
            }
            tokio::time::sleep(wait).await;
            wait *= 4;
        }
        Err(ObjectError::Unavailable("no request was sent".to_owned()))
    }

    fn key(&self, key: &str) -> String {
        format!("{}{key}", self.settings.prefix)
    }

    async fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError> {
        let key = self.key(key);
        let (bucket, credentials) = (&self.settings.bucket, self.settings.credentials.as_ref());
        let limit = REQUEST + Duration::from_secs(content.len() as u64 / SLOWEST);
        self.send(|| {
            let mut action = bucket.put_object(credentials, &key);
            action.headers_mut().insert("if-none-match", "*");
            self.uploader
                .put(action.sign(SIGNED))
                .header(IF_NONE_MATCH, "*")
                .timeout(limit)
                .body(content.clone())
        })
        .await
        .map(drop)
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Body, ObjectError> {
        let key = self.key(key);
        let (bucket, credentials) = (&self.settings.bucket, self.settings.credentials.as_ref());
        let reply = self.send(|| {
            let action = bucket.get_object(credentials, &key);
            let request = self.client.get(action.sign(SIGNED));
            match &range {
                Some(range) => {
                    let last = range.end.saturating_sub(1);
                    request.header(RANGE, format!("bytes={}-{last}", range.start))
                }
                None => request,
            }
        });
        let reply = reply.await?;
        if range.is_some() && reply.status() != StatusCode::PARTIAL_CONTENT {
            return Err(ObjectError::Refused("it does not serve ranges".to_owned()));
        }
        Ok(Body::of(reply))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError> {
        let prefix = format!("{}/", self.key(prefix));
        let (bucket, credentials) = (&self.settings.bucket, self.settings.credentials.as_ref());
        let (mut objects, mut next): (Vec<ObjectInfo>, Option<String>) = (Vec::new(), None);
        loop {
            let reply = self.send(|| {
                // A list is read from the bucket, which has no key.
                let mut action = bucket.get_object(credentials, "");
                let query = action.query_mut();
                query.insert("list-type", "2");
                query.insert("prefix", prefix.as_str());
                if let Some(next) = &next {
                    query.insert("continuation-token", next.as_str());
                }
                self.client.get(action.sign(SIGNED)).timeout(REQUEST)
            });
            let text = reply.await?.text().await;
            let text = text.map_err(|error| ObjectError::Unavailable(described(error)))?;
            let page = list::parse(&text).ok_or_else(|| {
                ObjectError::Refused("its list of objects cannot be read".to_owned())
            })?;
            let prefix = &self.settings.prefix;
            objects.extend(page.objects.into_iter().filter_map(|mut object| {
                object.key = object.key.strip_prefix(prefix.as_str())?.to_owned();
                Some(object)
            }));
            next = page.next;
            if next.is_none() {
                return Ok(objects);
            }
        }
    }

    async fn delete(&self, key: &str) -> Result<(), ObjectError> {
        let key = self.key(key);
        let (bucket, credentials) = (&self.settings.bucket, self.settings.credentials.as_ref());
        let deleted = self.send(|| {
            let action = bucket.delete_object(credentials, &key);
            self.client.delete(action.sign(SIGNED)).timeout(REQUEST)
        });
        match deleted.await {
            Ok(_) | Err(ObjectError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl ObjectStorage for S3 {
    fn address(&self) -> &str {
        &self.inner.settings.address
    }

    fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError> {
        let key = key.to_owned();
        self.run(|inner| async move { inner.put_new(&key, content).await })
    }

    fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> Result<Box<dyn Read + Send>, ObjectError> {
        let key = key.to_owned();
        let body = self.run(|inner| async move { inner.get(&key, range).await })?;
        Ok(Box::new(body))
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError> {
        let prefix = prefix.to_owned();
        self.run(|inner| async move { inner.list(&prefix).await })
    }

    fn delete(&self, key: &str) -> Result<(), ObjectError> {
        let key = key.to_owned();
        self.run(|inner| async move { inner.delete(&key).await })
    }
}

/// An error of the client without the URL, which has the signature.
fn described(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// TLS with the authorities of the machine.
fn tls() -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
