//! Undoing a body's `Content-Encoding`, with a bound on what comes out: a compression bomb costs bounded memory.

use std::borrow::Cow;
use std::io::Read;

/// Why a body cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
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
        "The content encoding '{0}' is not supported; send one of identity, gzip, deflate, br, zstd, snappy, and only one"
    )]
    Unsupported(String),
    /// The bytes are not in the encoding that the header names: 400.
    #[error("The body is not valid {0}")]
    Corrupt(&'static str),
    /// There are more bytes than there is room for at the moment, and no more than the setting allows.
    #[error("The body has {bytes} bytes after decompression")]
    NeedsRoom {
        /// Bytes after decompression.
        bytes: usize,
    },
}

/// A codec of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
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
    /// Snappy, as one block or as a stream in its framing format: collectors send both under this name.
    Snappy,
}

impl Codec {
    /// The codec that a `Content-Encoding` names. Stacked encodings are refused: each layer multiplies a bomb.
    ///
    /// # Errors
    /// [`BodyError::Unsupported`] if it names none of them, or several.
    pub fn parse(header: &str) -> Result<Codec, BodyError> {
        match header.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Codec::Identity),
            "gzip" | "x-gzip" => Ok(Codec::Gzip),
            "deflate" => Ok(Codec::Deflate),
            "br" => Ok(Codec::Brotli),
            "zstd" => Ok(Codec::Zstd),
            "snappy" | "x-snappy-framed" => Ok(Codec::Snappy),
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
            Codec::Snappy => "snappy",
        }
    }
}

/// The name of the setting that bounds decompressed bodies.
const SETTING: &str = "ingest.max_decompressed_bytes";
/// The largest zstd window that is accepted, as a power of two: a frame may ask for gigabytes otherwise.
const ZSTD_WINDOW_LOG: u32 = 23;

/// What may come out of a body.
#[derive(Debug, Clone, Copy)]
struct Limit {
    /// Bytes by the setting.
    limit: usize,
    /// Bytes that may be held now.
    room: usize,
}

impl Limit {
    fn too_large(self) -> BodyError {
        BodyError::TooLarge {
            limit: self.limit,
            setting: SETTING,
        }
    }
}

/// Plain bytes that are held before it is known how many there are.
const BLIND: usize = 4 << 20;

/// The plain bytes of a body. At most `limit` of them are ever held, and only a few where there are more than that.
///
/// # Errors
/// [`BodyError`] if there are more bytes than `limit`, or the body is not in the encoding.
pub fn decode(codec: Codec, body: &[u8], limit: usize) -> Result<Cow<'_, [u8]>, BodyError> {
    decode_within(codec, body, limit, limit)
}

/// As [`decode`], holding at most `room` bytes: [`BodyError::NeedsRoom`] says how many there are where they are more.
///
/// # Errors
/// As [`decode`], and [`BodyError::NeedsRoom`].
pub fn decode_within(
    codec: Codec,
    body: &[u8],
    limit: usize,
    room: usize,
) -> Result<Cow<'_, [u8]>, BodyError> {
    let limit = Limit { limit, room };
    // One more, so that the end of the body is found without more room.
    let expected = expected_size(codec, body).saturating_add(1);
    let corrupt = || BodyError::Corrupt(codec.name());
    // What follows the end of a stream would be lost silently; gzip and zstd take it for the next member.
    let (plain, is_end) = match codec {
        Codec::Identity if body.len() > limit.limit => return Err(limit.too_large()),
        Codec::Identity => return Ok(Cow::Borrowed(body)),
        Codec::Gzip => {
            let open = || Ok(flate2::bufread::MultiGzDecoder::new(body));
            (read(open, codec, expected, limit)?.0, true)
        }
        Codec::Deflate if is_zlib(body) => {
            let open = || Ok(flate2::bufread::ZlibDecoder::new(body));
            let (plain, decoder) = read(open, codec, expected, limit)?;
            (plain, decoder.into_inner().is_empty())
        }
        Codec::Deflate => {
            let open = || Ok(flate2::bufread::DeflateDecoder::new(body));
            let (plain, decoder) = read(open, codec, expected, limit)?;
            (plain, decoder.into_inner().is_empty())
        }
        Codec::Brotli => {
            let open = || Ok(brotli::Decompressor::new(body, 4096));
            let (plain, mut decoder) = read(open, codec, expected, limit)?;
            // Asked once more, it complains about bytes that it took from the body and did not need.
            let is_end = decoder.read(&mut [0]).is_ok() && decoder.get_ref().is_empty();
            (plain, is_end)
        }
        Codec::Zstd => {
            let open = || zstd_decoder(body);
            (read(open, codec, expected, limit)?.0, true)
        }
        Codec::Snappy if is_snappy_stream(body) => {
            let open = || Ok(snap::read::FrameDecoder::new(body));
            (read(open, codec, expected, limit)?.0, true)
        }
        Codec::Snappy => (snappy_block(body, limit)?, true),
    };
    is_end.then_some(Cow::Owned(plain)).ok_or_else(corrupt)
}

/// How much larger Snappy can make a block at most, rounded up: a copy of 64 bytes takes three.
const MOST_OF_SNAPPY: usize = 22;

/// Whether the bytes begin as a stream in the framing format of Snappy; a block cannot. A stream of nothing has no bytes.
pub(super) fn is_snappy_stream(body: &[u8]) -> bool {
    body.is_empty() || body.starts_with(b"\xff\x06\x00\x00sNaPpY")
}

/// The plain bytes of a block of Snappy, which begins with their number.
fn snappy_block(body: &[u8], limit: Limit) -> Result<Vec<u8>, BodyError> {
    let corrupt = |_| BodyError::Corrupt(Codec::Snappy.name());
    let bytes = snap::raw::decompress_len(body).map_err(corrupt)?;
    if bytes > body.len().saturating_mul(MOST_OF_SNAPPY) {
        return Err(BodyError::Corrupt(Codec::Snappy.name()));
    }
    if bytes > limit.limit {
        return Err(limit.too_large());
    }
    if bytes > limit.room {
        return Err(BodyError::NeedsRoom { bytes });
    }
    let mut decoder = snap::raw::Decoder::new();
    decoder.decompress_vec(body).map_err(corrupt)
}

/// Whether the bytes begin with a zlib header; `deflate` is sent with and without one.
pub(super) fn is_zlib(body: &[u8]) -> bool {
    match body {
        [cmf, flg, ..] => cmf & 0x0f == 8 && (u16::from(*cmf) * 256 + u16::from(*flg)) % 31 == 0,
        _ => false,
    }
}

/// The plain bytes, and the decoder that gave them all. A body of many is decoded twice, first to count them: a bomb is
/// found without room for what is in it, and the room for others is made once.
fn read<D: Read>(
    open: impl Fn() -> std::io::Result<D>,
    codec: Codec,
    expected: usize,
    limit: Limit,
) -> Result<(Vec<u8>, D), BodyError> {
    let corrupt = |_| BodyError::Corrupt(codec.name());
    let mut decoder = open().map_err(corrupt)?;
    let few = BLIND.min(limit.limit).min(limit.room);
    let mut plain = Vec::with_capacity(few.min(expected));
    let few = bound(few);
    let held = decoder.by_ref().take(few).read_to_end(&mut plain);
    // Fewer than were asked for: these are all.
    if bound(held.map_err(corrupt)?) < few {
        return Ok((plain, decoder));
    }
    let rest = bound(limit.limit.saturating_sub(plain.len()));
    let beyond = std::io::copy(
        &mut decoder.by_ref().take(rest.saturating_add(1)),
        &mut std::io::sink(),
    );
    let beyond = beyond.map_err(corrupt)?;
    if beyond > rest {
        return Err(limit.too_large());
    }
    if beyond == 0 {
        return Ok((plain, decoder));
    }
    let all = plain.len() + usize::try_from(beyond).map_err(|_| limit.too_large())?;
    if all > limit.room {
        return Err(BodyError::NeedsRoom { bytes: all });
    }
    drop((plain, decoder));
    let mut decoder = open().map_err(corrupt)?;
    let mut plain = vec![0; all];
    decoder.read_exact(&mut plain).map_err(corrupt)?;
    // The decoder looks at what follows the last byte when it is asked for more.
    let more = decoder.read(&mut [0]).map_err(corrupt)?;
    (more == 0)
        .then_some((plain, decoder))
        .ok_or_else(|| limit.too_large())
}

/// How much larger a body becomes where nothing in it tells.
const EXPANSION: usize = 16;
/// How much larger DEFLATE (RFC 1951) can make a body at most, rounded up.
const MOST_EXPANSION: usize = 1040;

/// How many plain bytes a body says or is expected to have. The size in a trailer of gzip or a header of zstd may be wrong.
pub fn expected_size(codec: Codec, body: &[u8]) -> usize {
    let told = match codec {
        Codec::Identity => return body.len(),
        // RFC 1952 §2.3.1: the size modulo 2³² of the last member.
        Codec::Gzip => body
            .last_chunk::<4>()
            .and_then(|size| usize::try_from(u32::from_le_bytes(*size)).ok()),
        Codec::Zstd => zstd::zstd_safe::get_frame_content_size(body)
            .ok()
            .flatten()
            .and_then(|size| usize::try_from(size).ok()),
        Codec::Snappy if !is_snappy_stream(body) => snap::raw::decompress_len(body).ok(),
        Codec::Deflate | Codec::Brotli | Codec::Snappy => None,
    };
    let usual = body.len().saturating_mul(EXPANSION);
    let most = body.len().saturating_mul(MOST_EXPANSION);
    told.map_or(usual, |told| told.clamp(body.len(), most))
}

pub(super) fn zstd_decoder(
    body: &[u8],
) -> std::io::Result<zstd::stream::read::Decoder<'static, &[u8]>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(body)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(decoder)
}

/// As the count of bytes that a reader takes.
pub(super) fn bound(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::Write;

    pub(crate) const CODECS: [Codec; 5] = [
        Codec::Gzip,
        Codec::Deflate,
        Codec::Brotli,
        Codec::Zstd,
        Codec::Snappy,
    ];

    pub(crate) fn encode(codec: Codec, plain: &[u8]) -> Vec<u8> {
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
            Codec::Snappy => {
                let mut encoder = snap::write::FrameEncoder::new(Vec::new());
                encoder.write_all(plain).unwrap();
                encoder.into_inner().unwrap()
            }
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
    fn blocks_of_snappy_are_read_too() {
        let plain = b"resourceSpans ".repeat(100);
        let block = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
        let read = |limit, room| decode_within(Codec::Snappy, &block, limit, room);
        assert_eq!(read(2000, 2000).unwrap().as_ref(), plain);
        assert!(matches!(
            read(1399, 1399),
            Err(BodyError::TooLarge { limit: 1399, .. })
        ));
        assert_eq!(read(2000, 1000), Err(BodyError::NeedsRoom { bytes: 1400 }));
        assert_eq!(expected_size(Codec::Snappy, &block), 1400);
        assert_eq!(Codec::parse("x-snappy-framed"), Ok(Codec::Snappy));
    }

    #[test]
    fn the_expected_size_is_what_the_body_says_within_what_is_possible() {
        let plain = b"[{}]".repeat(1000);
        for codec in [Codec::Gzip, Codec::Zstd] {
            let packed = encode(codec, &plain);
            // `zstd::encode_all` writes a stream, whose header says no size.
            let expected = match codec {
                Codec::Gzip => 4000.min(packed.len() * MOST_EXPANSION),
                _ => packed.len() * EXPANSION,
            };
            assert_eq!(expected_size(codec, &packed), expected, "{codec:?}");
        }
        let told = zstd::bulk::compress(&plain, 1).unwrap();
        assert_eq!(expected_size(Codec::Zstd, &told), 4000);
        let liar = [&[0; 20][..], &u32::MAX.to_le_bytes()].concat();
        assert_eq!(expected_size(Codec::Gzip, &liar), 24 * MOST_EXPANSION);
        assert_eq!(expected_size(Codec::Gzip, b""), 0);
    }

    #[test]
    fn a_bomb_of_every_codec_stops_at_the_limit() {
        let zeros = vec![0_u8; 32 << 20];
        for codec in CODECS {
            let bomb = encode(codec, &zeros);
            assert!(
                bomb.len() < 2_000_000,
                "{codec:?} is no bomb: {}",
                bomb.len()
            );
            let error = decode(codec, &bomb, 1 << 20).unwrap_err();
            assert!(
                matches!(error, BodyError::TooLarge { limit, .. } if limit == 1 << 20),
                "{codec:?}: {error}"
            );
        }
    }

    #[test]
    fn a_body_may_be_as_large_as_the_limit() {
        for size in [0, 1000, BLIND - 1, BLIND, BLIND + 1, 3 * BLIND] {
            let plain: Vec<u8> = (0..=u8::MAX).cycle().take(size).collect();
            for codec in CODECS {
                let packed = encode(codec, &plain);
                for limit in [size, size + 1] {
                    assert!(decode(codec, &packed, limit).unwrap() == plain, "{codec:?}");
                }
                let less = size.checked_sub(1).map(|less| decode(codec, &packed, less));
                assert!(less.is_none_or(|refused| refused.is_err()), "{codec:?}");
            }
        }
    }

    #[test]
    fn a_body_that_needs_more_room_says_how_much() {
        let plain: Vec<u8> = (0..=u8::MAX).cycle().take(10_000).collect();
        for codec in CODECS {
            let packed = encode(codec, &plain);
            for room in [0, 1, 9_999] {
                let refused = decode_within(codec, &packed, 20_000, room);
                assert_eq!(
                    refused,
                    Err(BodyError::NeedsRoom { bytes: 10_000 }),
                    "{codec:?}"
                );
            }
            assert!(decode_within(codec, &packed, 20_000, 10_000).unwrap() == plain);
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
