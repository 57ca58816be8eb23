//! What is stored, in numbers.

use std::sync::Arc;

use crate::app_id::AppId;
use crate::schema::Table;
use crate::segment::{Damage, Segment};
use crate::view::{Key, TableState, View};

/// What one application's table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStats {
    /// The application.
    pub app: AppId,
    /// The table.
    pub table: Table,
    /// Rows in memory.
    pub hot_rows: u64,
    /// Bytes in memory.
    pub hot_bytes: u64,
    /// Segments that can be read.
    pub segments: u64,
    /// Rows in segments.
    pub sealed_rows: u64,
    /// Bytes of segments.
    pub sealed_bytes: u64,
    /// Segments that cannot be read; the figures above leave them out.
    pub damaged_segments: u64,
    /// Rows in segments that cannot be read.
    pub damaged_rows: u64,
}

impl TableStats {
    /// All rows.
    pub fn rows(&self) -> u64 {
        self.hot_rows + self.sealed_rows
    }
}

/// What the store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// By application and table, in that order; tables that hold nothing are left out.
    pub tables: Vec<TableStats>,
    /// The last sequence of the log.
    pub sequence: u64,
}

impl Stats {
    pub(crate) fn of(view: &View, damage: &Damage) -> Stats {
        let is_damaged = |segment: &&Segment| damage.contains_key(&segment.record.id);
        let of_table = |(app, table): &Key, state: &TableState| {
            let (damaged, whole): (Vec<&Segment>, Vec<&Segment>) =
                state.segments.iter().map(Arc::as_ref).partition(is_damaged);
            let sum = |segments: &[&Segment], read: fn(&Segment) -> u64| {
                segments.iter().map(|segment| read(segment)).sum()
            };
            TableStats {
                app: *app,
                table: *table,
                hot_rows: (state.open.rows + state.frozen.rows) as u64,
                hot_bytes: (state.open.bytes + state.frozen.bytes) as u64,
                segments: whole.len() as u64,
                sealed_rows: sum(&whole, |segment| segment.record.rows),
                sealed_bytes: sum(&whole, |segment| segment.record.bytes),
                damaged_segments: damaged.len() as u64,
                damaged_rows: sum(&damaged, |segment| segment.record.rows),
            }
        };
        let mut tables: Vec<TableStats> = view
            .tables
            .iter()
            .map(|(key, state)| of_table(key, state))
            .filter(|stats| stats.rows() > 0 || stats.damaged_segments > 0)
            .collect();
        tables.sort_by_key(|stats| (stats.app, stats.table));
        Stats {
            tables,
            sequence: view.sequence,
        }
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(TableStats::rows).sum()
    }

    /// Segments that cannot be read.
    pub fn damaged_segments(&self) -> u64 {
        self.tables.iter().map(|stats| stats.damaged_segments).sum()
    }

    /// All bytes in memory.
    pub fn hot_bytes(&self) -> u64 {
        self.tables.iter().map(|stats| stats.hot_bytes).sum()
    }

    /// All bytes of segments.
    pub fn sealed_bytes(&self) -> u64 {
        self.tables.iter().map(|stats| stats.sealed_bytes).sum()
    }
}
