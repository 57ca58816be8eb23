//! Checksums of a segment's file: one CRC-32C for each block of [`BLOCK`] bytes, the shorter last one included.
//!
//! Every byte of the file is covered: data pages, dictionaries, bloom filters, page indexes and the footer. A reader reads
//! whole blocks and compares each before it uses a byte of it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a block. A smaller one costs more memory in the catalogue, a larger one more reading around small ranges.
pub(crate) const BLOCK: u64 = 32 << 10;

/// The checksums of a file's blocks, in order.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Checksums(Arc<[u32]>);

impl fmt::Debug for Checksums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksums of {} blocks", self.0.len())
    }
}

impl Checksums {
    /// As the catalogue keeps them.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|sum| sum.to_le_bytes()).collect()
    }

    /// What [`Checksums::to_bytes`] wrote; `None` if the bytes are not that.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Checksums> {
        let (sums, rest) = bytes.as_chunks::<4>();
        rest.is_empty()
            .then(|| Checksums(sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect()))
    }

    /// The first byte of the first block whose checksum differs.
    pub(crate) fn first_difference(&self, other: &Checksums) -> Option<u64> {
        let same = self.0.iter().zip(other.0.iter());
        let equal = same.take_while(|(one, two)| one == two).count();
        let longest = self.0.len().max(other.0.len());
        (equal < longest).then_some(equal as u64 * BLOCK)
    }

    /// The CRC-32C of the whole file, which has `length` bytes.
    pub(crate) fn of_file(&self, length: u64) -> u32 {
        let mut left = length;
        self.0.iter().fold(0, |sum, block| {
            let size = left.min(BLOCK);
            left -= size;
            crc32c::crc32c_combine(sum, *block, usize::try_from(size).unwrap_or(usize::MAX))
        })
    }

    /// The first byte of the first block in `bytes` that differs from what was written. `bytes` are whole blocks, the first of
    /// which begins at `start`.
    pub(crate) fn first_damage(&self, start: u64, bytes: &[u8]) -> Option<u64> {
        let blocks = bytes.chunks(BLOCK as usize);
        (start / BLOCK..)
            .zip(blocks)
            .find(|(index, block)| {
                let due = usize::try_from(*index)
                    .ok()
                    .and_then(|index| self.0.get(index));
                due != Some(&crc32c::crc32c(block))
            })
            .map(|(index, _)| index * BLOCK)
    }
}

/// The whole blocks of a file of `length` bytes that hold a range.
pub(crate) fn blocks_around(range: &Range<u64>, length: u64) -> Range<u64> {
    let start = range.start / BLOCK * BLOCK;
    let end = range.end.div_ceil(BLOCK).saturating_mul(BLOCK);
    start..end.min(length)
}

/// Computes the checksums of a file while it is written.
#[derive(Debug, Default)]
pub(crate) struct ChecksumWriter {
    sums: Vec<u32>,
    /// The checksum of the block that is being written, and its bytes so far.
    open: (u32, u64),
}

impl ChecksumWriter {
    /// Takes the next bytes of the file.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (sum, length) = self.open;
            let room = usize::try_from(BLOCK - length).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.open = (crc32c::crc32c_append(sum, now), length + now.len() as u64);
            if self.open.1 == BLOCK {
                self.end_block();
            }
            bytes = later;
        }
    }

    fn end_block(&mut self) {
        self.sums.push(self.open.0);
        self.open = (0, 0);
    }

    /// The checksums of the file, which ends here.
    pub(crate) fn finish(mut self) -> Checksums {
        if self.open.1 > 0 {
            self.end_block();
        }
        Checksums(self.sums.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(bytes: &[u8], step: usize) -> Checksums {
        let mut writer = ChecksumWriter::default();
        bytes.chunks(step).for_each(|part| writer.update(part));
        writer.finish()
    }

    #[test]
    fn checksums_do_not_depend_on_how_the_file_was_written() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 7).map(|n| (n % 251) as u8).collect();
        let whole = sums(&bytes, usize::MAX);
        for step in [1, 1000, BLOCK as usize, BLOCK as usize + 1] {
            assert_eq!(sums(&bytes, step), whole, "{step}");
        }
        assert_eq!(
            Checksums::from_bytes(&whole.to_bytes()),
            Some(whole.clone())
        );
        assert_eq!(Checksums::from_bytes(&[1, 2, 3]), None);
        assert_eq!(whole.first_damage(0, &bytes), None);
        assert_eq!(whole.of_file(bytes.len() as u64), crc32c::crc32c(&bytes));
    }

    #[test]
    fn a_flipped_bit_a_missing_end_and_too_many_bytes_are_found_where_they_are() {
        let mut bytes: Vec<u8> = vec![7; 2 * BLOCK as usize + 7];
        let whole = sums(&bytes, usize::MAX);
        let last = 2 * BLOCK;
        assert_eq!(whole.first_damage(last, &bytes[last as usize..]), None);
        assert_eq!(whole.first_damage(0, &bytes[..bytes.len() - 1]), Some(last));
        bytes[BLOCK as usize + 5] ^= 1;
        assert_eq!(whole.first_damage(0, &bytes), Some(BLOCK));
        assert_eq!(whole.first_damage(last, &bytes[last as usize..]), None);
        let long = vec![7; 4 * BLOCK as usize];
        assert_eq!(whole.first_damage(3 * BLOCK, &long[..5]), Some(3 * BLOCK));
    }

    #[test]
    fn ranges_are_widened_to_whole_blocks_of_the_file() {
        assert_eq!(blocks_around(&(5..6), 10 * BLOCK), 0..BLOCK);
        assert_eq!(
            blocks_around(&(BLOCK..BLOCK + 1), 10 * BLOCK),
            BLOCK..2 * BLOCK
        );
        assert_eq!(blocks_around(&(5..BLOCK + 1), BLOCK + 3), 0..BLOCK + 3);
    }
}
