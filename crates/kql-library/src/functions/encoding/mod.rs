//! Encodings of text and bytes (`docs/semantics.md §11`).

mod base64;
mod deflate;
mod inflate;
mod new_guid;
mod punycode;
mod url;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &base64::DECODE_TOARRAY,
    &base64::DECODE_TOGUID,
    &base64::DECODE_TOSTRING,
    &base64::ENCODE_FROMARRAY,
    &base64::ENCODE_FROMGUID,
    &base64::ENCODE_TOSTRING,
    &deflate::GZIP,
    &deflate::ZLIB,
    &inflate::GZIP,
    &inflate::ZLIB,
    &new_guid::DEF,
    &punycode::DOMAIN_FROM_STRING,
    &punycode::DOMAIN_TO_STRING,
    &punycode::FROM_STRING,
    &punycode::TO_STRING,
    &url::DECODE,
    &url::ENCODE,
    &url::ENCODE_COMPONENT,
];
