//! `gzip_decompress_from_base64_string` and `zlib_decompress_from_base64_string`.
//!
//! Their opposites are not offered: the compressed bytes depend on the compressor, so they would differ.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};

use super::base64::decode;
use crate::functions::prelude::*;

pub(crate) static GZIP: ScalarFunction = function(
    &["gzip_decompress_from_base64_string(string: string) -> string"],
    "The text that was compressed with gzip and written in base 64; empty where it was not.",
    ResultName::None,
    &[example(
        "print s = gzip_decompress_from_base64_string('not compressed')",
        "s:string\n",
    )],
    |args| inflate(args, |bytes| read(GzDecoder::new(bytes))),
);

pub(crate) static ZLIB: ScalarFunction = function(
    &["zlib_decompress_from_base64_string(string: string) -> string"],
    "The text that was compressed with zlib and written in base 64; empty where it was not.",
    ResultName::None,
    &[example(
        "print s = zlib_decompress_from_base64_string('eJxLTEoGAAJNASc=')",
        "s:string\nabc",
    )],
    |args| inflate(args, |bytes| read(ZlibDecoder::new(bytes))),
);

/// No text grows beyond this: a few bytes can claim to hold gigabytes.
const LARGEST: u64 = 1 << 26;

fn inflate(args: &KernelArgs<'_>, unpack: fn(&[u8]) -> Option<String>) -> Answer {
    let text = args.strings(0)?;
    Ok(args.collect_strings(|row| unpack(&decode(text.get(row))?).map(Cow::Owned)))
}

fn read(stream: impl Read) -> Option<String> {
    let mut out = Vec::new();
    let size = stream.take(LARGEST + 1).read_to_end(&mut out).ok()?;
    if size as u64 > LARGEST {
        return None;
    }
    String::from_utf8(out).ok()
}
