//! `gzip_compress_to_base64_string` and `zlib_compress_to_base64_string` (RFC 1950, 1951 and 1952).
//!
//! Text that does not become shorter is stored as it is, as the measured engine does. The bytes of other texts depend on the
//! compressor; every decompressor gives the text.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::functions::prelude::*;

/// The maximum length of a stored block.
const MAX_STORED: usize = 65_535;

pub(crate) static GZIP: ScalarFunction = function(
    &["gzip_compress_to_base64_string(string: string) -> string"],
    "The text's UTF-8 bytes, compressed as gzip and encoded in base64.",
    ResultName::None,
    &[example(
        "print s = gzip_decompress_from_base64_string(gzip_compress_to_base64_string('abc'))",
        "s:string\nabc",
    )],
    |args| compress(args, gzip),
);

pub(crate) static ZLIB: ScalarFunction = function(
    &["zlib_compress_to_base64_string(string: string) -> string"],
    "The text's UTF-8 bytes, compressed as zlib data and encoded in base64.",
    ResultName::None,
    &[example(
        "print s = zlib_decompress_from_base64_string(zlib_compress_to_base64_string('abc'))",
        "s:string\nabc",
    )],
    |args| compress(args, zlib),
);

fn compress(args: &KernelArgs<'_>, pack: fn(&[u8]) -> Option<Vec<u8>>) -> KernelResult {
    let text = args.strings(0)?;
    Ok(args.collect_strings(|row| {
        let bytes = pack(text.get(row).as_bytes())?;
        let encoded = BASE64_STANDARD.encode(bytes);
        args.limits()
            .allows_length(encoded.len())
            .then_some(Cow::Owned(encoded))
    }))
}

/// A gzip member without a name, a time and an operating system (RFC 1952 §2.3).
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    out.extend(deflate(bytes)?);
    let mut crc = Crc::new();
    crc.update(bytes);
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    Some(out)
}

/// Zlib data with a window of 32 KiB and the default level (RFC 1950 §2.2).
fn zlib(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = vec![0x78, 0x9c];
    out.extend(deflate(bytes)?);
    out.extend(adler32(bytes).to_be_bytes());
    Some(out)
}

fn deflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).ok()?;
    let packed = encoder.finish().ok()?;
    if packed.len() < bytes.len() || bytes.len() > MAX_STORED {
        return Some(packed);
    }
    // The last block, stored: its length, and the complement of its length (RFC 1951 §3.2.4).
    let length = u16::try_from(bytes.len()).ok()?;
    let mut stored = vec![1];
    stored.extend(length.to_le_bytes());
    stored.extend((!length).to_le_bytes());
    stored.extend(bytes);
    Some(stored)
}

/// The checksum of zlib data (RFC 1950 §8.2).
fn adler32(bytes: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    // The maximum number of bytes after which both sums fit in 32 bits (`NMAX` of zlib).
    const CHUNK: usize = 5_552;
    let (mut low, mut high) = (1_u32, 0_u32);
    for chunk in bytes.chunks(CHUNK) {
        for byte in chunk {
            low += u32::from(*byte);
            high += low;
        }
        low %= BASE;
        high %= BASE;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::adler32;

    /// The example of RFC 1950's reference implementation.
    #[test]
    fn the_checksum_is_adler() {
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
        assert_eq!(adler32(&[0xff; 10_000]), 0xB623_EB2B);
    }
}
