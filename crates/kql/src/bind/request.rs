//! What holds for a whole request.

use crate::catalog::Catalog;
use crate::query::{BindOptions, Settings};

/// The tables, the options and the `set` statements of a request. Nothing changes them while its statements are bound.
pub(crate) struct Request<'a> {
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) options: &'a BindOptions,
    /// `now()`: the request's, or `set query_now`.
    pub(crate) now_ticks: i64,
    pub(crate) settings: Settings,
}

impl<'a> Request<'a> {
    /// A request without settings.
    pub(crate) fn new(catalog: &'a dyn Catalog, options: &'a BindOptions) -> Request<'a> {
        Request {
            catalog,
            options,
            now_ticks: options.now_ticks,
            settings: Settings::default(),
        }
    }
}
