//! An open segment: bytes are given out only after their blocks were compared with their checksums.

use std::io::Cursor;
use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::Segment;
use super::checksums::{Checksums, blocks_around};
use super::open_file::{OpenFile, external};
use crate::error::StoreError;
use crate::vfs::ReadFile;

/// Bytes of ranges that are read at once at most: they stay in memory together.
const MOST_AT_ONCE: u64 = 1 << 20;

/// The file of a segment, opened for reading.
#[derive(Debug)]
pub(crate) struct SegmentFileReader {
    file: OpenFile,
    path: PathBuf,
    length: u64,
    /// None for a segment of before segments had checksums.
    checksums: Option<Checksums>,
}

impl SegmentFileReader {
    pub(crate) fn open(segment: &Segment) -> Result<SegmentFileReader> {
        let file = OpenFile::whole(segment)?;
        Ok(SegmentFileReader::of(segment, file))
    }

    /// A reader of a few parts of a segment: in an object store, only these are downloaded if the segment is not in the cache.
    pub(crate) fn open_for_parts(segment: &Segment) -> Result<SegmentFileReader> {
        let file = OpenFile::parts(segment)?;
        Ok(SegmentFileReader::of(segment, file))
    }

    fn of(segment: &Segment, file: OpenFile) -> SegmentFileReader {
        SegmentFileReader {
            file,
            path: segment.path().to_owned(),
            length: segment.record.bytes,
            checksums: segment.record.checksums.clone(),
        }
    }

    /// A reader of a file of `length` bytes that is open.
    pub(crate) fn over(
        file: Box<dyn ReadFile>,
        path: PathBuf,
        length: u64,
        checksums: Option<Checksums>,
    ) -> SegmentFileReader {
        SegmentFileReader {
            file: OpenFile::Only(file),
            path,
            length,
            checksums,
        }
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// [`StoreError::Damaged`], wrapped, where a block that holds some of them is not as it was written.
    pub(crate) fn read(&self, range: &Range<u64>) -> Result<Bytes> {
        let Some(checksums) = &self.checksums else {
            return self.file.read(range, &self.path).map(Bytes::from);
        };
        let blocks = blocks_around(range, self.length);
        if range.end > blocks.end {
            return Err(self.damaged(blocks.end, "it ends there"));
        }
        let bytes = match self.read_blocks(&blocks, checksums) {
            Ok(bytes) => bytes,
            Err(error) => self
                .read_blocks_again(&blocks, checksums)
                .unwrap_or(Err(error))?,
        };
        let (from, to) = (range.start - blocks.start, range.end - blocks.start);
        Ok(Bytes::from(bytes).slice(usize::try_from(from)?..usize::try_from(to)?))
    }

    /// The bytes of several ranges, in their order. Those that share a block are read at once: to read a few rows takes small parts of many
    /// columns, and the chunks of most columns are smaller than a block.
    ///
    /// # Errors
    /// As [`SegmentFileReader::read`].
    pub(crate) fn read_all(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut sorted: Vec<(usize, &Range<u64>)> = ranges.iter().enumerate().collect();
        sorted.sort_unstable_by_key(|(_, range)| range.start);
        let mut read = vec![Bytes::new(); ranges.len()];
        let (mut begin, mut end) = sorted.first().map_or((0, 0), |(_, range)| (range.start, 0));
        let parts = sorted.chunk_by(|(_, one), (_, next)| {
            end = end.max(one.end);
            let shares = next.start < blocks_around(&(begin..end), self.length).end;
            let joined = shares && next.end.saturating_sub(begin) <= MOST_AT_ONCE;
            if !joined {
                (begin, end) = (next.start, 0);
            }
            joined
        });
        for part in parts {
            let begin = part.first().map_or(0, |(_, range)| range.start);
            let end = part.iter().map(|(_, range)| range.end).max();
            let bytes = self.read(&(begin..end.unwrap_or(begin)))?;
            for (place, range) in part {
                let own =
                    usize::try_from(range.start - begin)?..usize::try_from(range.end - begin)?;
                if let Some(read) = read.get_mut(*place) {
                    *read = bytes.slice(own);
                }
            }
        }
        Ok(read)
    }

    /// The error of a footer that does not parse: only a file without checksums gets so far.
    pub(super) fn unparsable(&self, error: ParquetError) -> ParquetError {
        match error {
            ParquetError::External(_) => error,
            other => self.damaged(0, &format!("its footer does not parse: {other}")),
        }
    }

    fn read_blocks(&self, blocks: &Range<u64>, checksums: &Checksums) -> Result<Vec<u8>> {
        let bytes = self.file.read(blocks, &self.path)?;
        self.compare(blocks, bytes, checksums)
    }

    /// Reads blocks from another copy of the file; `None` if there is none.
    fn read_blocks_again(
        &self,
        blocks: &Range<u64>,
        checksums: &Checksums,
    ) -> Option<Result<Vec<u8>>> {
        let read = self.file.read_again(blocks, &self.path)?;
        Some(read.and_then(|bytes| self.compare(blocks, bytes, checksums)))
    }

    fn compare(
        &self,
        blocks: &Range<u64>,
        bytes: Vec<u8>,
        checksums: &Checksums,
    ) -> Result<Vec<u8>> {
        match checksums.first_damage(blocks.start, &bytes) {
            None => Ok(bytes),
            Some(offset) => Err(self.damaged(
                offset,
                "a block does not have the checksum that it was written with",
            )),
        }
    }

    fn damaged(&self, offset: u64, what: &str) -> ParquetError {
        external(StoreError::Damaged {
            path: self.path.clone(),
            offset,
            what: what.to_owned(),
        })
    }
}

impl Length for SegmentFileReader {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SegmentFileReader {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Cursor<Bytes>> {
        Ok(Cursor::new(self.read(&(start..self.length))?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.read(&(start..start + length as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::segment::ChecksumWriter;
    use crate::segment::checksums::BLOCK;

    /// A file in memory that counts reads.
    #[derive(Debug)]
    struct Counted {
        bytes: Vec<u8>,
        reads: std::sync::Arc<AtomicUsize>,
    }

    impl ReadFile for Counted {
        fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let from = usize::try_from(offset).expect("an offset");
            bytes.copy_from_slice(&self.bytes[from..from + bytes.len()]);
            Ok(())
        }
    }

    #[test]
    fn ranges_that_share_a_block_are_read_at_once() {
        let bytes: Vec<u8> = (0..3 * MOST_AT_ONCE + 7)
            .map(|n| ((n * n) >> 3) as u8)
            .collect();
        let mut sums = ChecksumWriter::default();
        sums.update(&bytes);
        let (reads, length) = (std::sync::Arc::new(AtomicUsize::new(0)), bytes.len() as u64);
        let file = Counted {
            bytes: bytes.clone(),
            reads: reads.clone(),
        };
        let checksums = Some(sums.finish());
        let reader = SegmentFileReader::over(Box::new(file), PathBuf::from("x"), length, checksums);
        let check = |ranges: &[Range<u64>], expected: usize| {
            let before = reads.load(Ordering::Relaxed);
            let found = reader.read_all(ranges).expect("it is whole");
            assert_eq!(found.len(), ranges.len());
            for (range, found) in ranges.iter().zip(found) {
                let own = range.start as usize..range.end as usize;
                assert_eq!(found, bytes[own], "{range:?}");
            }
            assert_eq!(
                reads.load(Ordering::Relaxed) - before,
                expected,
                "{ranges:?}"
            );
        };
        check(&[], 0);
        // In any order, and one within another.
        check(
            &[
                900..1000,
                5..9,
                100..BLOCK + 1,
                200..300,
                BLOCK + 5..BLOCK + 6,
            ],
            1,
        );
        check(&[0..BLOCK, BLOCK..BLOCK + 1], 2);
        check(&[0..1, 2 * BLOCK..2 * BLOCK + 1, length - 1..length], 3);
        // Large ranges stay apart.
        let half = MOST_AT_ONCE / 2 + 1;
        check(&[0..half, half..2 * half, 2 * half..3 * half], 3);
        assert!(
            reader.read_all(&[0..1, 0..length + 1]).is_err(),
            "beyond the end"
        );
    }
}
