//! Settings with their defaults (`D18`, `D19`).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hindsight_kql::addresses::AddressDatabase;

use crate::distributed::QueryNodes;

/// The engine's settings.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// The most rows of a query's result. Default 500,000.
    pub max_rows: u64,
    /// The most bytes of a query's result. Default 64,000,000.
    pub max_bytes: u64,
    /// The timeout of a request. Default 180 s.
    pub timeout: Duration,
    /// The longest timeout that `Prefer: wait=` may ask for. Default 600 s.
    pub max_wait: Duration,
    /// The most applications of one query. Default 100.
    pub max_applications: usize,
    /// Memory of all running queries together, bytes. Default 2 GiB.
    pub memory: usize,
    /// Where queries spill to disk; its content is removed when the engine starts. Default: the system's temporary directory.
    pub spill_folder: Option<PathBuf>,
    /// Partitions of one query. Default: the machine's cores.
    pub partitions: usize,
    /// Whether aggregations group by the codes of columns in memory. It changes no result. Default true.
    pub group_by_codes: bool,
    /// Whether scans below a sort that returns its first rows only find these rows by the sort column alone. It changes no result. Default true.
    pub top_rows: bool,
    /// Whether the plan of a query is kept for later requests of the same text. It changes no result. Default true.
    pub keep_plans: bool,
    /// The other nodes that run parts of queries. Default: none.
    pub nodes: Option<Arc<dyn QueryNodes>>,
    /// The bytes of segments from which on a part of a query runs at all nodes, estimated from the sizes of the files and the columns that are read.
    /// Default 256 MiB.
    pub distribute_bytes: u64,
    /// How long telemetry is kept: metrics do not look further back (`D11`). Default 90 days.
    pub retention: Duration,
    /// What `geo_info_from_ip_address` looks addresses up in. Default: nothing, every address is unknown.
    pub addresses: Option<Arc<AddressDatabase>>,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        EngineConfig {
            max_rows: 500_000,
            max_bytes: 64_000_000,
            timeout: Duration::from_secs(180),
            max_wait: Duration::from_secs(600),
            max_applications: 100,
            memory: 2 << 30,
            spill_folder: None,
            partitions: std::thread::available_parallelism().map_or(2, usize::from),
            group_by_codes: true,
            top_rows: true,
            keep_plans: true,
            nodes: None,
            distribute_bytes: 256 << 20,
            retention: Duration::from_secs(90 * 86_400),
            addresses: None,
        }
    }
}
