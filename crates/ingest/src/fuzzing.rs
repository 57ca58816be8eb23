//! Arbitrary bodies through the real decoder: what the fuzz target `track` and a test over mutated bodies call.

use hindsight_rows::{AppColumns, Owner, Window};
use hindsight_store::AppId;

use crate::body::{self, BodyError, Codec};
use crate::{ItemRules, KeyRefusal, Outlook, Sender, decode, split};

/// Bytes that a body may have after decompression.
const LIMIT: usize = 1 << 20;
/// Ticks of 2025-06-02T12:00:00Z.
const NOW: i64 = 638_844_696_000_000_000;
/// The instrumentation key of the only application.
const IKEY: &str = "aaaaaaaa-0000-0000-0000-000000000001";
/// Ticks in a day.
const DAY: i64 = 864_000_000_000;

/// Decodes an input, whose first byte selects the encoding of the rest, as the body of a post of telemetry. Returns how many items
/// were accepted and refused.
///
/// # Panics
/// If the decoder loses an item, reports one twice or holds more than it may.
pub fn track(input: &[u8]) -> (usize, usize) {
    let Some((codec, packed)) = input.split_first() else {
        return (0, 0);
    };
    let codecs = [
        Codec::Identity,
        Codec::Gzip,
        Codec::Deflate,
        Codec::Brotli,
        Codec::Zstd,
    ];
    let codec = codecs.into_iter().cycle().nth(usize::from(*codec));
    let codec = codec.unwrap_or(Codec::Identity);
    let mut outlook = Outlook::of(codec, packed);
    outlook.key();
    let expected = outlook.expected(LIMIT);
    assert!(expected.plain <= LIMIT && expected.items <= LIMIT + 1);
    let small = body::decode_within(codec, packed, LIMIT, LIMIT / 16);
    let plain = match body::decode(codec, packed, LIMIT) {
        Ok(plain) => plain,
        Err(error) => {
            assert!(!matches!(error, BodyError::NeedsRoom { .. }), "{error}");
            return (0, 0);
        }
    };
    match small {
        Ok(same) => assert!(same == plain, "the room changes the bytes"),
        Err(error) => assert_eq!(error, BodyError::NeedsRoom { bytes: plain.len() }),
    }
    let rules = ItemRules {
        window: Window {
            now: NOW,
            max_age: 2 * DAY,
            max_ahead: DAY,
        },
        max_item_bytes: 65_536,
        clock_is_trusted: true,
    };
    let find = |ikey: &str| {
        if ikey == IKEY {
            Ok(application())
        } else {
            Err(KeyRefusal::Unknown)
        }
    };
    let (items, received) = split(&plain, usize::MAX);
    let decoded = decode(&items, &rules, &Sender::default(), &find)
        .unwrap_or_else(|error| unreachable!("{error}"));
    let accepted: usize = decoded.apps.iter().map(|app| app.items.len()).sum();
    let rows: usize = decoded
        .apps
        .iter()
        .flat_map(|app| &app.batches)
        .map(|(_, batch)| batch.num_rows())
        .sum();
    assert_eq!(rows, accepted, "each accepted item is a row");
    assert_eq!(decoded.received, received);
    assert_eq!(accepted + decoded.errors.len(), decoded.received);
    (accepted, decoded.errors.len())
}

fn application() -> Owner<'static> {
    Owner {
        app: AppId(uuid::Uuid::from_u128(1)),
        columns: AppColumns {
            ikey: IKEY,
            ..AppColumns::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// Bodies that fuzzing begins with: one of each item type, in several encodings.
    fn seeds() -> Vec<Vec<u8>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/track");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let seeds = files.iter().map(|path| std::fs::read(path).unwrap());
        seeds
            .flat_map(|body| {
                let packed = zstd::encode_all(body.as_slice(), 1).unwrap();
                [
                    [&[0], body.as_slice()].concat(),
                    [&[4], packed.as_slice()].concat(),
                ]
            })
            .collect()
    }

    #[test]
    fn every_seed_is_accepted() {
        let seeds = seeds();
        assert!(seeds.len() >= 20, "{}", seeds.len());
        for seed in seeds {
            let (accepted, refused) = track(&seed);
            let shown = String::from_utf8_lossy(&seed).into_owned();
            assert!(accepted > 0 && refused == 0, "{accepted} {refused} {shown}");
        }
    }

    #[test]
    fn mutated_bodies_are_decoded_or_refused_item_by_item() {
        const WORDS: [&[u8]; 12] = [
            b"\"", b"{", b"}", b"[", b"null", b"1e999", b"-0", b"\\ud800", b"\xff", b",", b"\n",
            b":",
        ];
        let mut random = StdRng::seed_from_u64(7);
        let (seeds, mut accepted) = (seeds(), 0);
        for _ in 0..4_000 {
            let mut body = seeds[random.random_range(0..seeds.len())].clone();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(1..body.len());
                match random.random_range(0..5) {
                    0 => body[at] ^= 1 << random.random_range(0..8),
                    1 => body.truncate(at.max(2)),
                    2 => {
                        let word = WORDS[random.random_range(0..WORDS.len())];
                        body.splice(at..at, word.iter().copied());
                    }
                    3 => {
                        let end = random.random_range(at..body.len()).min(at + 200);
                        let part = body[at..end].to_vec();
                        body.splice(at..at, part);
                    }
                    _ => {
                        let end = (at + random.random_range(1..20)).min(body.len());
                        body.drain(at..end);
                    }
                }
                if body.len() < 2 {
                    break;
                }
            }
            accepted += track(&body).0;
        }
        assert!(accepted > 0, "mutations leave some items whole");
    }
}
