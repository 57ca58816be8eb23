//! Reads protobuf's wire format in place: a message is an iterator over its fields, whose texts and messages borrow the payload.
//!
//! The owned messages of the generated types would need many times the payload's memory: two bytes are an empty attribute, which
//! is a hundred bytes as an owned message. Here a message that is not read costs its bytes alone.

mod fields;
pub(crate) mod json;
mod schema;

pub(crate) use fields::{Field, fields, messages};
