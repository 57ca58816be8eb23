//! Split-block Bloom filters: eight bits of one bucket of 256 bits for each hash.

/// Words of a bucket.
const WORDS: usize = 8;
/// Bytes of a bucket.
pub(in crate::segment) const BUCKET: usize = 4 * WORDS;
/// Most buckets of a filter: 32 KiB. A block with more hashes than fit excludes fewer of them.
const MAX_BUCKETS: usize = 1024;

/// Odd constants that spread a hash over the words of a bucket, those of Parquet's Bloom filters.
const SALT: [u32; WORDS] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// The buckets of a filter for `hashes` distinct hashes, with `bits` for each.
pub(super) fn buckets_for(hashes: usize, bits: usize) -> usize {
    hashes
        .saturating_mul(bits)
        .div_ceil(8 * BUCKET)
        .clamp(1, MAX_BUCKETS)
}

/// The bucket of a hash, among `buckets`.
pub(in crate::segment) fn bucket_of(hash: u64, buckets: usize) -> usize {
    let share = (u128::from(hash >> 32) * buckets as u128) >> 32;
    usize::try_from(share).unwrap_or_default()
}

/// The bits of a hash in its bucket.
fn mask(hash: u64) -> [u8; BUCKET] {
    let mut bytes = [0; BUCKET];
    let (words, _) = bytes.as_chunks_mut::<4>();
    for (word, salt) in words.iter_mut().zip(SALT) {
        let bit = (hash as u32).wrapping_mul(salt) >> 27;
        *word = (1_u32 << bit).to_le_bytes();
    }
    bytes
}

/// Sets the bits of a hash in its bucket.
pub(super) fn insert(bucket: &mut [u8], hash: u64) {
    for (byte, bits) in bucket.iter_mut().zip(mask(hash)) {
        *byte |= bits;
    }
}

/// Whether a bucket may have been given the hash.
pub(in crate::segment) fn may_have(bucket: &[u8], hash: u64) -> bool {
    bucket.len() == BUCKET
        && bucket
            .iter()
            .zip(mask(hash))
            .all(|(byte, bits)| byte & bits == bits)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh64::xxh64;

    use super::*;

    #[test]
    fn a_filter_has_all_of_its_hashes_and_few_others() {
        let hash = |number: usize| xxh64(&number.to_le_bytes(), 0);
        for (bits, most_others) in [(16, 400), (8, 4500)] {
            let buckets = buckets_for(5000, bits);
            let mut filter = vec![0; buckets * BUCKET];
            let bucket = |hash| {
                let at = bucket_of(hash, buckets) * BUCKET;
                at..at + BUCKET
            };
            for hash in (0..5000).map(hash) {
                insert(&mut filter[bucket(hash)], hash);
            }
            let has = |number: usize| {
                let hash = hash(number);
                may_have(&filter[bucket(hash)], hash)
            };
            assert!((0..5000).all(has));
            let others = (5000..105_000).filter(|number| has(*number)).count();
            assert!(others < most_others, "{others} of 100,000 with {bits} bits");
        }
    }
}
