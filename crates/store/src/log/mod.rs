//! The log: what makes an acknowledged request durable before it lies in a segment. `FORMAT.md` describes the bytes.

mod copy;
mod file;
mod files;
mod inspect;
mod payload;
mod record;
mod replay;
mod replica;
mod writer;

pub(crate) use copy::{CopyLog, LogRecords};
pub(crate) use file::LogSettings;
pub(crate) use files::{files, remove_through, remove_unfinished};
pub(crate) use inspect::{LogDamage, LogReport, inspect};
pub(crate) use payload::{Payload, encode_batches};
pub(crate) use replay::{LogEnd, read_file, replay};
pub(crate) use replica::Replica;
pub(crate) use writer::{Appended, LogSink, LogWriter};
