//! Kernels: functions over whole Arrow arrays.

mod args;
mod cast;
mod error;
mod limits;
mod reserved;
mod text;
mod total;

pub use args::{Kernel, KernelArgs, Rows};
pub use cast::{decimals, ints, longs};
pub use error::KernelError;
pub use limits::MAX_TEXT;
pub(crate) use limits::{CallLimits, SMALL_RESULT};
pub use text::to_text;
pub(crate) use total::total;
