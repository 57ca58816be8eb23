//! Datetimes: calendar parts, text forms and parsing (`docs/semantics.md §8.5, §8.6, §28.2`).

mod civil;
pub(crate) mod cursor;
mod parse;
mod write;

pub use civil::{Civil, day_of_week, day_of_year, days_in_month, is_leap_year, ticks_of_date};
pub use parse::parse;
pub use write::{write_full, write_trimmed};
