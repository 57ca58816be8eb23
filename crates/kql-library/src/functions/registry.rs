//! The registry of functions by name. It is built once and parses the signatures.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::LISTS;
use crate::definition::ScalarFunction;
use crate::signature::Signature;

/// Functions indexed by name and alias.
pub struct Registry {
    by_name: HashMap<&'static str, Entry>,
    all: Vec<&'static ScalarFunction>,
}

#[derive(Clone)]
struct Entry {
    function: &'static ScalarFunction,
    signatures: Vec<Signature>,
}

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::build(LISTS));

/// The functions of the language.
pub fn registry() -> &'static Registry {
    &REGISTRY
}

impl Registry {
    fn build(lists: &[&'static [&'static ScalarFunction]]) -> Registry {
        let mut by_name = HashMap::new();
        let mut all = Vec::new();
        for function in lists.iter().flat_map(|list| list.iter().copied()) {
            let signatures = function
                .signatures
                .iter()
                .filter_map(|text| Signature::parse(text).ok())
                .collect();
            let entry = Entry {
                function,
                signatures,
            };
            for alias in function.aliases {
                by_name.insert(*alias, entry.clone());
            }
            by_name.insert(function.name(), entry);
            all.push(function);
        }
        Registry { by_name, all }
    }

    /// The function named `name`, with its parsed overloads.
    pub fn find(&self, name: &str) -> Option<(&'static ScalarFunction, &[Signature])> {
        self.by_name
            .get(name)
            .map(|entry| (entry.function, entry.signatures.as_slice()))
    }

    /// The names and aliases of all functions, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// All functions, in list order.
    pub fn all(&self) -> &[&'static ScalarFunction] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_parse_and_names_resolve() {
        for function in registry().all() {
            assert!(
                !function.examples.is_empty(),
                "{} has no example",
                function.name()
            );
            assert!(
                !function.summary.is_empty(),
                "{} has no summary",
                function.name()
            );
            for text in function.signatures {
                assert!(Signature::parse(text).is_ok(), "{text}");
                assert_eq!(
                    text.split('(').next(),
                    Some(function.name()),
                    "overloads share one name"
                );
            }
            for name in function.aliases.iter().chain([&function.name()]) {
                let found = registry().find(name).map(|(found, _)| found.name());
                assert_eq!(
                    found,
                    Some(function.name()),
                    "{name} belongs to another function"
                );
            }
        }
    }
}
