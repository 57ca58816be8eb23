//! What the store needs of an object store, behind a trait, so that the crate depends on no client of a cloud and tests can inject failures.

use std::fmt::Debug;
use std::io::Read;
use std::ops::Range;

use bytes::Bytes;

/// An object store: whole objects under keys with `/`, which are written once and never changed.
///
/// All methods block, and may be called from any thread. A method that fails with [`ObjectError::Unavailable`] was repeated by the
/// implementation as often as makes sense within seconds.
pub trait ObjectStorage: Debug + Send + Sync + 'static {
    /// The address that keys are below, without credentials, such as `s3://bucket/prefix`.
    fn address(&self) -> &str;

    /// Writes an object that does not exist.
    ///
    /// # Errors
    /// [`ObjectError::Exists`] if there is one under the key, which stays as it is. After another error the object may exist: the reply
    /// may have been lost.
    fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError>;

    /// Reads an object, or a range of its bytes. Reading the content fails if the connection is lost.
    ///
    /// # Errors
    /// [`ObjectError::NotFound`] if there is none.
    fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> Result<Box<dyn Read + Send>, ObjectError>;

    /// The objects whose keys begin with `prefix` and a `/`, in no order.
    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError>;

    /// Deletes an object; one that does not exist is deleted already.
    fn delete(&self, key: &str) -> Result<(), ObjectError>;
}

/// An object, as a list of objects has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its key, below the address.
    pub key: String,
    /// Its size.
    pub bytes: u64,
    /// When it was written, by the clock of the object store, in ticks.
    pub modified: i64,
}

/// Why an object store did not do what it was asked for. The texts have no credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// There is no object under the key.
    #[error("there is no such object")]
    NotFound,
    /// There is an object under the key already.
    #[error("it exists already")]
    Exists,
    /// The object store does not reply, or says that it cannot serve the request now.
    #[error("the object store is unavailable: {0}")]
    Unavailable(String),
    /// The object store refuses the request: credentials, rights, the name of the bucket.
    #[error("{0}")]
    Refused(String),
}
