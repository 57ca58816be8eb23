//! Window functions over serialized rows (`semantics.md §22.2`).

mod call;
mod rows;

pub(crate) use call::{WindowCall, absorb, bind_call, is_window};
