//! Files and locks that a process holds.

use std::io::{self, Write};
use std::path::PathBuf;

use rand::Rng;
use rand::rngs::StdRng;

use super::inode::Inode;
use super::{Disk, Fate};
use crate::vfs::{FileLock, ReadFile, WriteFile};

/// The lock of a folder, until it is dropped or its process ends.
#[derive(Debug)]
pub(super) struct Lock {
    pub(super) disk: Disk,
    pub(super) epoch: u64,
    pub(super) path: PathBuf,
}

impl FileLock for Lock {}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut state = self.disk.0.lock();
        if state.epoch == self.epoch {
            state.locked.remove(&self.path);
        }
    }
}

/// An open file.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) disk: Disk,
    pub(super) epoch: u64,
    pub(super) id: u64,
    pub(super) path: PathBuf,
    pub(super) offset: usize,
}

impl Handle {
    /// Does something with the file, if its process has not ended.
    fn with<T>(
        &self,
        call: &'static str,
        checksum: u64,
        work: impl FnOnce(&mut Inode, Fate, &mut StdRng) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.disk.0.lock();
        if state.epoch != self.epoch {
            return Err(io::Error::other("the process has ended"));
        }
        let fate = state.begin(call, &self.path, checksum)?;
        let state = &mut *state;
        match state.inodes.get_mut(&self.id) {
            Some(inode) => work(inode, fate, &mut state.random),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl ReadFile for Handle {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.with("read_at", offset, |inode, fate, _| {
            let from = offset as usize;
            let found = inode.cache.get(from..from + bytes.len());
            bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
            fate.end()
        })
    }
}

impl Write for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let offset = self.offset;
        let written = self.with("write", checksum(bytes), |inode, fate, random| {
            let part = random.random_range(0..=bytes.len());
            let some = match fate {
                Fate::Done | Fate::DoneThenError => bytes,
                Fate::HalfDone => &bytes[..part],
                Fate::Short => &bytes[..part.max(1)],
            };
            inode.write(offset, some);
            fate.end().map(|()| some.len())
        })?;
        self.offset += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for Handle {
    fn sync(&mut self) -> io::Result<()> {
        self.with("sync", 0, |inode, fate, random| {
            if fate == Fate::HalfDone {
                inode.fail_sync(random);
            } else {
                inode.sync();
            }
            fate.end()
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.with("truncate", length, |inode, fate, _| {
            inode.truncate(length as usize);
            fate.end()
        })?;
        self.offset = length as usize;
        Ok(())
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    u64::from(crc32c::crc32c(bytes)) << 32 | bytes.len() as u64
}
