//! The entries of the language reference for functions and aggregates.

mod names;

use crate::definition::ScalarFunction;
use crate::{aggregates, functions};

/// The entry of a function or an aggregate.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its overloads.
    pub signatures: &'static [&'static str],
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
}

/// The scalar functions by name.
pub fn scalar_functions() -> Vec<Entry> {
    let mut all = functions::registry().all().to_vec();
    all.sort_by_key(|function| function.name());
    let entry = |function: &ScalarFunction| Entry {
        signatures: function.signatures,
        aliases: function.aliases,
        summary: function.summary,
    };
    all.into_iter().map(entry).collect()
}

/// The aggregates by name.
pub fn aggregates() -> Vec<Entry> {
    let mut all: Vec<_> = aggregates::all().collect();
    all.sort_by_key(|aggregate| aggregate.name());
    let entry = |aggregate: &aggregates::AggregateFunction| Entry {
        signatures: aggregate.signatures,
        aliases: aggregate.aliases,
        summary: aggregate.summary,
    };
    all.into_iter().map(entry).collect()
}

/// The names of the language's scalar functions, supported or not.
pub fn known_functions() -> impl Iterator<Item = &'static str> {
    names::FUNCTIONS.split_whitespace()
}

/// The names of the language's aggregates, supported or not.
pub fn known_aggregates() -> impl Iterator<Item = &'static str> {
    names::AGGREGATES.split_whitespace()
}

/// Whether the language has a function named `name`.
pub fn has_function(name: &str) -> bool {
    known_functions().any(|known| known == name)
}
