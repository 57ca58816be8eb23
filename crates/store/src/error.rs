//! What can go wrong in the store.

use std::path::{Path, PathBuf};

use crate::database_error::DatabaseError;
use crate::objects::ObjectError;

/// A failure of the store, worded for the person who runs it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process writes this data folder.
    #[error("the data folder {} is in use by {}", path.display(), holder_text(*pid, url.as_deref()))]
    Locked {
        /// The data folder.
        path: PathBuf,
        /// The holder's process id, if it announced itself.
        pid: Option<u32>,
        /// The holder's address, if it serves one.
        url: Option<String>,
    },
    /// A newer program wrote the folder; nothing was touched.
    #[error(
        "the data folder {} has format version {found}, and this program reads up to {supported}; it was left untouched",
        path.display()
    )]
    NewerFormat {
        /// The data folder.
        path: PathBuf,
        /// The version found.
        found: u32,
        /// The newest version that this program reads.
        supported: u32,
    },
    /// A file holds something else than what was written to it.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What was found there.
        what: String,
    },
    /// A file that the catalogue names is not there.
    #[error("{} is missing: {what}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Why it must be there.
        what: String,
    },
    /// There is no store in the folder, and none is to be made.
    #[error("there is no data folder at {0}; `hindsight serve --data {0}` makes one", path.display())]
    NoStore {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that is to be written holds something already; nothing was changed.
    #[error("{} is not empty; nothing was changed", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A folder holds no backup.
    #[error("there is no backup at {}; 'hindsight backup' creates one", path.display())]
    NoBackup {
        /// The folder.
        path: PathBuf,
    },
    /// The catalogue does not belong to the telemetry beside it; nothing was changed.
    #[error("{catalogue} does not belong to this data folder: {what}; nothing was changed")]
    Foreign {
        /// The catalogue, or another file that does not belong to the folder.
        catalogue: String,
        /// What does not fit.
        what: String,
    },
    /// The store takes no more writes; reads go on.
    #[error("the store is read-only: {reason}")]
    ReadOnly {
        /// Why, as [`crate::Health`] says it too.
        reason: String,
    },
    /// Memory is full of items that wait to be sealed; try again later.
    #[error("the store is overloaded: {bytes} bytes wait to be sealed, the limit is {limit}")]
    Overloaded {
        /// Bytes in memory now.
        bytes: usize,
        /// The setting that was reached.
        limit: usize,
    },
    /// The copy of a node's log does not fit into memory, so queries cannot read it.
    #[error(
        "the copy does not fit into memory: copies take at most half of `store.memory` and what the memtable leaves, and the setting is {limit} bytes"
    )]
    CopyTooLarge {
        /// The setting.
        limit: usize,
    },
    /// A batch does not have its table's columns.
    #[error("a batch for {table} cannot be stored: {what}")]
    BadBatch {
        /// The table's name.
        table: &'static str,
        /// What does not fit.
        what: String,
    },
    /// Segments of the hours of items are damaged, so it is unknown which of the items are there already; nothing was stored.
    #[error(
        "items of {} may be there already: segments of these hours are damaged",
        table
    )]
    Uncertain {
        /// The table's name.
        table: &'static str,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A name that must be unique is taken.
    #[error("the name '{name}' is taken")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The catalogue holds something else than what was written to it.
    #[error("the catalogue {} is damaged: {what}", path.display())]
    DamagedCatalogue {
        /// Its file.
        path: PathBuf,
        /// What was found there.
        what: String,
    },
    /// The database failed to open, read or change the catalogue.
    #[error("the catalogue {catalogue} cannot be used: {source}")]
    Catalogue {
        /// Its file, or its address without the password.
        catalogue: String,
        /// What the database says.
        source: DatabaseError,
    },
    /// The catalogue of a data folder is in PostgreSQL, and no database was named.
    #[error(
        "the catalogue of the data folder {} is in PostgreSQL: name the database with --catalogue or the setting `store.catalogue`",
        path.display()
    )]
    CatalogueElsewhere {
        /// The data folder.
        path: PathBuf,
    },
    /// An operation does not support a catalogue in PostgreSQL.
    #[error("{what} does not support a catalogue in PostgreSQL: {instead}")]
    NotWithPostgres {
        /// The operation.
        what: &'static str,
        /// What to do in its place.
        instead: &'static str,
    },
    /// Another node cannot be reached, or refuses.
    #[error("the node {name} {what}")]
    Node {
        /// Its name.
        name: String,
        /// What it does or does not do.
        what: String,
    },
    /// The node does not take telemetry yet: other nodes have to know of it first.
    #[error("the node is joining the others; try again in a few seconds")]
    Joining,
    /// No other node has a second copy of the log; nothing was stored.
    #[error("no other node has a second copy of the log (setting `store.replicas`): {reason}")]
    NoCopy {
        /// Why not.
        reason: String,
    },
    /// An operation does not support several nodes on one catalogue.
    #[error("{what} does not support several nodes on one catalogue")]
    NotWithNodes {
        /// The operation.
        what: &'static str,
    },
    /// The settings of a node do not fit together.
    #[error("{0}")]
    BadNode(&'static str),
    /// An object store did not do what it was asked for.
    #[error("cannot {action} {object}: {source}")]
    Object {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The address of the object.
        object: String,
        /// What the object store says.
        source: ObjectError,
    },
    /// The segments of a data folder are in an object store, and none was named.
    #[error(
        "the segments of the data folder {} are in an object store: name it with the setting `store.objects` (HINDSIGHT_STORE_OBJECTS), or with --objects of 'hindsight serve'",
        path.display()
    )]
    SegmentsElsewhere {
        /// The data folder.
        path: PathBuf,
    },
    /// The segments of a data folder are in the folder, and an object store was named.
    #[error(
        "the segments of the data folder {} are in the folder: 'hindsight store migrate --to {objects}' moves them to the object store",
        path.display()
    )]
    SegmentsInFolder {
        /// The data folder.
        path: PathBuf,
        /// The address of the object store.
        objects: String,
    },
    /// An operation does not support segments in an object store.
    #[error("{what} does not support segments in an object store: {instead}")]
    NotWithObjects {
        /// The operation.
        what: &'static str,
        /// What to do in its place.
        instead: &'static str,
    },
    /// An Arrow kernel failed.
    #[error("arrow: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    /// A segment could not be read or written.
    #[error("parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The query engine failed while segments were merged.
    #[error("merging segments: {0}")]
    Merge(#[from] datafusion::error::DataFusionError),
    /// A background task of the store ended without an answer.
    #[error("a background task of the store ended without an answer: {0}")]
    Task(String),
}

impl StoreError {
    /// Whether the catalogue is in PostgreSQL, and it cannot be reached or will not reply for a while. What was read of it last holds as long
    /// as [`crate::Catalogue::version`] succeeds.
    pub fn is_catalogue_unavailable(&self) -> bool {
        matches!(self, StoreError::Catalogue { source, .. } if source.is_unavailable())
    }

    /// Whether a segment that was about to be replaced was replaced, expired or deleted before, or another node has collected unlisted objects since the
    /// upload of a merged one began.
    pub(crate) fn is_superseded(&self) -> bool {
        matches!(
            self,
            StoreError::Catalogue {
                source: DatabaseError::Superseded
                    | DatabaseError::SealedMeanwhile
                    | DatabaseError::Collected,
                ..
            }
        )
    }

    /// Whether an object store does not reply, or cannot serve a request now.
    pub fn is_object_unavailable(&self) -> bool {
        matches!(
            self,
            StoreError::Object {
                source: ObjectError::Unavailable(_),
                ..
            }
        )
    }

    /// An adapter for `map_err` that names the operation and the file.
    pub(crate) fn io(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io {
            action,
            path,
            source,
        }
    }
}

fn holder_text(pid: Option<u32>, url: Option<&str>) -> String {
    match (pid, url) {
        (Some(pid), Some(url)) => format!("process {pid} at {url}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another process".to_owned(),
    }
}

/// The result of a store operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
