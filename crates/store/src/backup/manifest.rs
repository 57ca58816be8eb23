//! The file `manifest` of a backup: which files belong to it, with their sizes and checksums. `FORMAT.md`, "Backups".

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::vfs::{self, RealFs, Vfs};

/// The version of the format that this program writes and the newest that it reads.
const VERSION: u32 = 1;

/// Size and checksum of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// CRC-32C of the whole file.
    pub(super) checksum: u32,
    pub(super) bytes: u64,
}

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The id of the store.
    pub(super) store: String,
    /// When the backup was begun, in ticks.
    pub(super) created: i64,
    /// The last request in it.
    pub(super) sequence: u64,
    /// The folder of the files that each backup writes anew, such as `state-3`.
    pub(super) state: String,
    /// All files, by their paths in the backup, with `/` between the parts.
    pub(super) files: BTreeMap<String, FileEntry>,
}

/// The path of the manifest in a backup.
pub(super) fn path(backup: &Path) -> PathBuf {
    backup.join("manifest")
}

impl Manifest {
    /// Reads the manifest of a backup.
    ///
    /// # Errors
    /// [`StoreError::NoBackup`] if the folder has none, [`StoreError::Damaged`] if it is not as it was written,
    /// [`StoreError::NewerFormat`] if a newer program wrote it.
    pub(super) fn read(backup: &Path) -> Result<Manifest> {
        let path = path(backup);
        let bytes = match RealFs.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NoBackup {
                    path: backup.to_owned(),
                });
            }
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        let damaged = |what: &str| StoreError::Damaged {
            path: path.clone(),
            offset: 0,
            what: what.to_owned(),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is not text"))?;
        let version: u32 = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("hindsight-backup ")?.parse().ok())
            .ok_or_else(|| damaged("its first line does not name a format"))?;
        if version > VERSION {
            return Err(StoreError::NewerFormat {
                path: backup.to_owned(),
                found: version,
                supported: VERSION,
            });
        }
        let body = verified(text).ok_or_else(|| damaged("it does not have its checksum"))?;
        parse(body).ok_or_else(|| damaged("a line of it cannot be read"))
    }

    /// Writes the manifest in the place of an earlier one: after a crash the old one is there or the new one.
    pub(super) fn write(&self, backup: &Path) -> Result<()> {
        let mut text = format!(
            "hindsight-backup {VERSION}\nstore {}\ncreated {}\nsequence {}\nstate {}\n",
            self.store, self.created, self.sequence, self.state
        );
        for (path, file) in &self.files {
            text += &format!("file {:08x} {} {path}\n", file.checksum, file.bytes);
        }
        text += &format!("end {:08x}\n", crc32c::crc32c(text.as_bytes()));
        let path = path(backup);
        vfs::replace(&RealFs, &path.with_extension("tmp"), &path, text.as_bytes())
            .map_err(StoreError::io("write", &path))
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

/// The text before the last line, which has the checksum of it.
fn verified(text: &str) -> Option<&str> {
    let (body, last) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let body = text.get(..body.len() + 1)?;
    let sum = u32::from_str_radix(last.strip_prefix("end ")?, 16).ok()?;
    (crc32c::crc32c(body.as_bytes()) == sum).then_some(body)
}

fn parse(body: &str) -> Option<Manifest> {
    let mut lines = body.lines().skip(1);
    let mut field = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let (store, created) = (field("store")?.to_owned(), field("created")?.parse().ok()?);
    let (sequence, state) = (field("sequence")?.parse().ok()?, field("state")?.to_owned());
    let mut files = BTreeMap::new();
    for line in lines {
        let mut parts = line.strip_prefix("file ")?.splitn(3, ' ');
        let checksum = u32::from_str_radix(parts.next()?, 16).ok()?;
        let bytes = parts.next()?.parse().ok()?;
        let path = parts.next().filter(|path| stays_below(path))?;
        files.insert(path.to_owned(), FileEntry { checksum, bytes });
    }
    Some(Manifest {
        store,
        created,
        sequence,
        state,
        files,
    })
}

/// Whether a path leads to no place outside of the folder that it is relative to.
fn stays_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_and_a_changed_byte_of_it_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = FileEntry {
            checksum: 7,
            bytes: 9,
        };
        let manifest = Manifest {
            store: "a".to_owned(),
            created: 5,
            sequence: 6,
            state: "state-1".to_owned(),
            files: BTreeMap::from([("segments/a file".to_owned(), file)]),
        };
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        assert!(
            stays_below("a/b") && !stays_below("../a") && !stays_below("/a") && !stays_below("")
        );
        let whole = std::fs::read(path(folder.path())).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            std::fs::write(path(folder.path()), bytes).unwrap();
            assert!(Manifest::read(folder.path()).is_err(), "byte {place}");
        }
    }
}
