//! `gzip_decompress_from_base64_string` and `zlib_decompress_from_base64_string`.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};

use super::base64::decode;
use crate::functions::prelude::*;
use crate::kernel::MAX_TEXT;

pub(crate) static GZIP: ScalarFunction = function(
    &["gzip_decompress_from_base64_string(string: string) -> string"],
    "The decompressed text of gzip data in base64; empty if the data is not valid.",
    ResultName::None,
    &[example(
        "print s = gzip_decompress_from_base64_string('not compressed')",
        "s:string\n",
    )],
    |args| inflate(args, |bytes| read(GzDecoder::new(bytes))),
);

pub(crate) static ZLIB: ScalarFunction = function(
    &["zlib_decompress_from_base64_string(string: string) -> string"],
    "The decompressed text of zlib data in base64; empty if the data is not valid.",
    ResultName::None,
    &[example(
        "print s = zlib_decompress_from_base64_string('eJxLTEoGAAJNASc=')",
        "s:string\nabc",
    )],
    |args| inflate(args, |bytes| read(ZlibDecoder::new(bytes))),
);

fn inflate(args: &KernelArgs<'_>, unpack: fn(&[u8]) -> Option<Vec<u8>>) -> KernelResult {
    let text = args.strings(0)?;
    Ok(args.collect_strings(|row| {
        let bytes = unpack(&decode(text.get(row))?)?;
        if args.limits().allows_length(bytes.len()) {
            String::from_utf8(bytes).ok().map(Cow::Owned)
        } else {
            None
        }
    }))
}

/// The decompressed bytes, at most one more than a string may have: a few bytes can expand to gigabytes.
fn read(stream: impl Read) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let largest = MAX_TEXT as u64;
    stream.take(largest + 1).read_to_end(&mut out).ok()?;
    Some(out)
}
