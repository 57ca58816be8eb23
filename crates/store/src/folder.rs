//! The data folder: its layout, its lock, its format version and who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::format_file;
use crate::log;
use crate::quarantine;
use crate::store_id::StoreId;

const LOG: &str = "log";
const SEGMENTS: &str = "segments";
const LOCK_FILE: &str = "lock";
const SERVER_FILE: &str = "server.json";
const CATALOGUE_FILE: &str = "catalogue.db";

/// The server that holds a data folder, as it announced itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its process id.
    pub pid: u32,
    /// Its base address, such as `http://127.0.0.1:2020`.
    pub url: String,
    /// Its base address over TLS, where it has one.
    pub tls_url: Option<String>,
}

/// A data folder that this process holds for writing.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// The lock lives as long as the file is open.
    _lock: File,
}

impl Folder {
    /// Takes the folder. With `create` its parts are made where they are missing; without, a folder that has no
    /// catalogue is refused and left as it is.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process holds it, [`StoreError::NewerFormat`] if a newer program wrote it,
    /// [`StoreError::NoStore`] if there is none and it is not to be made, [`StoreError::Missing`] if there is
    /// telemetry but no catalogue.
    pub(crate) fn take(root: &Path, create: bool) -> Result<Folder> {
        format_file::read(root)?;
        if !create {
            require_catalogue(root)?;
        }
        std::fs::create_dir_all(root).map_err(StoreError::io("create", root))?;
        let lock = lock(root)?;
        // Read again under the lock: another process may have written it meanwhile.
        format_file::read(root)?;
        let folder = Folder {
            root: root.to_owned(),
            _lock: lock,
        };
        for dir in [folder.log_dir(), folder.segments_dir()] {
            std::fs::create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
        }
        if !catalogue_path(root).exists() {
            refuse_lost_catalogue(root)?;
        }
        Ok(folder)
    }

    /// Takes a folder whose catalogue may be lost, for its recovery.
    ///
    /// # Errors
    /// As [`Folder::take`], but a missing catalogue is none; [`StoreError::NoStore`] where there is neither a folder of segments nor a log.
    pub(crate) fn take_without_catalogue(root: &Path) -> Result<Folder> {
        // A damaged version is no reason to leave the folder alone; a newer one is.
        if let Err(error @ StoreError::NewerFormat { .. }) = format_file::read(root) {
            return Err(error);
        }
        if !root.join(SEGMENTS).exists() && !root.join(LOG).exists() {
            return Err(StoreError::NoStore {
                path: root.to_owned(),
            });
        }
        let folder = Folder {
            root: root.to_owned(),
            _lock: lock(root)?,
        };
        for dir in [folder.log_dir(), folder.segments_dir()] {
            std::fs::create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
        }
        Ok(folder)
    }

    pub(crate) fn log_dir(&self) -> PathBuf {
        self.root.join(LOG)
    }

    pub(crate) fn segments_dir(&self) -> PathBuf {
        self.root.join(SEGMENTS)
    }

    pub(crate) fn quarantine_dir(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Leaves this process's address for command-line programs to find.
    pub(crate) fn announce(&self, url: &str, tls_url: Option<&str>) -> Result<()> {
        let path = self.root.join(SERVER_FILE);
        let text = serde_json::json!({ "pid": std::process::id(), "url": url, "tls_url": tls_url })
            .to_string();
        let temporary = path.with_extension("tmp");
        std::fs::write(&temporary, text).map_err(StoreError::io("write", &temporary))?;
        std::fs::rename(&temporary, &path).map_err(StoreError::io("rename", &path))
    }

    /// Takes the address away again.
    pub(crate) fn withdraw(&self) {
        // A leftover does no harm: `holder` believes it only while the lock is held.
        let _ = std::fs::remove_file(self.root.join(SERVER_FILE));
    }
}

/// Whether there are segments or files of the log.
fn holds_telemetry(root: &Path) -> Result<bool> {
    let (segments, log) = (root.join(SEGMENTS), root.join(LOG));
    let logged = log.exists()
        && !log::files(&log)
            .map_err(StoreError::io("list", &log))?
            .is_empty();
    Ok(logged
        || (segments.exists()
            && !quarantine::files_below(&segments, quarantine::DEPTH)?.is_empty()))
}

/// Refuses telemetry without a catalogue, which maps segments to applications and holds the position to replay the log from.
fn refuse_lost_catalogue(root: &Path) -> Result<()> {
    if !holds_telemetry(root)? {
        return Ok(());
    }
    Err(StoreError::Missing {
        path: catalogue_path(root),
        what: "the folder holds telemetry, and the catalogue says whose it is; nothing was changed"
            .to_owned(),
    })
}

/// The identity that a folder and its catalogue agree on, given what the catalogue says.
///
/// # Errors
/// [`StoreError::Foreign`] where the catalogue is another store's, or a new one beside telemetry of before.
pub(crate) fn agree_on_store(root: &Path, of_catalogue: Option<StoreId>) -> Result<StoreId> {
    let foreign = |what: String| StoreError::Foreign {
        path: catalogue_path(root),
        what,
    };
    match (
        format_file::read(root)?.and_then(|format| format.store),
        of_catalogue,
    ) {
        (Some(ours), Some(theirs)) if ours != theirs => Err(foreign(format!(
            "it is of store {theirs}, and the folder of store {ours}"
        ))),
        (Some(ours), None) if holds_telemetry(root)? => Err(foreign(format!(
            "it was made anew beside the telemetry of store {ours}"
        ))),
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => Ok(StoreId::new()),
    }
}

/// Fails where a folder has no catalogue, before anything in it is touched.
pub(crate) fn require_catalogue(root: &Path) -> Result<()> {
    if catalogue_path(root).exists() {
        return Ok(());
    }
    refuse_lost_catalogue(root)?;
    Err(StoreError::NoStore {
        path: root.to_owned(),
    })
}

/// The catalogue's file in a data folder.
pub(crate) fn catalogue_path(root: &Path) -> PathBuf {
    root.join(CATALOGUE_FILE)
}

/// The server that holds `data_dir` now, if one does and has announced itself.
pub fn holder(data_dir: &Path) -> Option<ServerInfo> {
    is_held(data_dir).then(|| read_server(data_dir)).flatten()
}

/// Whether a process holds `data_dir` for writing now.
pub fn is_held(data_dir: &Path) -> bool {
    let Ok(file) = OpenOptions::new()
        .read(true)
        .write(true)
        .open(data_dir.join(LOCK_FILE))
    else {
        return false;
    };
    // A shared lock: two programs that look at the same time must not take each other for a holder.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn read_server(root: &Path) -> Option<ServerInfo> {
    let text = std::fs::read_to_string(root.join(SERVER_FILE)).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(ServerInfo {
        pid: u32::try_from(value.get("pid")?.as_u64()?).ok()?,
        url: value.get("url")?.as_str()?.to_owned(),
        tls_url: value
            .get("tls_url")
            .and_then(|url| url.as_str())
            .map(str::to_owned),
    })
}

fn lock(root: &Path) -> Result<File> {
    let path = root.join(LOCK_FILE);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match try_lock_patiently(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let server = read_server(root);
            Err(StoreError::Locked {
                path: root.to_owned(),
                pid: server.as_ref().map(|server| server.pid),
                url: server.map(|server| server.url),
            })
        }
        Err(TryLockError::Error(source)) => Err(StoreError::Io {
            action: "lock",
            path,
            source,
        }),
    }
}

/// A program that merely asks who holds the folder locks it for an instant: that is not a holder.
fn try_lock_patiently(file: &File) -> std::result::Result<(), TryLockError> {
    for _ in 0..5 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(20))
            }
            settled => return settled,
        }
    }
    file.try_lock()
}
