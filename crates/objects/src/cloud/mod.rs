//! Buckets of clouds.

mod azure;
mod body;
mod bucket;
mod environment;
mod failure;
mod google;
mod http;
mod s3;

use std::sync::Arc;

use object_store::ObjectStore;

use crate::address::Cloud;

pub(crate) use bucket::Bucket;
pub use environment::BadEnvironment;
use environment::Environment;

/// A client of a bucket, with what the environment says. No request is sent.
pub(crate) fn client(
    cloud: Cloud,
    bucket: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn ObjectStore>, BadEnvironment> {
    let environment = Environment::new(environment);
    match cloud {
        Cloud::S3 => s3::client(bucket, &environment),
        Cloud::Azure => azure::client(bucket, &environment),
        Cloud::Google => google::client(bucket, &environment),
    }
}
