//! `hash_md5`, `hash_sha1`, `hash_sha256`: hashes of the value's text, in lower-case hexadecimal.

use std::fmt::Write;

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::functions::prelude::*;

pub(crate) static MD5: ScalarFunction = function(
    &["hash_md5(source: text) -> string"],
    "The MD5 hash of a value's text; empty for an empty text.",
    ResultName::None,
    &[example(
        "print s = hash_md5('hello')",
        "s:string\n5d41402abc4b2a76b9719d911017c592",
    )],
    digest::<Md5>,
);

pub(crate) static SHA1: ScalarFunction = function(
    &["hash_sha1(source: text) -> string"],
    "The SHA-1 hash of a value's text; empty for an empty text.",
    ResultName::None,
    &[example(
        "print s = hash_sha1('hello')",
        "s:string\naaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
    )],
    digest::<Sha1>,
);

pub(crate) static SHA256: ScalarFunction = function(
    &["hash_sha256(source: text) -> string"],
    "The SHA-256 hash of a value's text; empty for an empty text.",
    ResultName::None,
    &[example(
        "print s = hash_sha256('hello')",
        "s:string\n2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    )],
    digest::<Sha256>,
);

fn digest<D: Digest>(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    Ok(args.collect_strings(|row| {
        let text = text.get(row);
        (!text.is_empty()).then(|| Cow::Owned(hex(&D::digest(text))))
    }))
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
