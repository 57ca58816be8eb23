//! S3, and services with its interface.

mod body;
mod client;
mod list;
mod reply;
mod settings;

pub(crate) use client::S3;
pub use settings::BadEnvironment;
pub(crate) use settings::S3Settings;
