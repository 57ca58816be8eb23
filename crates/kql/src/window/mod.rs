//! Window functions over serialized rows (`docs/semantics.md §22.2`).

mod bind;
mod call;
mod prepare;
mod rows;

pub(crate) use bind::{absorb, bind_call, is_window};
pub(crate) use call::WindowCall;
