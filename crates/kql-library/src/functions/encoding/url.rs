//! `url_encode`, `url_encode_component`, `url_decode`.

use percent_encoding::percent_decode_str;

use crate::functions::prelude::*;

pub(crate) static ENCODE: ScalarFunction = function(
    &["url_encode(url: string) -> string"],
    "The text encoded for a URL's query: spaces as `+`, other special bytes in hexadecimal.",
    ResultName::None,
    &[example(
        "print s = url_encode('a b/ñ')",
        "s:string\na+b%2f%c3%b1",
    )],
    |args| encode(args, "+"),
);

pub(crate) static ENCODE_COMPONENT: ScalarFunction = function(
    &["url_encode_component(url: string) -> string"],
    "The text encoded for any part of a URL: spaces as `%20`, other special bytes in hexadecimal.",
    ResultName::None,
    &[example(
        "print s = url_encode_component('a b/ñ')",
        "s:string\na%20b%2f%c3%b1",
    )],
    |args| encode(args, "%20"),
);

pub(crate) static DECODE: ScalarFunction = function(
    &["url_decode(encoded_url: string) -> string"],
    "The text decoded from URL encoding.",
    ResultName::None,
    &[example(
        "print s = url_decode('a+b%2Fc')",
        "s:string\na b/c",
    )],
    |args| {
        let text = args.strings(0)?;
        Ok(args.collect_strings(|row| {
            let text = text.get(row).replace('+', " ");
            Some(Cow::Owned(
                percent_decode_str(&text).decode_utf8_lossy().into_owned(),
            ))
        }))
    },
);

fn encode(args: &KernelArgs<'_>, blank: &str) -> KernelResult {
    let text = args.strings(0)?;
    Ok(args.collect_strings(|row| Some(Cow::Owned(encoded(text.get(row), blank)))))
}

/// The characters that .NET's encoder does not escape.
const SAFE: &[u8] = b"-_.!*()";

fn encoded(text: &str, blank: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push_str(blank),
            byte if byte.is_ascii_alphanumeric() || SAFE.contains(&byte) => {
                out.push(char::from(byte))
            }
            // Writing to a string cannot fail.
            byte => drop(write!(out, "%{byte:02x}")),
        }
    }
    out
}
