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
/// The third line of a folder whose catalogue is in PostgreSQL.
const POSTGRES: &str = "catalogue postgresql";
/// What begins the fourth line of such a folder, before the id of its node.
const NODE: &str = "node ";

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
    let catalogue = match lines.next() {
        None => CatalogueKind::File,
        Some(POSTGRES) => CatalogueKind::Postgres,
        Some(_) => return Err(damaged("its third line does not name a catalogue")),
    };
    let node = match lines.next() {
        None => None,
        Some(line) => {
            let id = line
                .strip_prefix(NODE)
                .and_then(|id| id.trim().parse().ok());
            Some(id.ok_or_else(|| damaged("its fourth line does not name a node"))?)
        }
    };
    Ok(Some(Format {
        store,
        catalogue,
        node,
    }))
}

/// Refuses a data folder whose catalogue is in PostgreSQL, for an operation that needs the one in the folder.
pub(crate) fn refuse_postgres(
    vfs: &dyn Vfs,
    root: &Path,
    what: &'static str,
    instead: &'static str,
) -> Result<()> {
    match read(vfs, root) {
        Ok(Some(format)) if format.catalogue == CatalogueKind::Postgres => {
            Err(StoreError::NotWithPostgres { what, instead })
        }
        // What else is wrong with the file is for the operation.
        _ => Ok(()),
    }
}

/// Writes the file: to a temporary one, synced, renamed, folder synced.
pub(crate) fn write(vfs: &dyn Vfs, root: &Path, store: StoreId, kind: CatalogueKind) -> Result<()> {
    let path = path(root);
    let mut text = format!("hindsight {FORMAT_VERSION}\nstore {store}\n");
    if kind == CatalogueKind::Postgres {
        text.push_str(POSTGRES);
        text.push('\n');
    }
    vfs::replace(vfs, &path.with_extension("tmp"), &path, text.as_bytes())
        .map_err(StoreError::io("write", &path))
}

/// Writes the file of a folder that is of a node, whose catalogue is in PostgreSQL.
pub(crate) fn write_node(vfs: &dyn Vfs, root: &Path, store: StoreId, node: NodeId) -> Result<()> {
    let path = path(root);
    let text = format!("hindsight {FORMAT_VERSION}\nstore {store}\n{POSTGRES}\n{NODE}{node}\n");
    vfs::replace(vfs, &path.with_extension("tmp"), &path, text.as_bytes())
        .map_err(StoreError::io("write", &path))
}

fn path(root: &Path) -> PathBuf {
    root.join(FORMAT_FILE)
}
