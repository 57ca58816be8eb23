//! The errors of a request. Binding continues after an error wherever the error leaves the meaning of the rest defined, so that a
//! request reports all independent errors at once.
//!
//! A consequence of an error is not reported again: a name that an error leaves undefined gives the same error wherever it is
//! used, and each error is reported once.

use std::collections::HashMap;

use hindsight_kql_syntax::Diagnostic;

/// The most errors that are reported of one request.
const MAX_ERRORS: usize = 50;

/// The errors of a request so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Errors {
    /// In the order in which they were found.
    reported: Vec<Diagnostic>,
    /// The names that an error leaves undefined, each with its error.
    undefined: HashMap<String, Diagnostic>,
    /// Whether the request exceeds a limit or was cancelled: binding does not continue.
    fatal: bool,
}

impl Errors {
    /// The first error that was reported.
    pub(crate) fn first(&self) -> Option<&Diagnostic> {
        self.reported.first()
    }

    /// Ends binding at the next error.
    pub(crate) fn end(&mut self) {
        self.fatal = true;
    }

    /// The errors in the order of the text.
    pub(crate) fn in_order(mut self) -> Vec<Diagnostic> {
        self.reported
            .sort_by_key(|error| (error.span.start, error.span.end));
        self.reported
    }

    /// Keeps an error, unless it was reported before. Returns whether binding can continue.
    pub(super) fn report(&mut self, error: &Diagnostic) -> bool {
        let place = |error: &Diagnostic| (error.code, error.span.start, error.span.end);
        let known =
            |other: &Diagnostic| place(other) == place(error) && other.message == error.message;
        if !self.reported.iter().any(known) {
            self.reported.push(error.clone());
        }
        !self.fatal && self.reported.len() < MAX_ERRORS
    }

    /// Records that an error leaves a name undefined.
    pub(super) fn leave_undefined(&mut self, name: &str, error: &Diagnostic) {
        self.undefined
            .entry(name.to_owned())
            .or_insert_with(|| error.clone());
    }

    /// The error that leaves a name undefined.
    pub(super) fn of_name(&self, name: &str) -> Option<&Diagnostic> {
        self.undefined.get(name)
    }

    /// Restores the state `before` an attempt. Returns the first error that the attempt reported.
    pub(super) fn restore(&mut self, before: Errors) -> Option<Diagnostic> {
        let fatal = self.fatal;
        let after = std::mem::replace(self, before);
        self.fatal |= fatal;
        after.reported.into_iter().nth(self.reported.len())
    }
}
