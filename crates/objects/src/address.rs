//! Addresses of object stores.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A kind of object store with an interface of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cloud {
    /// S3, and services with its interface: `s3://bucket/prefix`.
    S3,
    /// Azure Blob Storage: `az://container/prefix`.
    Azure,
    /// Google Cloud Storage: `gs://bucket/prefix`.
    Google,
}

impl Cloud {
    /// The scheme of its addresses.
    fn scheme(self) -> &'static str {
        match self {
            Cloud::S3 => "s3",
            Cloud::Azure => "az",
            Cloud::Google => "gs",
        }
    }
}

/// Where an object store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A bucket, which Azure calls a container.
    Bucket {
        /// Where the bucket is.
        cloud: Cloud,
        /// The name of the bucket.
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
    #[error(
        "expected `s3://bucket/prefix`, `az://container/prefix`, `gs://bucket/prefix` or `file:///folder`"
    )]
    Scheme,
    /// The name of a bucket is missing or has other characters than letters, digits, `-`, `_` and `.`.
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
            "s3" => in_bucket(Cloud::S3, rest),
            "az" | "azure" => in_bucket(Cloud::Azure, rest),
            "gs" => in_bucket(Cloud::Google, rest),
            "file" if Path::new(rest).is_absolute() => Ok(Address::Folder(PathBuf::from(rest))),
            "file" => Err(BadAddress::RelativePath),
            _ => Err(BadAddress::Scheme),
        }
    }
}

fn in_bucket(cloud: Cloud, rest: &str) -> Result<Address, BadAddress> {
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = |c: char| {
        c.is_ascii_alphanumeric()
            || match cloud {
                Cloud::S3 => "-.".contains(c),
                Cloud::Azure => c == '-',
                Cloud::Google => "-_.".contains(c),
            }
    };
    if bucket.is_empty() || !bucket.chars().all(is_name) {
        return Err(BadAddress::Bucket);
    }
    Ok(Address::Bucket {
        cloud,
        bucket: bucket.to_owned(),
        prefix: checked_prefix(prefix.trim_matches('/'))?,
    })
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
            Address::Bucket {
                cloud,
                bucket,
                prefix,
            } => {
                let slash = if prefix.is_empty() { "" } else { "/" };
                write!(f, "{}://{bucket}{slash}{prefix}", cloud.scheme())
            }
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
            ("az://container/a", "az://container/a"),
            ("azure://container/a", "az://container/a"),
            ("gs://my_bucket.example/a", "gs://my_bucket.example/a"),
            ("file:///mnt/shared", "file:///mnt/shared"),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), printed);
        }
        for (text, error) in [
            ("bucket", BadAddress::Scheme),
            ("http://bucket", BadAddress::Scheme),
            ("abfss://container@account/a", BadAddress::Scheme),
            ("s3://", BadAddress::Bucket),
            ("s3://key:secret@bucket/x", BadAddress::Bucket),
            ("az://account.container", BadAddress::Bucket),
            ("gs://", BadAddress::Bucket),
            ("s3://bucket/a//b", BadAddress::Prefix),
            ("az://container/../b", BadAddress::Prefix),
            ("gs://bucket/a?b", BadAddress::Prefix),
            ("file://relative/path", BadAddress::RelativePath),
        ] {
            assert_eq!(text.parse::<Address>(), Err(error), "{text}");
        }
    }
}
