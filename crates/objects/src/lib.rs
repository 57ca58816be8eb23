//! Object stores for the segments of a store: S3 and services with its interface, Azure Blob Storage, Google Cloud Storage, and folders that several
//! machines share.
//!
//! An [`Address`] names an object store, and [`open`] makes an [`ObjectStorage`] of it. Credentials come from the environment and are neither
//! in addresses nor in errors. The clients of the clouds are those of the crate `object_store`; what a reply means, how long a request may take and
//! which ones are sent again is decided here (`cloud/http.rs`, `cloud/failure.rs`), in the same way for all.

mod address;
mod cloud;
mod folder;

use std::sync::Arc;

use hindsight_store::ObjectStorage;

pub use address::{Address, BadAddress, Cloud};
pub use cloud::BadEnvironment;

/// The object store at an address. `environment` reads the environment variables of its cloud, which `docs/cluster.md` lists.
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
        Address::Bucket {
            cloud,
            bucket,
            prefix,
        } => {
            let store = cloud::client(*cloud, bucket, &environment)?;
            Arc::new(cloud::Bucket::new(store, address.to_string(), prefix)?)
        }
        Address::Folder(path) => Arc::new(folder::Folder::new(path)),
    })
}
