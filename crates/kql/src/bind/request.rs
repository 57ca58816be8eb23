//! The state of a whole request.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::held::HeldRows;
use crate::principal::QueryPrincipal;
use crate::query::{BindOptions, Settings};
use crate::random::RandomSource;

/// The tables, the options and the `set` statements of a request. Binding does not change them.
///
/// Options are read through methods. Those of options that differ between two requests of the same text note that they were called.
pub(crate) struct Request<'a> {
    pub(crate) catalog: &'a dyn Catalog,
    options: &'a BindOptions,
    /// The value of `now()`: the request's time, or `set query_now`.
    now_ticks: i64,
    pub(crate) settings: Settings,
    has_read_own: Cell<bool>,
}

impl<'a> Request<'a> {
    /// Creates a request without `set` statements.
    pub(crate) fn new(catalog: &'a dyn Catalog, options: &'a BindOptions) -> Request<'a> {
        Request {
            catalog,
            options,
            now_ticks: options.now_ticks,
            settings: Settings::default(),
            has_read_own: Cell::new(false),
        }
    }

    /// Replaces the value of `now()`.
    pub(crate) fn set_now_ticks(&mut self, ticks: i64) {
        self.now_ticks = ticks;
    }

    /// The value of `now()`.
    pub(crate) fn now_ticks(&self) -> i64 {
        self.has_read_own.set(true);
        self.now_ticks
    }

    /// The principal that sends the query.
    pub(crate) fn principal(&self) -> Option<&'a Arc<QueryPrincipal>> {
        self.own().principal.as_ref()
    }

    /// The host and port by which the client reaches the server.
    pub(crate) fn endpoint(&self) -> Option<&'a str> {
        self.own().endpoint.as_deref()
    }

    /// The rows of a request for rows, by its position.
    pub(crate) fn discovered(&self, position: usize) -> Option<&'a Arc<HeldRows>> {
        self.own().discovered.get(position)
    }

    /// The random numbers of the query.
    pub(crate) fn random(&self) -> RandomSource {
        self.own().random.clone()
    }

    /// The values of query parameters.
    pub(crate) fn parameters(&self) -> &'a HashMap<String, String> {
        &self.options.parameters
    }

    /// The interval that every scan is restricted to.
    pub(crate) fn timespan(&self) -> Option<(i64, i64)> {
        self.options.timespan
    }

    /// Whether binding has read an option other than parameters and timespan, so that another request of the same text may have
    /// other plans.
    pub(crate) fn has_read_own(&self) -> bool {
        self.has_read_own.get()
    }

    fn own(&self) -> &'a BindOptions {
        self.has_read_own.set(true);
        self.options
    }
}
