//! Hashes (`docs/semantics.md §11`).

mod digest;
mod xxhash;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] =
    &[&digest::MD5, &digest::SHA1, &digest::SHA256, &xxhash::HASH];
