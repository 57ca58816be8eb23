//! Generates the language reference from the parser and the library.

mod names;
mod reasons;
mod special;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hindsight_kql_syntax::reference::{
    Item, JOIN_KINDS, OPERATORS, REFUSED, SCALAR_OPERATORS, STATEMENTS,
};

use hindsight_kql_library::reference::{self as library, Entry};

use crate::{aggregates, functions, plugins};

pub(crate) use library::has_function;
pub(crate) use special::argument_counts;

/// The names of the scalar functions that the binder implements itself.
pub(crate) fn special_functions() -> impl Iterator<Item = &'static str> {
    let all = special::SCALAR.iter().chain(special::GRAPH);
    all.map(special::Special::name)
}

/// Whether KQL has a plug-in of this name, supported or not.
pub(crate) fn has_plugin(name: &str) -> bool {
    names::PLUGINS.split_whitespace().any(|known| known == name)
}

/// The reference as Markdown: each supported construct with its form and a summary, and the names of the unsupported ones.
pub fn language() -> String {
    let mut page = Page::default();
    page.text(
        "# The language\n\nThe KQL that Hindsight supports, and what it refuses by name. `hindsight docs` generates this page from the \
         tables of the parser and the library. In signatures `[ ]` is optional, `...` repeats, `...63` repeats at most 63 \
         times, `const` and `literal` require a constant, and `$1` is the type of the first argument. `text` accepts any type and converts it to text; `number`, \
         `integer`, `time` and `orderable` accept several types.",
    );
    page.items("Statements", STATEMENTS);
    page.items("Tabular operators and sources", OPERATORS);
    page.items("Kinds of join", JOIN_KINDS);
    page.items("Scalar operators", SCALAR_OPERATORS);
    page.entries("Scalar functions", &library::scalar_functions());
    page.specials("Functions of columns and rows", special::SCALAR);
    page.specials("Functions of graphs", special::GRAPH);
    page.specials("Tables by call", special::TABULAR);
    page.entries("Aggregates", &library::aggregates());
    page.plugins();
    page.refused();
    page.out
}

#[derive(Default)]
struct Page {
    out: String,
}

impl Page {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn section(&mut self, title: &str) {
        let _ = write!(self.out, "\n## {title}\n\n");
    }

    fn line(&mut self, forms: &[&str], aliases: &[&str], summary: &str) {
        let code =
            |texts: &[&str]| -> Vec<String> { texts.iter().map(|t| format!("`{t}`")).collect() };
        let _ = write!(self.out, "- {}", code(forms).join(", "));
        if !aliases.is_empty() {
            let _ = write!(self.out, " (also {})", code(aliases).join(", "));
        }
        let _ = writeln!(self.out, ": {summary}");
    }

    fn items(&mut self, title: &str, items: &[Item]) {
        self.section(title);
        for item in items {
            self.line(&[item.form], &[], item.summary);
        }
    }

    fn entries(&mut self, title: &str, entries: &[Entry]) {
        self.section(title);
        for entry in entries {
            self.line(entry.signatures, entry.aliases, entry.summary);
        }
    }

    fn specials(&mut self, title: &str, items: &[special::Special]) {
        self.section(title);
        for item in items {
            self.line(&[item.form], &[], item.summary);
        }
    }

    fn plugins(&mut self) {
        self.section("Plug-ins of evaluate");
        for plugin in plugins::all() {
            self.line(&[plugin.form], &[], plugin.summary);
        }
    }

    fn refused(&mut self) {
        self.items("Refused by name", REFUSED);
        let scalar = |name: &&str| {
            functions::registry().find(name).is_some()
                || special::SCALAR.iter().any(|s| s.name() == *name)
        };
        let aggregate = |name: &&str| aggregates::find(name).is_some();
        let plugin = |name: &&str| plugins::find(name).is_some();
        self.missing(
            "Functions",
            library::known_functions(),
            scalar,
            reasons::FUNCTIONS,
        );
        self.missing("Aggregates", library::known_aggregates(), aggregate, &[]);
        for (call, reason) in reasons::ARGUMENTS {
            let _ = writeln!(self.out, "- `{call}` {reason}");
        }
        self.missing(
            "Plug-ins",
            names::PLUGINS.split_whitespace(),
            plugin,
            reasons::PLUGINS,
        );
    }

    /// The names of KQL that the library does not implement, a line for each reason.
    fn missing(
        &mut self,
        what: &str,
        known: impl Iterator<Item = &'static str>,
        supported: impl Fn(&&str) -> bool,
        reasons: &'static [reasons::Refused],
    ) {
        let mut lines: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for name in known.filter(|name| !supported(name)) {
            let names = lines.entry(reasons::reason(reasons, name)).or_default();
            names.insert(format!("`{name}`"));
        }
        for (reason, names) in lines {
            let names: Vec<String> = names.into_iter().collect();
            let _ = writeln!(self.out, "- {what} {}: {reason}", names.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_up_to_date() {
        let page = include_str!("../../../../docs/language.md");
        assert!(
            page == language(),
            "docs/language.md is not fresh: `hindsight docs > docs/language.md`"
        );
    }

    #[test]
    fn what_has_a_reason_is_known_and_refused() {
        let known: BTreeSet<&str> = library::known_functions().collect();
        for name in names_of(reasons::FUNCTIONS) {
            assert!(known.contains(name), "{name}");
            assert!(functions::registry().find(name).is_none(), "{name}");
        }
        let known: BTreeSet<&str> = names::PLUGINS.split_whitespace().collect();
        for name in names_of(reasons::PLUGINS) {
            assert!(known.contains(name), "{name}");
            assert!(plugins::find(name).is_none(), "{name}");
        }
    }

    fn names_of(reasons: &'static [reasons::Refused]) -> impl Iterator<Item = &'static str> {
        reasons
            .iter()
            .flat_map(|refused| refused.names.split_whitespace())
    }

    /// The binder implements the special functions by name; the library does not have them.
    #[test]
    fn the_special_functions_are_bound_by_name() {
        for item in special::SCALAR {
            let name = item.name();
            assert!(
                functions::registry().find(name).is_none(),
                "{name} is in the library"
            );
            let arguments = ["", "name", "'name', name"];
            let known = arguments.iter().any(|arguments| {
                let query = format!("requests | extend r = {name}({arguments})");
                !crate::testing::answer(&query).starts_with("error SEM0260")
            });
            assert!(known, "{name} is unknown");
        }
    }

    #[test]
    fn the_kinds_of_join_are_bound() {
        for kind in JOIN_KINDS {
            let query = format!(
                "requests | join kind={} (requests) on name | take 0",
                kind.name
            );
            let answer = crate::testing::answer(&query);
            assert!(!answer.starts_with("error"), "{answer}");
        }
    }
}
