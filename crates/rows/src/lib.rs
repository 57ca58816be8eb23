//! Rows of telemetry before they are stored: the columns of an item, how long each may be, and the batches of a request.
//!
//! Every ingestion protocol maps its items to a [`Row`] and adds it to [`Gathered`]. Which field of a row fills which column is
//! stated once, in `columns.rs`. The rules that the protocols share are here too: limits of texts, the window of accepted times,
//! the weight of sampled items, metric points, exceptions, and what follows from an address or a user agent.

mod bags;
pub mod client;
mod columns;
mod duration;
mod exception;
mod gathered;
pub mod limits;
mod metric;
mod row;
mod sampling;
mod window;

pub use bags::{finish, measurement, note_dropped};
pub use duration::{bucket, clock_milliseconds};
pub use exception::{Exception, Frame};
pub use gathered::{AppBatches, Gathered};
pub use metric::{Point, counter};
pub use row::{AppColumns, Owner, Row, Tags, Thrown};
pub use sampling::{MIN_SAMPLE_RATE, item_count};
pub use window::{OutsideWindow, Window};
