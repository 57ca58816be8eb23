//! A folder that several machines share, as an object store.
//!
//! An object is a file. It is written under another name, synced, and gets its name by a hard link, which fails if there is a file of that
//! name: of several writers one succeeds, also over NFS.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use hindsight_kql_types::ticks::from_unix_millis;
use hindsight_store::{ObjectError, ObjectInfo, ObjectStorage};
use uuid::Uuid;

/// What the names of files begin with that are being written.
const UNFINISHED: &str = ".writing-";

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    address: String,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Folder {
        Folder {
            root: root.to_owned(),
            address: format!("file://{}", root.display()),
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// A folder that does not exist may be one that is not mounted: its objects then count as unavailable, and not as missing.
    fn check_root(&self) -> Result<(), ObjectError> {
        match fs::metadata(&self.root) {
            Ok(_) => Ok(()),
            Err(error) => Err(ObjectError::Unavailable(format!("the folder: {error}"))),
        }
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)?;
        let unfinished = folder.join(format!("{UNFINISHED}{}", Uuid::new_v4().simple()));
        let written = (|| {
            let mut file = File::create_new(&unfinished)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::hard_link(&unfinished, path)
        })();
        let _ = fs::remove_file(&unfinished);
        written?;
        File::open(folder)?.sync_all()
    }
}

impl ObjectStorage for Folder {
    fn address(&self) -> &str {
        &self.address
    }

    fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError> {
        self.check_root()?;
        let written = self.write(&self.path(key), &content);
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => ObjectError::Exists,
            _ => failure(&error),
        })
    }

    fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> Result<Box<dyn Read + Send>, ObjectError> {
        self.check_root()?;
        let opened = File::open(self.path(key));
        let mut file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => ObjectError::NotFound,
            _ => failure(&error),
        })?;
        match range {
            None => Ok(Box::new(file)),
            Some(range) => {
                let sought = file.seek(SeekFrom::Start(range.start));
                sought.map_err(|error| failure(&error))?;
                Ok(Box::new(file.take(range.end.saturating_sub(range.start))))
            }
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError> {
        self.check_root()?;
        let mut found = Vec::new();
        list_below(&self.path(prefix), prefix, &mut found).map_err(|error| failure(&error))?;
        Ok(found)
    }

    fn delete(&self, key: &str) -> Result<(), ObjectError> {
        self.check_root()?;
        match fs::remove_file(self.path(key)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failure(&error)),
            _ => Ok(()),
        }
    }
}

/// Adds the files below a folder. What is removed meanwhile is left out.
fn list_below(folder: &Path, key: &str, found: &mut Vec<ObjectInfo>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with(UNFINISHED)) else {
            continue;
        };
        let key = format!("{key}/{name}");
        let info = match entry.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            info => info?,
        };
        if info.is_dir() {
            list_below(&entry.path(), &key, found)?;
            continue;
        }
        let since = info.modified()?.duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        found.push(ObjectInfo {
            key,
            bytes: info.len(),
            modified: i64::try_from(millis)
                .ok()
                .and_then(from_unix_millis)
                .unwrap_or(i64::MAX),
        });
    }
    Ok(())
}

fn failure(error: &io::Error) -> ObjectError {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::Unsupported => {
            ObjectError::Refused(error.to_string())
        }
        _ => ObjectError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Folder, key: &str, range: Option<Range<u64>>) -> Result<String, ObjectError> {
        let mut text = String::new();
        folder
            .get(key, range)?
            .read_to_string(&mut text)
            .expect("it is read");
        Ok(text)
    }

    #[test]
    fn objects_are_written_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        assert_eq!(folder.list("a").expect("a list"), []);
        folder
            .put_new("a/b/c", Bytes::from_static(b"first"))
            .expect("it is written");
        let again = folder.put_new("a/b/c", Bytes::from_static(b"second"));
        assert_eq!(again, Err(ObjectError::Exists));
        assert_eq!(read(&folder, "a/b/c", None).as_deref(), Ok("first"));
        assert_eq!(read(&folder, "a/b/c", Some(1..3)).as_deref(), Ok("ir"));
        assert_eq!(read(&folder, "a/b/d", None), Err(ObjectError::NotFound));
        let list = folder.list("a").expect("a list");
        let known: Vec<_> = list.iter().map(|o| (o.key.as_str(), o.bytes)).collect();
        assert_eq!(known, [("a/b/c", 5)]);
        assert_eq!(folder.list("a/b").expect("a list"), list);
        folder.delete("a/b/c").expect("it is deleted");
        folder.delete("a/b/c").expect("it is deleted already");
        assert_eq!(folder.list("a").expect("a list"), []);
    }

    #[test]
    fn of_several_writers_one_succeeds() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        let won = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(
                    || match folder.put_new("a/b", Bytes::from(vec![7; 1 << 16])) {
                        Ok(()) => drop(won.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
                        other => assert_eq!(other, Err(ObjectError::Exists)),
                    },
                );
            }
        });
        assert_eq!(won.into_inner(), 1);
        assert_eq!(folder.list("a").expect("a list").len(), 1);
    }

    #[test]
    fn a_folder_that_is_not_mounted_says_nothing_of_objects() {
        let folder = Folder::new(Path::new("/nonexistent/of/hindsight"));
        assert!(matches!(
            folder.get("a", None),
            Err(ObjectError::Unavailable(_))
        ));
        assert!(matches!(folder.list("a"), Err(ObjectError::Unavailable(_))));
        assert!(matches!(
            folder.put_new("a", Bytes::new()),
            Err(ObjectError::Unavailable(_))
        ));
    }
}
