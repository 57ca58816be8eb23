//! The registry of aggregates by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{AggregateFunction, LISTS};
use crate::signature::Signature;

struct Entry {
    function: &'static AggregateFunction,
    signatures: Vec<Signature>,
}

static ENTRIES: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    let mut entries = HashMap::new();
    for function in all() {
        for name in std::iter::once(function.name()).chain(function.aliases.iter().copied()) {
            let signatures = function
                .signatures
                .iter()
                .filter_map(|text| Signature::parse(text).ok())
                .collect();
            entries.insert(
                name,
                Entry {
                    function,
                    signatures,
                },
            );
        }
    }
    entries
});

/// The aggregate named `name`, with its parsed overloads.
pub fn find(name: &str) -> Option<(&'static AggregateFunction, &'static [Signature])> {
    ENTRIES
        .get(name)
        .map(|entry| (entry.function, entry.signatures.as_slice()))
}

/// The names and aliases of all aggregates, in no particular order.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.keys().copied()
}

/// All aggregates, family by family.
pub fn all() -> impl Iterator<Item = &'static AggregateFunction> {
    LISTS.iter().flat_map(|list| list.iter().copied())
}

impl AggregateFunction {
    /// The aggregate's name: the name in its first signature.
    pub fn name(&self) -> &'static str {
        self.signatures
            .first()
            .and_then(|s| s.split('(').next())
            .map_or("", str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_parse_and_names_are_unique() {
        let mut names = std::collections::HashSet::new();
        for function in all() {
            for text in function.signatures {
                assert!(Signature::parse(text).is_ok(), "{text}");
                assert!(text.starts_with(&format!("{}(", function.name())), "{text}");
            }
            for name in std::iter::once(&function.name()).chain(function.aliases) {
                assert!(names.insert(*name), "{name} is there twice");
            }
            assert!(
                !function.examples.is_empty(),
                "{} has no example",
                function.name()
            );
        }
        assert!(find("count").is_some() && find("no_such").is_none());
    }
}
