//! Kernels: functions over whole Arrow arrays.

mod args;
mod cast;
mod effort;
mod error;
mod text;
mod total;

pub use args::{Kernel, KernelArgs, Rows};
pub use cast::{decimals, ints, longs};
pub(crate) use effort::{Effort, MAX_TEXT};
pub use error::KernelError;
pub use text::to_text;
pub(crate) use total::total;
