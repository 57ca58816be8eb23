//! History of other systems as rows of the tables.
//!
//! The command line reads the forms that the cloud exports (`source.rs` recognises them) and writes each item as a line: an object with the
//! columns of its table, which `hindsight export` writes too. The server reads such lines into columns (`columns.rs`) and stores the items
//! that it does not have yet.

pub(crate) mod columns;
mod continuous;
mod diagnostic;
mod identity;
mod line;
mod reply;
mod source;
mod value;

pub(crate) use identity::Identities;
pub(crate) use line::Line;
pub(crate) use reply::{QueryReply, ReplyTable, lines as reply_lines};
pub(crate) use source::lines;
pub(crate) use value::Ignored;
