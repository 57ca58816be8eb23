//! The file `format`: the version of the data folder and the identity of its store. `FORMAT.md` describes it.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::node::NodeId;
use crate::store_id::StoreId;
use crate::vfs::{self, Vfs};

/// The format that this program writes; see `FORMAT.md`.
pub const FORMAT_VERSION: u32 = 1;

const FORMAT_FILE: &str = "format";
/// A line of a folder whose catalogue is in PostgreSQL.
const POSTGRES: &str = "catalogue postgresql";
/// What begins the line after it, before the id of the node.
const NODE: &str = "node ";
/// The third line of a folder whose segments are in an object store. Programs of before refuse it, whatever follows.
const OBJECTS: &str = "segments objects";

/// Where the catalogue of a data folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CatalogueKind {
    /// In the folder, in a file of SQLite.
    File,
    /// In PostgreSQL.
    Postgres,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// The identity of the store; folders that older programs made have none.
    pub(crate) store: Option<StoreId>,
    /// Where its catalogue is.
    pub(crate) catalogue: CatalogueKind,
    /// The node that the folder is of, if its catalogue is in PostgreSQL; folders that older programs made have none.
    pub(crate) node: Option<NodeId>,
    /// Whether its segments are in an object store.
    pub(crate) has_objects: bool,
}

/// Reads the file; `None` where there is none.
///
/// # Errors
/// [`StoreError::NewerFormat`] for a folder of a newer program, which is left untouched; [`StoreError::Damaged`] for a
/// file that does not read back.
pub(crate) fn read(vfs: &dyn Vfs, root: &Path) -> Result<Option<Format>> {
    let path = path(root);
    let bytes = match vfs.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path)(error)),
    };
    let damaged = |what: &str| StoreError::Damaged {
        path: path.clone(),
        offset: 0,
        what: what.to_owned(),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is not text"))?;
    let mut lines = text.lines();
    let version: u32 = lines
        .next()
        .and_then(|line| line.strip_prefix("hindsight ")?.trim().parse().ok())
        .ok_or_else(|| damaged("it does not hold a format version"))?;
    if version > FORMAT_VERSION {
        return Err(StoreError::NewerFormat {
            path: root.to_owned(),
            found: version,
            supported: FORMAT_VERSION,
        });
    }
    let store = match lines.next() {
        Some(line) => {
            let id = line
                .strip_prefix("store ")
                .and_then(|id| id.trim().parse().ok());
            Some(id.ok_or_else(|| damaged("its second line does not name a store"))?)
        }
        None => None,
    };
    let mut lines = lines.peekable();
    let has_objects = lines.next_if_eq(&OBJECTS).is_some();
    let catalogue = match lines.next() {
        None => CatalogueKind::File,
        Some(POSTGRES) => CatalogueKind::Postgres,
        Some(_) => return Err(damaged("it has a line that does not name a catalogue")),
    };
    let node = match lines.next() {
        None => None,
        Some(line) => {
            let id = line
                .strip_prefix(NODE)
                .and_then(|id| id.trim().parse().ok());
            Some(id.ok_or_else(|| damaged("it has a line that does not name a node"))?)
        }
    };
    Ok(Some(Format {
        store,
        catalogue,
        node,
        has_objects,
    }))
}

/// Refuses a data folder whose catalogue is in PostgreSQL, for an operation that needs the one in the folder.
pub(crate) fn refuse_postgres(
    vfs: &dyn Vfs,
    root: &Path,
    what: &'static str,
    instead: &'static str,
) -> Result<()> {
    refuse_if(vfs, root, |format| {
        let is_elsewhere = format.catalogue == CatalogueKind::Postgres;
        is_elsewhere.then_some(StoreError::NotWithPostgres { what, instead })
    })
}

/// Refuses a data folder whose segments are in an object store, for an operation that needs them in the folder.
pub(crate) fn refuse_objects(
    vfs: &dyn Vfs,
    root: &Path,
    what: &'static str,
    instead: &'static str,
) -> Result<()> {
    refuse_if(vfs, root, |format| {
        let refusal = StoreError::NotWithObjects { what, instead };
        format.has_objects.then_some(refusal)
    })
}

/// Refuses what the file says. A missing or wrong file is left to the operation.
fn refuse_if(
    vfs: &dyn Vfs,
    root: &Path,
    refusal: impl FnOnce(Format) -> Option<StoreError>,
) -> Result<()> {
    let format = read(vfs, root).ok().flatten();
    format.and_then(refusal).map_or(Ok(()), Err)
}

/// Writes the file of a folder that is of no node. Where the segments are stays as it is.
pub(crate) fn write(vfs: &dyn Vfs, root: &Path, store: StoreId, kind: CatalogueKind) -> Result<()> {
    replace(vfs, root, store, kind, None)
}

/// Writes the file of a folder that is of a node, whose catalogue is in PostgreSQL. Where the segments are stays as it is.
pub(crate) fn write_node(vfs: &dyn Vfs, root: &Path, store: StoreId, node: NodeId) -> Result<()> {
    replace(vfs, root, store, CatalogueKind::Postgres, Some(node))
}

/// Notes whether the segments of a data folder are in an object store.
pub(crate) fn set_objects(vfs: &dyn Vfs, root: &Path, has_objects: bool) -> Result<()> {
    let format = read(vfs, root)?;
    let format = format.filter(|format| format.store.is_some());
    let Some(format) = format else {
        return Err(StoreError::NoStore {
            path: root.to_owned(),
        });
    };
    write_all(
        vfs,
        root,
        &Format {
            has_objects,
            ..format
        },
    )
}

fn replace(
    vfs: &dyn Vfs,
    root: &Path,
    store: StoreId,
    catalogue: CatalogueKind,
    node: Option<NodeId>,
) -> Result<()> {
    let before = read(vfs, root).ok().flatten();
    let format = Format {
        store: Some(store),
        catalogue,
        node,
        has_objects: before.is_some_and(|format| format.has_objects),
    };
    write_all(vfs, root, &format)
}

/// Writes the file: to a temporary one, synced, renamed, folder synced.
fn write_all(vfs: &dyn Vfs, root: &Path, format: &Format) -> Result<()> {
    let path = path(root);
    let store = format.store.map(|store| format!("store {store}"));
    let node = format.node.map(|node| format!("{NODE}{node}"));
    let lines = [
        Some(format!("hindsight {FORMAT_VERSION}")),
        store,
        format.has_objects.then(|| OBJECTS.to_owned()),
        (format.catalogue == CatalogueKind::Postgres).then(|| POSTGRES.to_owned()),
        node,
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    let text = lines.join("\n") + "\n";
    vfs::replace(vfs, &path.with_extension("tmp"), &path, text.as_bytes())
        .map_err(StoreError::io("write", &path))
}

fn path(root: &Path) -> PathBuf {
    root.join(FORMAT_FILE)
}
