//! The file of a segment as Parquet reads it, without a comparison with checksums: what the catalogue does not know has none.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::vfs::{ReadFile, Vfs};

/// An open file.
#[derive(Debug, Clone)]
pub(super) struct RawFile {
    file: Arc<dyn ReadFile>,
    length: u64,
}

impl RawFile {
    pub(super) fn open(vfs: &dyn Vfs, path: &Path) -> io::Result<RawFile> {
        let file = vfs.open(path)?;
        let info = vfs.info(path)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(RawFile {
            file: Arc::from(file),
            length: info.length,
        })
    }

    /// Reads on from a byte.
    pub(super) fn from(&self, offset: u64) -> ReadFrom {
        ReadFrom {
            file: self.clone(),
            offset,
        }
    }
}

/// Reads a file from a byte to its end.
#[derive(Debug)]
pub(super) struct ReadFrom {
    file: RawFile,
    offset: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.file.length.saturating_sub(self.offset);
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = bytes.get_mut(..count).unwrap_or_default();
        self.file.file.read_exact_at(part, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Length for RawFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for RawFile {
    type T = BufReader<ReadFrom>;

    fn get_read(&self, start: u64) -> Result<BufReader<ReadFrom>> {
        Ok(BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let left = self.length.saturating_sub(start);
        if left < length as u64 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(Bytes::from(self.file.read_at(start, length)?))
    }
}
