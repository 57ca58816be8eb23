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
            return self.read_raw(range).map(Bytes::from);
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

    /// The error of a footer that does not parse: only a file without checksums gets so far.
    pub(super) fn unparsable(&self, error: ParquetError) -> ParquetError {
        match error {
            ParquetError::External(_) => error,
            other => self.damaged(0, &format!("its footer does not parse: {other}")),
        }
    }

    fn read_raw(&self, range: &Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = buffer(range)?;
        self.file.read(&mut bytes, range.start, &self.path)?;
        Ok(bytes)
    }

    fn read_blocks(&self, blocks: &Range<u64>, checksums: &Checksums) -> Result<Vec<u8>> {
        let bytes = self.read_raw(blocks)?;
        self.compare(blocks, bytes, checksums)
    }

    /// Reads blocks from another copy of the file; `None` if there is none.
    fn read_blocks_again(
        &self,
        blocks: &Range<u64>,
        checksums: &Checksums,
    ) -> Option<Result<Vec<u8>>> {
        let mut bytes = match buffer(blocks) {
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(error)),
        };
        let read = self.file.read_again(&mut bytes, blocks.start, &self.path)?;
        Some(read.and_then(|()| self.compare(blocks, bytes, checksums)))
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

fn buffer(range: &Range<u64>) -> Result<Vec<u8>> {
    let length = usize::try_from(range.end.saturating_sub(range.start))?;
    Ok(vec![0; length])
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
