//! Segments in an object store: the files in the data folder are then a cache.
//!
//! A seal or a merge writes a file as ever, uploads it as an object that must be new, and then lists it in the catalogue. Readers take the
//! file from the cache, which downloads what it lacks. Objects are never changed; they are deleted after the catalogue has
//! forgotten them ([`segments`]).

mod cache;
mod identity;
#[cfg(test)]
pub(crate) mod memory;
mod orphans;
mod segments;
mod storage;

pub(crate) use identity::{adopt, compare};
pub(crate) use orphans::{Collection, Orphans};
pub use segments::ObjectFigures;
pub(crate) use segments::{SegmentObjectFile, SegmentObjects};
pub use storage::{ObjectError, ObjectInfo, ObjectStorage};
