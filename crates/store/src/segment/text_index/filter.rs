//! Split-block Bloom filters: eight bits of one bucket of 256 bits for each term.
//!
//! The filters of a section have equally many buckets and are interleaved: bucket 0 of all blocks, bucket 1 of all blocks, and so on. A
//! term has its bits in one bucket, so a look-up reads a few hundred consecutive bytes for a whole section.

/// Words of a bucket.
const WORDS: usize = 8;
/// Bytes of a bucket.
pub(in crate::segment) const BUCKET: usize = 4 * WORDS;
/// Bits of a filter for each distinct term: about one in five hundred other terms seems to be there.
const BITS_PER_TERM: usize = 16;
/// Most buckets of a filter: 32 KiB. A block with more terms than fit excludes fewer of them.
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

/// The hash of a folded term: FNV-1a over its bytes, mixed so that all bits depend on all bytes. It is part of the format.
pub(super) fn hash(term: &str) -> u64 {
    let fnv = term.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// The buckets of a filter for `terms` distinct terms.
pub(super) fn buckets_for(terms: usize) -> usize {
    terms
        .saturating_mul(BITS_PER_TERM)
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
    use super::*;

    #[test]
    fn a_filter_has_all_of_its_terms_and_few_others() {
        let terms = 5000;
        let buckets = buckets_for(terms);
        let mut filter = vec![0; buckets * BUCKET];
        let bucket = |hash| {
            let at = bucket_of(hash, buckets) * BUCKET;
            at..at + BUCKET
        };
        for term in 0..terms {
            let hash = hash(&format!("term{term}"));
            insert(&mut filter[bucket(hash)], hash);
        }
        let has = |term: usize| {
            let hash = hash(&format!("term{term}"));
            may_have(&filter[bucket(hash)], hash)
        };
        assert!((0..terms).all(has));
        let others = (terms..terms + 100_000).filter(|term| has(*term)).count();
        assert!(others < 400, "{others} of 100,000");
    }

    #[test]
    fn the_hash_is_that_of_the_format() {
        // Computed independently, in Python.
        assert_eq!(hash(""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash("deadlock"), 0x315c_fd49_850d_5ef6);
    }
}
