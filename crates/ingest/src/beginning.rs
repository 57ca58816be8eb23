//! The plain bytes at the beginning of a body, for what is decided before it is decoded.

use std::cell::Cell;
use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::body::{Codec, bound, is_snappy_stream, is_zlib, zstd_decoder};

/// The plain bytes of a body from its beginning on, as many as were asked for. What is broken ends them: it is found when the body is
/// decoded.
pub struct Beginning<'b> {
    rest: Box<dyn Read + 'b>,
    plain: Vec<u8>,
}

impl<'b> Beginning<'b> {
    /// Nothing yet.
    pub fn of(codec: Codec, body: &'b [u8]) -> Beginning<'b> {
        let rest: Box<dyn Read + 'b> = match codec {
            Codec::Identity => Box::new(body),
            Codec::Gzip => Box::new(Members::of(body)),
            Codec::Deflate if is_zlib(body) => Box::new(flate2::bufread::ZlibDecoder::new(body)),
            Codec::Deflate => Box::new(flate2::bufread::DeflateDecoder::new(body)),
            Codec::Brotli => Box::new(brotli::Decompressor::new(body, 4096)),
            Codec::Zstd => match zstd_decoder(body) {
                Ok(decoder) => Box::new(decoder),
                Err(_) => Box::new(io::empty()),
            },
            Codec::Snappy if is_snappy_stream(body) => {
                Box::new(snap::read::FrameDecoder::new(body))
            }
            // A block is decompressed whole; of a large one nothing is read.
            Codec::Snappy => Box::new(io::empty()),
        };
        Beginning {
            rest,
            plain: Vec::new(),
        }
    }

    /// Decompresses the body until at least `length` bytes are plain, or all of them, and returns what is plain.
    pub fn bytes(&mut self, length: usize) -> &[u8] {
        let more = length.saturating_sub(self.plain.len());
        if more > 0 {
            self.plain.reserve(more);
            // A broken body is found when it is decoded.
            let _ = (&mut *self.rest)
                .take(bound(more))
                .read_to_end(&mut self.plain);
        }
        &self.plain
    }
}

thread_local! {
    /// A state of inflation. Clearing the 40 KiB of a new one takes longer than inflating the beginning of a body.
    static KEPT: Cell<Option<Decompress>> = const { Cell::new(None) };
}

/// The members of a gzip file (RFC 1952 §2.2), without their checksums.
struct Members<'b> {
    inflate: Option<Decompress>,
    /// What is not inflated yet.
    packed: &'b [u8],
}

impl<'b> Members<'b> {
    fn of(body: &'b [u8]) -> Members<'b> {
        let raw = || Decompress::new(false);
        let mut inflate = KEPT.take().unwrap_or_else(raw);
        inflate.reset(false);
        Members {
            inflate: Some(inflate),
            packed: after_header(body).unwrap_or_default(),
        }
    }

    /// Goes on with the next member.
    fn advance(&mut self) {
        let next = self.packed.get(TRAILER..).and_then(after_header);
        self.packed = next.unwrap_or_default();
        if let Some(inflate) = &mut self.inflate {
            inflate.reset(false);
        }
    }
}

impl Read for Members<'_> {
    fn read(&mut self, plain: &mut [u8]) -> io::Result<usize> {
        while !self.packed.is_empty() && !plain.is_empty() {
            let Some(inflate) = &mut self.inflate else {
                break;
            };
            let (taken, given) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(self.packed, plain, FlushDecompress::None)?;
            let since = |now: u64, before: u64| usize::try_from(now - before).unwrap_or_default();
            let (taken, given) = (
                since(inflate.total_in(), taken),
                since(inflate.total_out(), given),
            );
            self.packed = self.packed.get(taken..).unwrap_or_default();
            match status {
                Status::StreamEnd => self.advance(),
                // The member is cut off.
                Status::Ok | Status::BufError if taken == 0 && given == 0 => break,
                Status::Ok | Status::BufError => (),
            }
            if given > 0 {
                return Ok(given);
            }
        }
        Ok(0)
    }
}

impl Drop for Members<'_> {
    fn drop(&mut self) {
        KEPT.set(self.inflate.take());
    }
}

/// Bytes after the data of a member: its checksum and its size.
const TRAILER: usize = 8;

/// What follows the header of a member (RFC 1952 §2.3).
fn after_header(member: &[u8]) -> Option<&[u8]> {
    const EXTRA: u8 = 1 << 2;
    const NAME: u8 = 1 << 3;
    const COMMENT: u8 = 1 << 4;
    const CHECKSUM: u8 = 1 << 1;
    let (fixed, mut rest) = member.split_first_chunk::<10>()?;
    let [0x1f, 0x8b, 8, flags, ..] = *fixed else {
        return None;
    };
    if flags & EXTRA != 0 {
        let (length, extra) = rest.split_first_chunk::<2>()?;
        rest = extra.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = memchr::memchr(0, rest)?;
            rest = rest.get(end + 1..)?;
        }
    }
    let checksum = if flags & CHECKSUM != 0 { 2 } else { 0 };
    rest.get(checksum..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::tests::{CODECS, encode};
    use std::io::Write;

    fn plain(size: usize) -> Vec<u8> {
        (0..=u8::MAX).cycle().take(size).collect()
    }

    #[test]
    fn what_was_read_stays_and_a_second_look_at_less_reads_nothing() {
        let plain = plain(10_000);
        for codec in CODECS {
            let packed = encode(codec, &plain);
            let mut beginning = Beginning::of(codec, &packed);
            for (few, read) in [(10, 10), (100, 100), (50, 100), (20_000, 10_000)] {
                assert_eq!(
                    beginning.bytes(few),
                    plain.get(..read).unwrap(),
                    "{codec:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_broken_ends_the_beginning() {
        for codec in CODECS {
            let mut broken = Beginning::of(codec, b"\x99not compressed");
            assert!(broken.bytes(100).len() <= 100);
            let packed = encode(codec, &plain(1000));
            for end in 0..packed.len() {
                let mut cut_off = Beginning::of(codec, packed.get(..end).unwrap());
                assert!(plain(1000).starts_with(cut_off.bytes(2000)), "{codec:?}");
            }
        }
    }

    #[test]
    fn members_of_gzip_follow_each_other_whatever_their_headers_have() {
        let mut packed = Vec::new();
        for text in ["first, ", "", "second"] {
            let header = flate2::GzBuilder::new()
                .extra(b"extra\0".to_vec())
                .filename("name")
                .comment("comment");
            let mut member = header.write(Vec::new(), flate2::Compression::best());
            member.write_all(text.as_bytes()).unwrap();
            packed.extend(member.finish().unwrap());
        }
        let mut beginning = Beginning::of(Codec::Gzip, &packed);
        assert_eq!(beginning.bytes(3), b"fir");
        assert_eq!(beginning.bytes(100), b"first, second");
    }
}
