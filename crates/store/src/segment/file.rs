//! An open segment: bytes are given out only after their blocks were compared with their checksums.

use std::io::Cursor;
use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::Segment;
use super::checksums::{Checksums, blocks_around};
use crate::error::StoreError;
use crate::vfs::ReadFile;

/// The file of a segment, opened for reading.
#[derive(Debug)]
pub(crate) struct SegmentFileReader {
    file: Box<dyn ReadFile>,
    path: PathBuf,
    length: u64,
    /// None for a segment of before segments had checksums.
    checksums: Option<Checksums>,
}

impl SegmentFileReader {
    pub(crate) fn open(segment: &Segment) -> Result<SegmentFileReader> {
        let path = segment.path().to_owned();
        let opened = segment.vfs().open(&path);
        let file = opened.map_err(|source| external(StoreError::io("open", &path)(source)))?;
        let (length, checksums) = (segment.record.bytes, segment.record.checksums.clone());
        Ok(SegmentFileReader::over(file, path, length, checksums))
    }

    /// A reader of a file of `length` bytes that is open.
    pub(crate) fn over(
        file: Box<dyn ReadFile>,
        path: PathBuf,
        length: u64,
        checksums: Option<Checksums>,
    ) -> SegmentFileReader {
        SegmentFileReader {
            file,
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
        let bytes = self.read_raw(&blocks)?;
        if let Some(offset) = checksums.first_damage(blocks.start, &bytes) {
            return Err(self.damaged(
                offset,
                "a block does not have the checksum that it was written with",
            ));
        }
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
        let length = usize::try_from(range.end.saturating_sub(range.start))?;
        let mut bytes = vec![0; length];
        let read = self.file.read_exact_at(&mut bytes, range.start);
        read.map_err(|source| external(StoreError::io("read", &self.path)(source)))?;
        Ok(bytes)
    }

    fn damaged(&self, offset: u64, what: &str) -> ParquetError {
        external(StoreError::Damaged {
            path: self.path.clone(),
            offset,
            what: what.to_owned(),
        })
    }
}

fn external(error: StoreError) -> ParquetError {
    ParquetError::External(Box::new(error))
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
