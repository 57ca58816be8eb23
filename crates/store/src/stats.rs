//! What is stored, in numbers.

use crate::app_id::AppId;
use crate::schema::Table;
use crate::view::View;

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
    /// Segments.
    pub segments: u64,
    /// Rows in segments.
    pub sealed_rows: u64,
    /// Bytes of segments.
    pub sealed_bytes: u64,
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
    pub(crate) fn of(view: &View) -> Stats {
        let mut tables: Vec<TableStats> = view
            .tables
            .iter()
            .map(|((app, table), state)| TableStats {
                app: *app,
                table: *table,
                hot_rows: (state.open.rows + state.frozen.rows) as u64,
                hot_bytes: (state.open.bytes + state.frozen.bytes) as u64,
                segments: state.segments.len() as u64,
                sealed_rows: state
                    .segments
                    .iter()
                    .map(|segment| segment.record.rows)
                    .sum(),
                sealed_bytes: state
                    .segments
                    .iter()
                    .map(|segment| segment.record.bytes)
                    .sum(),
            })
            .filter(|stats| stats.rows() > 0)
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

    /// All bytes in memory.
    pub fn hot_bytes(&self) -> u64 {
        self.tables.iter().map(|stats| stats.hot_bytes).sum()
    }

    /// All bytes of segments.
    pub fn sealed_bytes(&self) -> u64 {
        self.tables.iter().map(|stats| stats.sealed_bytes).sum()
    }
}
