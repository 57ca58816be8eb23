//! Undoing a body's `Content-Encoding`, with a bound on what comes out: a compression bomb costs bounded memory.

use std::borrow::Cow;
use std::io::Read;

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    /// More bytes than the setting allows: 413.
    #[error("The body is larger than {limit} bytes after decompression (setting `{setting}`)")]
    TooLarge {
        /// The bound.
        limit: usize,
        /// The setting that holds it.
        setting: &'static str,
    },
    /// An encoding that is not known, or more than one: 415.
    #[error(
        "The content encoding '{0}' is not supported; send one of identity, gzip, deflate, br, zstd, and only one"
    )]
    Unsupported(String),
    /// The bytes are not in the encoding that the header names: 400.
    #[error("The body is not valid {0}")]
    Corrupt(&'static str),
}

/// A codec of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    /// As it is.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or bare RFC 1951 as some clients send.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Codec {
    /// The codec that a `Content-Encoding` names. Stacked encodings are refused: each layer multiplies a bomb.
    pub(crate) fn parse(header: &str) -> Result<Codec, BodyError> {
        match header.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Codec::Identity),
            "gzip" | "x-gzip" => Ok(Codec::Gzip),
            "deflate" => Ok(Codec::Deflate),
            "br" => Ok(Codec::Brotli),
            "zstd" => Ok(Codec::Zstd),
            other => Err(BodyError::Unsupported(other.chars().take(100).collect())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Codec::Identity => "identity",
            Codec::Gzip => "gzip",
            Codec::Deflate => "deflate",
            Codec::Brotli => "br",
            Codec::Zstd => "zstd",
        }
    }
}

/// The name of the setting that bounds decompressed bodies.
const SETTING: &str = "ingest.max_decompressed_bytes";
/// The largest zstd window that is accepted, as a power of two: a frame may ask for gigabytes otherwise.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The plain bytes of a body; at most `limit` of them are ever held.
pub(crate) fn decode(codec: Codec, body: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, BodyError> {
    let corrupt = || BodyError::Corrupt(codec.name());
    match codec {
        Codec::Identity if body.len() > limit => Err(BodyError::TooLarge {
            limit,
            setting: SETTING,
        }),
        Codec::Identity => Ok(Cow::Borrowed(body)),
        Codec::Gzip => read(flate2::read::MultiGzDecoder::new(body), codec, limit),
        // What follows the end of the stream would be lost silently, unlike with gzip and zstd.
        Codec::Deflate if is_zlib(body) => {
            let mut decoder = flate2::bufread::ZlibDecoder::new(body);
            let plain = read(&mut decoder, codec, limit)?;
            let is_end = decoder.into_inner().is_empty();
            is_end.then_some(plain).ok_or_else(corrupt)
        }
        Codec::Deflate => {
            let mut decoder = flate2::bufread::DeflateDecoder::new(body);
            let plain = read(&mut decoder, codec, limit)?;
            let is_end = decoder.into_inner().is_empty();
            is_end.then_some(plain).ok_or_else(corrupt)
        }
        Codec::Brotli => {
            let mut decoder = brotli::Decompressor::new(body, 4096);
            let plain = read(&mut decoder, codec, limit)?;
            // Asked once more, it complains about bytes that it took from the body and did not need.
            let is_end = decoder.read(&mut [0]).is_ok() && decoder.get_ref().is_empty();
            is_end.then_some(plain).ok_or_else(corrupt)
        }
        Codec::Zstd => {
            let mut decoder =
                zstd::stream::read::Decoder::with_buffer(body).map_err(|_| corrupt())?;
            decoder
                .window_log_max(ZSTD_WINDOW_LOG)
                .map_err(|_| corrupt())?;
            read(decoder, codec, limit)
        }
    }
}

/// Whether the bytes begin with a zlib header; `deflate` is sent with and without one.
fn is_zlib(body: &[u8]) -> bool {
    match body {
        [cmf, flg, ..] => cmf & 0x0f == 8 && (u16::from(*cmf) * 256 + u16::from(*flg)) % 31 == 0,
        _ => false,
    }
}

fn read(
    mut decoder: impl Read,
    codec: Codec,
    limit: usize,
) -> Result<Cow<'static, [u8]>, BodyError> {
    let corrupt = |_| BodyError::Corrupt(codec.name());
    let mut plain = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX);
    decoder
        .by_ref()
        .take(bound)
        .read_to_end(&mut plain)
        .map_err(corrupt)?;
    // One byte more is looked for apart: in the buffer it would double that.
    let is_more = plain.len() == limit && decoder.read(&mut [0]).map_err(corrupt)? > 0;
    if is_more {
        return Err(BodyError::TooLarge {
            limit,
            setting: SETTING,
        });
    }
    Ok(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const CODECS: [Codec; 4] = [Codec::Gzip, Codec::Deflate, Codec::Brotli, Codec::Zstd];

    fn encode(codec: Codec, plain: &[u8]) -> Vec<u8> {
        match codec {
            Codec::Identity => plain.to_vec(),
            Codec::Gzip => {
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Deflate => {
                let mut encoder =
                    flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(plain).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Brotli => {
                let mut out = Vec::new();
                {
                    let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 5, 20);
                    encoder.write_all(plain).unwrap();
                }
                out
            }
            Codec::Zstd => zstd::encode_all(plain, 3).unwrap(),
        }
    }

    #[test]
    fn every_codec_gives_back_what_went_in() {
        for codec in CODECS {
            let packed = encode(codec, b"[{\"name\":\"x\"}]");
            assert_eq!(
                decode(codec, &packed, 1000).unwrap().as_ref(),
                b"[{\"name\":\"x\"}]",
                "{codec:?}"
            );
        }
    }

    #[test]
    fn bare_deflate_is_read_too() {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"{}").unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(decode(Codec::Deflate, &packed, 10).unwrap().as_ref(), b"{}");
    }

    #[test]
    fn a_bomb_of_every_codec_stops_at_the_limit() {
        let zeros = vec![0_u8; 32 << 20];
        for codec in CODECS {
            let bomb = encode(codec, &zeros);
            assert!(bomb.len() < 200_000, "{codec:?} is no bomb: {}", bomb.len());
            let error = decode(codec, &bomb, 1 << 20).unwrap_err();
            assert!(
                matches!(error, BodyError::TooLarge { limit, .. } if limit == 1 << 20),
                "{codec:?}: {error}"
            );
        }
    }

    #[test]
    fn a_body_may_be_as_large_as_the_limit() {
        for codec in CODECS {
            let packed = encode(codec, &[b' '; 1000]);
            assert_eq!(decode(codec, &packed, 1000).unwrap().len(), 1000);
            assert!(decode(codec, &packed, 999).is_err(), "{codec:?}");
        }
    }

    #[test]
    fn garbage_is_corrupt_and_never_a_panic() {
        for codec in CODECS {
            let error = decode(codec, b"\x99not compressed at all", 1000).unwrap_err();
            assert!(matches!(error, BodyError::Corrupt(_)), "{codec:?}: {error}");
        }
    }

    #[test]
    fn what_follows_the_end_is_corrupt() {
        let bare = |plain: &[u8]| {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        };
        let packed = CODECS.map(|codec| (codec, encode(codec, b"{}")));
        for (codec, packed) in packed.into_iter().chain([(Codec::Deflate, bare(b"{}"))]) {
            for garbage in [b"g".repeat(7), b"g".repeat(10_000)] {
                let more = [packed.as_slice(), &garbage].concat();
                let refused = decode(codec, &more, 1000);
                assert_eq!(refused, Err(BodyError::Corrupt(codec.name())), "{codec:?}");
            }
            let less = packed.get(..packed.len() - 1).unwrap();
            assert!(decode(codec, less, 1000).is_err(), "{codec:?} cut off");
        }
    }

    #[test]
    fn unknown_and_stacked_encodings_are_refused() {
        for header in ["gzip, gzip", "compress", "gzip,br"] {
            assert!(
                matches!(Codec::parse(header), Err(BodyError::Unsupported(_))),
                "{header}"
            );
        }
        assert_eq!(Codec::parse(" GZip "), Ok(Codec::Gzip));
        assert_eq!(Codec::parse(""), Ok(Codec::Identity));
    }
}
