//! The data folder: its layout, its lock, its format version and who holds it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::format_file::{self, CatalogueKind};
use crate::log;
use crate::quarantine;
use crate::store_id::StoreId;
use crate::vfs::{self, FileLock, RealFs, Vfs};

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
    vfs: Arc<dyn Vfs>,
    root: PathBuf,
    _lock: Box<dyn FileLock>,
}

impl Folder {
    /// Takes the folder. With `create` its parts are made where they are missing; without, a folder that has no
    /// catalogue is refused and left as it is.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process holds it, [`StoreError::NewerFormat`] if a newer program wrote it,
    /// [`StoreError::NoStore`] if there is none and it is not to be made, [`StoreError::Missing`] if there is
    /// telemetry but no catalogue, [`StoreError::CatalogueElsewhere`] and [`StoreError::Foreign`] if its catalogue is not of this kind.
    pub(crate) fn take(
        vfs: Arc<dyn Vfs>,
        root: &Path,
        create: bool,
        kind: CatalogueKind,
    ) -> Result<Folder> {
        refuse_other_kind(&*vfs, root, kind)?;
        if !create {
            match kind {
                CatalogueKind::File => require_catalogue(&*vfs, root)?,
                CatalogueKind::Postgres => require_format(&*vfs, root)?,
            }
        }
        vfs.create_dir(root)
            .map_err(StoreError::io("create", root))?;
        let lock = lock(&*vfs, root)?;
        // Read again under the lock: another process may have written it meanwhile.
        refuse_other_kind(&*vfs, root, kind)?;
        let folder = Folder {
            vfs,
            root: root.to_owned(),
            _lock: lock,
        };
        folder.create_parts()?;
        if kind == CatalogueKind::File && !has_catalogue(folder.vfs(), root)? {
            refuse_lost_catalogue(folder.vfs(), root)?;
        }
        Ok(folder)
    }

    /// Takes a folder whose catalogue may be lost, for its recovery.
    ///
    /// # Errors
    /// As [`Folder::take`], but a missing catalogue is none; [`StoreError::NoStore`] where there is neither a folder of segments nor a log.
    pub(crate) fn take_without_catalogue(vfs: Arc<dyn Vfs>, root: &Path) -> Result<Folder> {
        // A damaged version is no reason to leave the folder alone; a newer one is.
        if let Err(error @ StoreError::NewerFormat { .. }) = format_file::read(&*vfs, root) {
            return Err(error);
        }
        let exists =
            |path: PathBuf| vfs::exists(&*vfs, &path).map_err(StoreError::io("read", &path));
        if !exists(root.join(SEGMENTS))? && !exists(root.join(LOG))? {
            return Err(StoreError::NoStore {
                path: root.to_owned(),
            });
        }
        let lock = lock(&*vfs, root)?;
        let folder = Folder {
            vfs,
            root: root.to_owned(),
            _lock: lock,
        };
        folder.create_parts()?;
        Ok(folder)
    }

    /// Creates the folders of log and segments where they are missing. Older programs left them readable by everybody.
    fn create_parts(&self) -> Result<()> {
        for dir in [self.log_dir(), self.segments_dir()] {
            self.vfs
                .create_dir(&dir)
                .map_err(StoreError::io("create", &dir))?;
            self.vfs
                .restrict(&dir)
                .map_err(StoreError::io("restrict", &dir))?;
        }
        self.vfs
            .sync_dir(&self.root)
            .map_err(StoreError::io("sync", &self.root))
    }

    pub(crate) fn vfs(&self) -> &dyn Vfs {
        &*self.vfs
    }

    pub(crate) fn shared_vfs(&self) -> Arc<dyn Vfs> {
        self.vfs.clone()
    }

    pub(crate) fn log_dir(&self) -> PathBuf {
        self.root.join(LOG)
    }

    /// Whether there are files of a log.
    pub(crate) fn has_log(&self) -> Result<bool> {
        let dir = self.log_dir();
        let files = log::files(self.vfs(), &dir).map_err(StoreError::io("list", &dir))?;
        Ok(!files.is_empty())
    }

    pub(crate) fn segments_dir(&self) -> PathBuf {
        self.root.join(SEGMENTS)
    }

    /// The cache of segments that are in an object store.
    pub(crate) fn cache_dir(&self) -> PathBuf {
        self.root.join("segment-cache")
    }

    /// The copies of other nodes' logs.
    pub(crate) fn copies_dir(root: &Path) -> PathBuf {
        root.join("copies")
    }

    pub(crate) fn quarantine_dir(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Leaves this process's address for command-line programs to find. On a full disk it stays unknown, and the store is open all the
    /// same.
    pub(crate) fn announce(&self, url: &str, tls_url: Option<&str>) -> Result<()> {
        let path = self.root.join(SERVER_FILE);
        let text = serde_json::json!({ "pid": std::process::id(), "url": url, "tls_url": tls_url })
            .to_string();
        let temporary = path.with_extension("tmp");
        match vfs::replace(&*self.vfs, &temporary, &path, text.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                tracing::warn!("the disk is full: commands do not find this server");
                Ok(())
            }
            written => written.map_err(StoreError::io("write", &path)),
        }
    }

    /// Takes the address away again.
    pub(crate) fn withdraw(&self) {
        // A leftover does no harm: `holder` believes it only while the lock is held.
        let _ = self.vfs.remove(&self.root.join(SERVER_FILE));
    }
}

/// The identity of a catalogue that another process has created while this one was about to, for a new folder.
///
/// # Errors
/// [`StoreError::Foreign`] if the folder is not new.
pub(crate) fn agree_on_store_of_new(
    vfs: &dyn Vfs,
    root: &Path,
    catalogue: &str,
    theirs: StoreId,
) -> Result<StoreId> {
    if holds_telemetry(vfs, root)? {
        return Err(StoreError::Foreign {
            catalogue: catalogue.to_owned(),
            what: format!("it is of store {theirs}"),
        });
    }
    Ok(theirs)
}

/// Whether there are segments or files of the log.
fn holds_telemetry(vfs: &dyn Vfs, root: &Path) -> Result<bool> {
    let (segments, log) = (root.join(SEGMENTS), root.join(LOG));
    let exists = |path: &Path| vfs::exists(vfs, path).map_err(StoreError::io("read", path));
    let logged = exists(&log)?
        && !log::files(vfs, &log)
            .map_err(StoreError::io("list", &log))?
            .is_empty();
    let format = format_file::read(vfs, root)?;
    let in_objects = format.is_some_and(|format| format.has_objects);
    Ok(logged
        || in_objects
        || (exists(&segments)?
            && !quarantine::files_below(vfs, &segments, quarantine::DEPTH)?.is_empty()))
}

fn has_catalogue(vfs: &dyn Vfs, root: &Path) -> Result<bool> {
    let path = catalogue_path(root);
    vfs::exists(vfs, &path).map_err(StoreError::io("read", &path))
}

/// Refuses telemetry without a catalogue, which maps segments to applications and holds the position to replay the log from.
fn refuse_lost_catalogue(vfs: &dyn Vfs, root: &Path) -> Result<()> {
    if !holds_telemetry(vfs, root)? {
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
pub(crate) fn agree_on_store(
    vfs: &dyn Vfs,
    root: &Path,
    catalogue: &str,
    of_catalogue: Option<StoreId>,
) -> Result<StoreId> {
    let foreign = |what: String| StoreError::Foreign {
        catalogue: catalogue.to_owned(),
        what,
    };
    match (
        format_file::read(vfs, root)?.and_then(|format| format.store),
        of_catalogue,
    ) {
        (Some(ours), Some(theirs)) if ours != theirs => Err(foreign(format!(
            "it is of store {theirs}, and the folder of store {ours}"
        ))),
        (Some(ours), None) if holds_telemetry(vfs, root)? => Err(foreign(format!(
            "it was made anew beside the telemetry of store {ours}"
        ))),
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => Ok(StoreId::new()),
    }
}

/// Fails where the catalogue of a folder is of another kind.
///
/// # Errors
/// As [`Folder::take`].
pub(crate) fn refuse_other_kind(vfs: &dyn Vfs, root: &Path, kind: CatalogueKind) -> Result<()> {
    let format = format_file::read(vfs, root)?;
    let found = format.map(|format| format.catalogue);
    match kind {
        CatalogueKind::File if found == Some(CatalogueKind::Postgres) => {
            Err(StoreError::CatalogueElsewhere {
                path: root.to_owned(),
            })
        }
        CatalogueKind::Postgres if has_catalogue(vfs, root)? => Err(StoreError::Foreign {
            catalogue: "the catalogue in PostgreSQL".to_owned(),
            what: format!(
                "the folder has a catalogue of its own, {}",
                catalogue_path(root).display()
            ),
        }),
        _ => Ok(()),
    }
}

/// Fails where there is no data folder.
fn require_format(vfs: &dyn Vfs, root: &Path) -> Result<()> {
    match format_file::read(vfs, root)? {
        Some(_) => Ok(()),
        None => Err(StoreError::NoStore {
            path: root.to_owned(),
        }),
    }
}

/// Fails where a folder has no catalogue, before anything in it is touched.
pub(crate) fn require_catalogue(vfs: &dyn Vfs, root: &Path) -> Result<()> {
    refuse_other_kind(vfs, root, CatalogueKind::File)?;
    if has_catalogue(vfs, root)? {
        return Ok(());
    }
    refuse_lost_catalogue(vfs, root)?;
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
    is_held(data_dir)
        .then(|| read_server(&RealFs, data_dir))
        .flatten()
}

/// Whether a process holds `data_dir` for writing now.
pub fn is_held(data_dir: &Path) -> bool {
    RealFs.is_locked(&data_dir.join(LOCK_FILE))
}

fn read_server(vfs: &dyn Vfs, root: &Path) -> Option<ServerInfo> {
    let text = vfs.read(&root.join(SERVER_FILE)).ok()?;
    let value: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some(ServerInfo {
        pid: u32::try_from(value.get("pid")?.as_u64()?).ok()?,
        url: value.get("url")?.as_str()?.to_owned(),
        tls_url: value
            .get("tls_url")
            .and_then(|url| url.as_str())
            .map(str::to_owned),
    })
}

fn lock(vfs: &dyn Vfs, root: &Path) -> Result<Box<dyn FileLock>> {
    let path = root.join(LOCK_FILE);
    let lock = vfs.lock(&path).map_err(StoreError::io("lock", &path))?;
    lock.ok_or_else(|| {
        let server = read_server(vfs, root);
        StoreError::Locked {
            path: root.to_owned(),
            pid: server.as_ref().map(|server| server.pid),
            url: server.map(|server| server.url),
        }
    })
}
