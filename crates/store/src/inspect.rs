//! Reads single files of a store outside of it, as the fuzz targets do: whatever the bytes are, the answer is a count or an error that
//! names the file.

use std::io;
use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::Result;
use crate::log;
use crate::segment::{ChecksumWriter, SegmentFileReader};
use crate::vfs::ReadFile;

/// Counts the requests in the last file of a log, whose first record has the sequence `first`.
///
/// # Errors
/// [`crate::StoreError::Damaged`] where an acknowledged request does not read back.
pub fn log_requests(path: &Path, first: u64, bytes: &[u8]) -> Result<u64> {
    let mut requests = 0;
    log::read_file(path, first, bytes, |_, _| {
        requests += 1;
        Ok(())
    })?;
    Ok(requests)
}

/// Counts the rows of a segment's file. Its blocks are compared with those of `written`, which is what the file should be.
///
/// # Errors
/// [`crate::StoreError::Parquet`] with [`crate::StoreError::Damaged`] in it where a block differs.
pub fn segment_rows(path: &Path, bytes: Vec<u8>, written: &[u8]) -> Result<u64> {
    let mut checksums = ChecksumWriter::default();
    checksums.update(written);
    let length = written.len() as u64;
    let file = SegmentFileReader::over(
        Box::new(InMemory(bytes)),
        path.to_owned(),
        length,
        Some(checksums.finish()),
    );
    let mut rows = 0;
    for batch in ParquetRecordBatchReaderBuilder::try_new(file)?.build()? {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

#[derive(Debug)]
struct InMemory(Vec<u8>);

impl ReadFile for InMemory {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes.len());
        let found = self.0.get(start..end);
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// The seeds of the fuzz targets: files as the store wrote them.
    const LOG: &[u8] = include_bytes!("../../../fuzz/regressions/log/three_requests");
    const SEGMENT: &[u8] = include_bytes!("../../../fuzz/regressions/segment/one_hour");

    /// Bytes with a few changes: flipped, removed, repeated, set.
    fn mutated(bytes: &[u8], random: &mut StdRng) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..random.random_range(1..4) {
            let place = random.random_range(0..bytes.len().max(1));
            let end = (place + random.random_range(1..64)).min(bytes.len());
            match random.random_range(0..5) {
                0 => bytes.truncate(place),
                1 => drop(bytes.drain(place..end)),
                2 => bytes.extend_from_within(place..end),
                3 => bytes[place..end].fill(random.random()),
                _ => {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte ^= 1 << random.random_range(0..8);
                    }
                }
            }
        }
        bytes
    }

    #[test]
    fn the_seeds_read_back() {
        let path = Path::new("a file");
        assert_eq!(log_requests(path, 1, LOG).unwrap(), 3);
        assert_eq!(segment_rows(path, SEGMENT.to_vec(), SEGMENT).unwrap(), 40);
    }

    #[test]
    fn any_bytes_are_a_log_or_an_error_that_names_the_file() {
        let mut random = StdRng::seed_from_u64(1);
        let mut refused = 0;
        for _ in 0..3000 {
            match log_requests(Path::new("a file"), 1, &mutated(LOG, &mut random)) {
                Ok(requests) => assert!(requests <= 3),
                Err(error) => {
                    assert!(error.to_string().contains("a file"), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 1000, "{refused}");
    }

    #[test]
    fn any_bytes_but_those_of_the_segment_are_an_error_that_names_the_file() {
        let mut random = StdRng::seed_from_u64(1);
        for _ in 0..1000 {
            let bytes = mutated(SEGMENT, &mut random);
            // Bytes behind the end of the file are not read.
            if bytes.starts_with(SEGMENT) {
                continue;
            }
            let error = segment_rows(Path::new("a file"), bytes, SEGMENT).unwrap_err();
            assert!(error.to_string().contains("a file"), "{error}");
        }
    }
}
