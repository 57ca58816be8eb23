//! The state of a whole request.

use crate::catalog::Catalog;
use crate::query::{BindOptions, Settings};

/// The tables, the options and the `set` statements of a request. Binding does not change them.
pub(crate) struct Request<'a> {
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) options: &'a BindOptions,
    /// The value of `now()`: the request's time, or `set query_now`.
    pub(crate) now_ticks: i64,
    pub(crate) settings: Settings,
}

impl<'a> Request<'a> {
    /// Creates a request without `set` statements.
    pub(crate) fn new(catalog: &'a dyn Catalog, options: &'a BindOptions) -> Request<'a> {
        Request {
            catalog,
            options,
            now_ticks: options.now_ticks,
            settings: Settings::default(),
        }
    }
}
