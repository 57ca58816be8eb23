//! The `dynamic` type: one JSON-like value as one byte string (`docs/semantics.md §9`).
//!
//! The bytes are a Parquet Variant (`VariantEncoding.md` of the Parquet format): the metadata, a dictionary of the
//! distinct keys of this value, followed directly by the value. The field ids of a bag are sorted by key, as the format
//! requires, but the field values are in insertion order, so that the offsets hold KQL's order of keys.
//!
//! - [`Dynamic`] is the owned tree, for literals, constant folding and tests.
//! - [`DynamicRef`] reads the bytes in place. Corrupt bytes read as null; nothing panics.
//! - [`Encoder`] and [`BagBuilder`] write bytes; [`parse_json`] and [`parse_json_into`] encode JSON text directly.
//!
//! A dynamic null is an Arrow null in a column; inside arrays and bags it is an encoded null.

mod builder;
mod convert;
mod encoder;
mod json_read;
mod json_write;
mod keys;
mod layout;
mod owned;
mod reader;
mod walk;

pub use builder::BagBuilder;
pub use encoder::{Encoder, EncoderMemory, MAX_ENCODED};
pub use json_read::{encode_json, encode_parsed, parse_json, parse_json_into};
pub use json_write::write_json_string;
pub use layout::MAX_DEPTH;
pub use owned::Dynamic;
pub use reader::{DynamicRef, Kind};
pub use walk::{ArrayElements, ArrayIter, BagIter};
