//! Object stores for the segments of a store: S3, and services with its interface, and folders that several machines share.
//!
//! An [`Address`] names an object store, and [`open`] makes an [`ObjectStorage`] of it. Credentials come from the environment and are neither
//! in addresses nor in errors. The signatures of requests are those of `rusty-s3`; requests are sent by `reqwest`. The crate `object_store` is not
//! used for this: its clients need a feature of `chrono` with which the query engine would be compiled again.

mod address;
mod folder;
mod s3;

use std::sync::Arc;

use hindsight_store::ObjectStorage;

pub use address::{Address, BadAddress};
pub use s3::BadEnvironment;

/// The object store at an address. `environment` reads the environment variables of the cloud: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
/// `AWS_SESSION_TOKEN`, `AWS_REGION` or `AWS_DEFAULT_REGION`, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP` and
/// `AWS_VIRTUAL_HOSTED_STYLE_REQUEST`.
///
/// No request is sent.
///
/// # Errors
/// [`BadEnvironment`] if a variable is missing or wrong.
pub fn open(
    address: &Address,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<Arc<dyn ObjectStorage>, BadEnvironment> {
    Ok(match address {
        Address::S3 { bucket, prefix } => {
            let settings = s3::S3Settings::new(bucket, prefix, environment)?;
            Arc::new(s3::S3::new(settings)?)
        }
        Address::Folder(path) => Arc::new(folder::Folder::new(path)),
    })
}
