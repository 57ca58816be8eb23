//! Every setting of the store, with its default.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::catalogue::CataloguePlace;
use crate::clock::{Clock, SystemClock};
use crate::error::{Result, StoreError};
use crate::node::{NodeConfig, NodeRole};
use crate::objects::ObjectStorage;
use crate::peers::NodeClient;
use crate::vfs::{RealFs, Vfs};

/// Longer than a node may run queries over what it read of the catalogue last.
const JOIN_WAIT: Duration = Duration::from_millis(2500);

/// Whether other nodes have a copy of the log of a node before it acknowledges a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replicas {
    /// No other node has one.
    None,
    /// One other node has one. Requests are refused while none can.
    One,
    /// One other node has one, as long as another node that takes telemetry runs.
    #[default]
    Auto,
}

/// How a store works. Start from [`StoreConfig::new`] and change what is needed.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// The data folder.
    pub data_dir: PathBuf,
    /// Where its catalogue is. Default: in the data folder.
    pub catalogue: CataloguePlace,
    /// What this process says of itself as a node of a catalogue in PostgreSQL.
    pub node: NodeConfig,
    /// Reaches other nodes.
    pub node_client: Option<Arc<dyn NodeClient>>,
    /// How long a node waits before it takes telemetry, so that the others know of it. Default 2.5 s.
    pub node_wait: Duration,
    /// Whether another node has a copy of the log before a request is acknowledged. Default: where another one can.
    pub replicas: Replicas,
    /// The object store that segments are in. Default: none, they are in the data folder.
    pub objects: Option<ObjectsConfig>,
    /// Whether the folder and its catalogue are made where there are none. Default true.
    pub create: bool,
    /// How long the log writer waits for more requests before it writes and syncs. Default 2 ms.
    pub commit_delay: Duration,
    /// Most bytes of one write to the log. Default 16 MiB.
    pub commit_bytes: usize,
    /// Size at which a new log file is begun. Default 64 MiB.
    pub log_file_bytes: u64,
    /// Bytes of the memtable that trigger a seal. Default 256 MiB.
    pub hot_bytes: usize,
    /// Bytes of the memtable (its frozen part included). An append is refused as overloaded if its application holds three times as
    /// many as are free. Default 1 GiB.
    pub hot_limit_bytes: usize,
    /// Rows of one application's table in the memtable that trigger a seal. Default 262,144.
    pub seal_rows: usize,
    /// Age of the memtable's oldest item that triggers a seal. Default 5 minutes.
    pub seal_age: Duration,
    /// Rows in a Parquet row group. Default 131,072.
    pub row_group_rows: usize,
    /// zstd level of segments, 1 to 22. Default 1.
    pub zstd_level: i32,
    /// Most bag keys of one segment that get a column of their own. Default 64.
    pub promoted_keys: usize,
    /// Share of rows that must have a bag key before it gets a column. Default 0.02.
    pub promoted_share: f64,
    /// Whether segments get an index of the terms of message-like columns, and queries use those that are there. Default true.
    pub text_index: bool,
    /// Whether segments get an index of the values of columns that single records are looked up by, and queries use those that are there.
    /// Default true.
    pub value_index: bool,
    /// Bytes of parsed segment footers kept in memory, and of blocks of filters. Default 128 MiB.
    pub footer_cache_bytes: usize,
    /// Bytes of decoded columns of segments kept in memory; 0 keeps none. Default 256 MiB.
    pub column_cache_bytes: usize,
    /// Age at which an item is deleted, unless its application says otherwise. Default 90 days (`D25`).
    pub retention: Duration,
    /// Bytes of one application's segments above which the oldest are deleted. Default: no limit.
    pub retention_bytes: Option<u64>,
    /// Share of all rows that one retention run may delete without a second run that confirms it. Default 0.5.
    pub retention_guard: f64,
    /// How often retention runs. Default 10 minutes.
    pub retention_interval: Duration,
    /// How long the files of expired segments are kept before they are deleted. Default 1 day.
    pub retention_grace: Duration,
    /// How far the clock may be ahead of trusted time before expiry waits for an operator (`D33`). Default 7 days.
    pub max_clock_jump: Duration,
    /// How often compaction looks for work. Default 1 minute.
    pub compaction_interval: Duration,
    /// Most rows of a segment that compaction makes. Default 4,194,304.
    pub compaction_rows: u64,
    /// Most segments that one merge reads at once; each is an open file. Default 16.
    pub compaction_fan_in: usize,
    /// What is called when the file of a merge was written, or could not be: the merge has freed its buffers of hundreds of megabytes then. Default:
    /// nothing.
    pub after_merge: fn(),
    /// Whether sealing by age, compaction and retention run in the background. Default true; tests turn it off.
    pub background: bool,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// How files are written; tests inject failures here.
    pub vfs: Arc<dyn Vfs>,
}

/// How segments are kept in an object store.
#[derive(Debug, Clone)]
pub struct ObjectsConfig {
    /// The object store.
    pub storage: Arc<dyn ObjectStorage>,
    /// Bytes of segments that are kept in the data folder as a cache; those that are being read come on top. Default 16 GiB.
    pub cache_bytes: u64,
    /// Bytes of a segment from which on a look-up downloads the parts of it that it needs instead of all of it. Default 4 MiB.
    pub parts_from: u64,
    /// How long the object of a segment that was merged or deleted stays for queries of other nodes: longer than any query runs. Default 15
    /// minutes.
    pub grace: Duration,
    /// The age from which on objects that no catalogue lists are deleted. Default 7 days.
    pub orphan_age: Duration,
    /// How often these are looked for. Default 1 hour.
    pub orphan_interval: Duration,
}

impl ObjectsConfig {
    /// The defaults over this object store.
    pub fn new(storage: Arc<dyn ObjectStorage>) -> ObjectsConfig {
        ObjectsConfig {
            storage,
            cache_bytes: 16 << 30,
            parts_from: 4 << 20,
            grace: Duration::from_secs(15 * 60),
            orphan_age: Duration::from_secs(7 * 86_400),
            orphan_interval: Duration::from_secs(3600),
        }
    }
}

impl StoreConfig {
    /// The defaults over this data folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> StoreConfig {
        StoreConfig {
            data_dir: data_dir.into(),
            catalogue: CataloguePlace::DataFolder,
            node: NodeConfig::default(),
            node_client: None,
            node_wait: JOIN_WAIT,
            replicas: Replicas::Auto,
            objects: None,
            create: true,
            commit_delay: Duration::from_millis(2),
            commit_bytes: 16 << 20,
            log_file_bytes: 64 << 20,
            hot_bytes: 256 << 20,
            hot_limit_bytes: 1 << 30,
            seal_rows: 262_144,
            seal_age: Duration::from_secs(300),
            row_group_rows: 131_072,
            zstd_level: 1,
            promoted_keys: 64,
            promoted_share: 0.02,
            text_index: true,
            value_index: true,
            footer_cache_bytes: 128 << 20,
            column_cache_bytes: 256 << 20,
            retention: Duration::from_secs(90 * 86_400),
            retention_bytes: None,
            retention_guard: 0.5,
            retention_interval: Duration::from_secs(600),
            retention_grace: Duration::from_secs(86_400),
            max_clock_jump: Duration::from_secs(7 * 86_400),
            compaction_interval: Duration::from_secs(60),
            compaction_rows: 4 << 20,
            compaction_fan_in: 16,
            after_merge: || (),
            background: true,
            clock: Arc::new(SystemClock::default()),
            vfs: Arc::new(RealFs),
        }
    }

    /// Whether several nodes may share the catalogue: it is in PostgreSQL, and all nodes reach the segments.
    pub(crate) fn is_shared(&self) -> bool {
        self.objects.is_some() && matches!(self.catalogue, CataloguePlace::Postgres(_))
    }

    /// Whether this node is the only one of a catalogue that several may share ([`NodeConfig::is_alone`]).
    pub(crate) fn is_alone(&self) -> bool {
        self.is_shared() && self.node.is_alone()
    }

    /// Refuses settings of a node that do not fit together.
    ///
    /// # Errors
    /// [`StoreError::BadNode`]
    pub(crate) fn check_node(&self) -> Result<()> {
        if self.node.role != NodeRole::All && !self.is_shared() {
            return Err(StoreError::BadNode(
                "a role other than `all` (`node.role`) needs a catalogue in PostgreSQL (`store.catalogue`) and segments in an object store (`store.objects`)",
            ));
        }
        if self.replicas == Replicas::One && self.node.role.ingests() && !self.can_copy() {
            return Err(StoreError::BadNode(
                "a second copy of the log (`store.replicas`) needs a catalogue in PostgreSQL (`store.catalogue`), segments in an object store (`store.objects`) and an address and the secret of nodes (`node.address`, `node.secret`)",
            ));
        }
        Ok(())
    }

    /// Whether copies of the log of this node can be made at other nodes.
    fn can_copy(&self) -> bool {
        self.is_shared() && !self.node.address.is_empty() && self.node_client.is_some()
    }

    /// Whether another node has a copy of the log before a request is acknowledged, or may have one.
    pub(crate) fn copies_log(&self) -> bool {
        let is_on = match self.replicas {
            Replicas::None => false,
            Replicas::One => true,
            Replicas::Auto => self.can_copy(),
        };
        is_on && self.node.role.ingests()
    }
}
