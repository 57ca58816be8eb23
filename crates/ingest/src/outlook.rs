//! What the beginning of a body tells of it. A body is judged when it is decoded.

use crate::beginning::Beginning;
use crate::body::{self, Codec};
use crate::split;

/// Bytes at the beginning of a body in which its first instrumentation key is looked for.
const BEGINNING: usize = 8 << 10;
/// Bytes in which the key is looked for first: most envelopes have it there. While many requests are refused, their keys are all that is
/// looked for.
const FIRST: usize = 512;
/// The size of an item, where the beginning of a body does not tell it.
const USUAL_ITEM: usize = 512;

/// An estimate of a body from its beginning, which is decompressed as far as it is looked at.
pub struct Outlook<'b> {
    codec: Codec,
    body: &'b [u8],
    beginning: Beginning<'b>,
}

/// What a body is expected to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Bytes when it is decompressed.
    pub plain: usize,
    /// Items.
    pub items: usize,
}

impl<'b> Outlook<'b> {
    /// The outlook of a body.
    pub fn of(codec: Codec, body: &'b [u8]) -> Outlook<'b> {
        Outlook {
            codec,
            body,
            beginning: Beginning::of(codec, body),
        }
    }

    /// The first instrumentation key: whose telemetry it is.
    pub fn key(&mut self) -> Option<String> {
        let mut looked_at = [FIRST, BEGINNING].into_iter();
        looked_at.find_map(|few| first_key(self.beginning.bytes(few)))
    }

    /// What the body is expected to hold, if at most `limit` bytes of it are decompressed.
    pub fn expected(&mut self, limit: usize) -> Expected {
        let plain = body::expected_size(self.codec, self.body).min(limit);
        let size = split::mean_size(self.beginning.bytes(BEGINNING));
        Expected {
            plain,
            items: plain / size.unwrap_or(USUAL_ITEM) + 1,
        }
    }
}

/// The text after the first `"iKey":`.
fn first_key(text: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\"iKey\"";
    let at = memchr::memmem::find(text, NAME)?;
    let value = text.get(at + NAME.len()..)?.trim_ascii_start();
    let value = value.strip_prefix(b":")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"")?;
    let end = value.iter().position(|byte| *byte == b'"')?;
    String::from_utf8(value.get(..end)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(body: &str, limit: usize) -> (Option<String>, Expected) {
        let mut outlook = Outlook::of(Codec::Identity, body.as_bytes());
        (outlook.key(), outlook.expected(limit))
    }

    #[test]
    fn the_first_key_is_found_wherever_it_ends_in_the_beginning() {
        for before in 0..FIRST + 10 {
            let body = format!(r#"{}{{"iKey": "a-key"}}{{"iKey":"b"}}"#, " ".repeat(before));
            assert_eq!(
                outlook(&body, 1 << 20).0.as_deref(),
                Some("a-key"),
                "{before}"
            );
        }
        let late = format!(r#"{}{{"iKey":"a"}}"#, " ".repeat(BEGINNING));
        assert_eq!(outlook(&late, 1 << 20).0, None);
        assert_eq!(outlook("", 1 << 20).0, None);
    }

    #[test]
    fn items_are_expected_by_the_mean_size_of_the_first_ones() {
        let body = r#"{"iKey":"a"}"#.repeat(10);
        let check = |limit: usize, plain: usize, items: usize| {
            assert_eq!(outlook(&body, limit).1, Expected { plain, items });
        };
        check(1 << 20, 120, 11);
        check(60, 60, 6);
        assert_eq!(outlook("{", 1000).1.items, 1);
    }
}
