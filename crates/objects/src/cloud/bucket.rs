//! A bucket as the store needs it.

use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use bytes::Bytes;
use futures::TryStreamExt;
use hindsight_kql_types::ticks::from_unix_millis;
use hindsight_store::{ObjectError, ObjectInfo, ObjectStorage};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode};
use tokio::runtime::{Builder, Runtime};

use super::body::Body;
use super::environment::BadEnvironment;
use super::failure::object_error;

/// A bucket.
///
/// An object is put by one request, because only such a put can be conditional: S3 and Azure take 5 GB so. A segment is held in memory while it is
/// uploaded and is far smaller.
pub(crate) struct Bucket {
    inner: Arc<Inner>,
    /// Sends the requests: callers block, and may be on a thread of another runtime.
    runtime: Option<Runtime>,
}

struct Inner {
    store: Arc<dyn ObjectStore>,
    address: String,
    /// What keys begin with: empty, or with a `/` at the end.
    prefix: String,
}

impl fmt::Debug for Bucket {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bucket({})", self.inner.address)
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // The last reference may go on a thread that must not block.
            runtime.shutdown_background();
        }
    }
}

impl Bucket {
    /// The objects below a prefix, which has no `/` at either end.
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        address: String,
        prefix: &str,
    ) -> Result<Bucket, BadEnvironment> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("objects")
            .enable_all()
            .build()
            .map_err(|error| BadEnvironment::Client(error.to_string()))?;
        let slash = if prefix.is_empty() { "" } else { "/" };
        Ok(Bucket {
            inner: Arc::new(Inner {
                store,
                address,
                prefix: format!("{prefix}{slash}"),
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
    fn path(&self, key: &str) -> Result<Path, ObjectError> {
        let key = format!("{}{key}", self.prefix);
        Path::parse(key).map_err(|error| ObjectError::Refused(error.to_string()))
    }

    async fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError> {
        let path = self.path(key)?;
        let put = self
            .store
            .put_opts(&path, content.into(), PutMode::Create.into());
        put.await.map(drop).map_err(object_error)
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Body, ObjectError> {
        let path = self.path(key)?;
        let options = GetOptions {
            range: range.map(GetRange::Bounded),
            ..GetOptions::default()
        };
        let reply = self.store.get_opts(&path, options).await;
        Ok(Body::of(reply.map_err(object_error)?.into_stream()))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError> {
        let path = self.path(prefix)?;
        let found: Vec<_> = self
            .store
            .list(Some(&path))
            .try_collect()
            .await
            .map_err(object_error)?;
        let known = found.into_iter().filter_map(|object| {
            Some(ObjectInfo {
                key: object
                    .location
                    .as_ref()
                    .strip_prefix(self.prefix.as_str())?
                    .to_owned(),
                bytes: object.size,
                modified: from_unix_millis(object.last_modified.timestamp_millis())?,
            })
        });
        Ok(known.collect())
    }

    async fn delete(&self, key: &str) -> Result<(), ObjectError> {
        let path = self.path(key)?;
        match self.store.delete(&path).await.map_err(object_error) {
            Ok(()) | Err(ObjectError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl ObjectStorage for Bucket {
    fn address(&self) -> &str {
        &self.inner.address
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
