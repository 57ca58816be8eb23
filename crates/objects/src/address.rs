//! Addresses of object stores.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where an object store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A bucket of S3, or of a service with its interface: `s3://bucket/prefix`.
    S3 {
        /// The bucket.
        bucket: String,
        /// What all keys begin with, without a `/` at either end; empty for none.
        prefix: String,
    },
    /// A folder that all machines mount: `file:///folder`.
    Folder(PathBuf),
}

/// Why a text is no address of an object store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// Another scheme.
    #[error("expected `s3://bucket/prefix` or `file:///folder`")]
    Scheme,
    /// A cloud that is not supported.
    #[error("{0} is not supported yet; expected `s3://bucket/prefix` or `file:///folder`")]
    Unsupported(&'static str),
    /// The name of a bucket is missing or has other characters than letters, digits, `-` and `.`.
    #[error(
        "the name of the bucket is missing or has characters that names of buckets do not have"
    )]
    Bucket,
    /// An empty part, `.` or `..`, or a character that keys should not have.
    #[error(
        "the prefix may have letters, digits and `-_./`, and no part of it may be empty, `.` or `..`"
    )]
    Prefix,
    /// A path that does not begin with `/`.
    #[error("the path of a folder begins with `/`: `file:///folder`")]
    RelativePath,
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Address, BadAddress> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(BadAddress::Scheme)?;
        match scheme {
            "s3" => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
                if bucket.is_empty() || !bucket.chars().all(is_name) {
                    return Err(BadAddress::Bucket);
                }
                Ok(Address::S3 {
                    bucket: bucket.to_owned(),
                    prefix: checked_prefix(prefix.trim_matches('/'))?,
                })
            }
            "file" if Path::new(rest).is_absolute() => Ok(Address::Folder(PathBuf::from(rest))),
            "file" => Err(BadAddress::RelativePath),
            "az" | "azure" | "abfs" | "abfss" => Err(BadAddress::Unsupported("Azure Blob Storage")),
            "gs" => Err(BadAddress::Unsupported("Google Cloud Storage")),
            _ => Err(BadAddress::Scheme),
        }
    }
}

fn checked_prefix(prefix: &str) -> Result<String, BadAddress> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_part =
        |part: &str| !part.is_empty() && part != "." && part != ".." && part.chars().all(is_plain);
    if prefix.is_empty() || prefix.split('/').all(is_part) {
        Ok(prefix.to_owned())
    } else {
        Err(BadAddress::Prefix)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::S3 { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Address::S3 { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
            Address::Folder(path) => write!(f, "file://{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for (text, printed) in [
            ("s3://bucket", "s3://bucket"),
            (" s3://my-bucket.2/ ", "s3://my-bucket.2"),
            ("s3://bucket/a/b_c/", "s3://bucket/a/b_c"),
            ("file:///mnt/shared", "file:///mnt/shared"),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), printed);
        }
        for (text, error) in [
            ("bucket", BadAddress::Scheme),
            ("http://bucket", BadAddress::Scheme),
            (
                "az://container",
                BadAddress::Unsupported("Azure Blob Storage"),
            ),
            (
                "gs://bucket",
                BadAddress::Unsupported("Google Cloud Storage"),
            ),
            ("s3://", BadAddress::Bucket),
            ("s3://key:secret@bucket/x", BadAddress::Bucket),
            ("s3://bucket/a//b", BadAddress::Prefix),
            ("s3://bucket/../b", BadAddress::Prefix),
            ("s3://bucket/a?b", BadAddress::Prefix),
            ("file://relative/path", BadAddress::RelativePath),
        ] {
            assert_eq!(text.parse::<Address>(), Err(error), "{text}");
        }
    }
}
