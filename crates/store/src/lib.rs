//! Durable telemetry: append, scan, expire.
//!
//! A [`Store`] holds one data folder. [`Store::append`] returns when a request is on disk and visible;
//! [`Store::snapshot`] is a consistent view of everything for one query; its tables are DataFusion table providers.
//! `FORMAT.md` beside this crate describes the files.
//!
//! ```text
//! append → log (one sync for many requests) → memory → sealed Parquet segments → merged segments → expired
//!                                               └──────────── snapshot ────────────┘
//! ```
//!
//! Invariants:
//! - What was acknowledged is on disk, and a snapshot taken later holds it exactly once, through any crash.
//! - A segment belongs to one application and one table; a query is only handed its applications' segments.
//! - Opening deletes no telemetry: what the catalogue does not list is moved to the quarantine (`D31`).
//! - A damaged segment is left out of snapshots, which say so; everything else is served (`D34`).
//! - A wrong clock deletes nothing (`D33`).
//! - After a failed sync nothing is acknowledged until the log goes on in fresh files.

mod all_nodes;
mod app_id;
mod backup;
mod bag_leaf;
mod batch;
mod blocking;
mod catalogue;
mod catalogue_move;
mod check;
mod chosen_rows;
mod clock;
mod columns;
mod compaction;
mod config;
mod copies;
mod database_error;
mod error;
mod examined;
mod expired;
mod folder;
mod follow;
mod format_file;
mod health;
mod hot;
mod ids;
mod in_doubt;
mod in_flight;
pub mod inspect;
mod log;
mod maintenance;
mod memory_fs;
mod missing;
mod node;
mod node_state;
mod object_move;
mod object_recovery;
mod object_upkeep;
mod objects;
mod peers;
mod promote;
mod quarantine;
mod recover;
mod recovery;
mod remote_scan;
mod required;
mod reset;
mod retention;
mod scan;
mod scan_parts;
mod schema;
mod seal;
mod segment;
mod segment_change;
mod snapshot;
mod stats;
mod store;
mod store_id;
mod table_provider;
mod time_bounds;
mod time_range;
mod timed_rows;
mod trusted_time;
mod unique;
mod usage;
mod vfs;
mod view;

#[cfg(test)]
mod tests;

pub use app_id::AppId;
pub use backup::{
    BackupReport, Beside, RestoreReport, Restored, VerifyReport, create_backup, restore_backup,
    verify_backup,
};
pub use catalogue::{
    Application, AuditRecord, BadUrl, Catalogue, CataloguePlace, ClientRecord, CopyRecord,
    Forgotten, GrantRecord, KeyRecord, NewApplication, NewKey, PostgresUrl, Redeemed,
    RetentionRule, RoleRecord, Saved, SavedKind, SecretRecord, SegmentRecord, SessionRecord,
    SigningKeyRecord, Tier, TimeMark, UserRecord,
};
pub use catalogue_move::{move_catalogue_from_postgres, move_catalogue_to_postgres};
pub use check::{CheckReport, Finding, Progress, check, check_objects};
pub use chosen_rows::RowChoice;
pub use clock::{Clock, SystemClock, TICKS_PER_HOUR, TICKS_PER_SECOND};
pub use columns::{TopRows, with_dictionaries, with_latest, with_top_rows};
pub use config::{ObjectsConfig, Replicas, StoreConfig};
pub use database_error::DatabaseError;
pub use error::{Result, StoreError};
pub use folder::{ServerInfo, holder, is_held};
pub use format_file::FORMAT_VERSION;
pub use health::Health;
pub use hot::HotRows;
pub use ids::time_ordered_id;
pub use memory_fs::MemoryFs;
pub use missing::MissingData;
pub use node::{CopyPlace, NodeConfig, NodeId, NodeRecord, NodeRole};
pub use object_move::{MovedSegments, SegmentMove};
pub use objects::{ObjectError, ObjectFigures, ObjectInfo, ObjectStorage};
pub use peers::{CopyLease, CopyRequest, HotReply, HotRequest, HotTable, NodeClient};
pub use promote::{LeafKind, PromotedColumn};
pub use quarantine::Quarantine;
pub use recover::{Doubt, Doubts, RecoveredApp, Recovery, RecoveryReport, recover};
pub use remote_scan::{RemoteScan, RemoteSegment, remote_scan};
pub use retention::RetentionRules;
pub use scan_parts::{
    ScannedPart, part_of_scan, scan_condition, scanned_bytes, scanned_column, scanned_parts,
    scanned_segments,
};
pub use schema::{Column, INGESTION_TIME, TIMESTAMP, Table};
pub use snapshot::Snapshot;
pub use stats::{Stats, TableStats};
pub use store::{Ack, AppendRequest, Store};
pub use table_provider::{FilterTerms, StoreTable};
pub use time_range::TimeRange;
pub use timed_rows::{MemoryTimes, times_in_memory};
pub use trusted_time::ClockTrust;
pub use unique::UniqueAck;
pub use usage::UsageRecord;
pub use vfs::{DirEntry, FileInfo, FileLock, ReadFile, RealFs, Vfs, WriteFile};
