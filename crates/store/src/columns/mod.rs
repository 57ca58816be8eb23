//! Decoded columns of segments in memory, and the scan that reads them.
//!
//! A query over many segments spends most of its time opening files and decoding the same columns again. The column cache keeps
//! decoded columns, up to a number of bytes: texts that repeat as codes into their distinct values, so that a predicate on such a
//! column is evaluated once for each distinct value and a row costs one or two bytes.
//!
//! [`SegmentSource`] stands between DataFusion's file scan and its Parquet reader. For each file it decides which of the two reads:
//! this module, if rows of it are chosen by an index or the columns that select rows can be kept in memory, or the Parquet reader, which prunes
//! with bloom filters and page indexes. Columns of the selected rows that are not in memory are read from the file for these rows alone (late materialization).
//! Which rows meet a condition over a column that is too large to be kept is remembered instead of the column (`selections`). A sort that
//! returns its first rows only bounds the rows that are selected (`top_rows`).

mod batch;
mod bounds;
mod cache;
mod coded;
mod coded_output;
mod dictionary;
mod file_scan;
mod footer_facts;
mod group_scan;
mod grouping;
mod latest;
mod loading;
mod morselizer;
mod partition_scan;
mod read_ahead;
mod scan_plan;
mod scanned_rows;
mod selections;
mod source;
mod top_filter;
mod top_rows;

pub(crate) use cache::ColumnCache;
pub use grouping::{with_dictionaries, with_latest};
pub(crate) use selections::SelectionCache;
pub(crate) use source::SegmentSource;
pub use source::with_top_rows;
pub use top_rows::TopRows;
