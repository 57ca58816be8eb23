//! Generates the language reference from the parser and the library.

mod names;
mod reasons;
mod special;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hindsight_kql_syntax::reference::{
    Item, JOIN_KINDS, OPERATORS, REFUSED, SCALAR_OPERATORS, STATEMENTS,
};

use hindsight_kql_library::reference as library;

use crate::{aggregates, functions, operators, plugins};

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

/// A part of the reference.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// What it describes, in order.
    pub entries: Vec<Entry>,
}

/// A construct of the language that is supported.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its syntax or its signatures.
    pub forms: Vec<&'static str>,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// One sentence.
    pub summary: &'static str,
}

/// Names of the language that are refused for one reason.
#[derive(Debug, Clone)]
pub struct RefusedNames {
    /// What they are: `Functions`, `Aggregates` or `Plug-ins`.
    pub kind: &'static str,
    /// The names, sorted.
    pub names: Vec<&'static str>,
    /// A sentence.
    pub reason: &'static str,
}

/// The visualizations of `render`.
pub fn visualizations() -> &'static [&'static str] {
    operators::render::VISUALIZATIONS
}

/// What is supported, by section.
pub fn sections() -> Vec<Section> {
    let described = |form, aliases, summary| Entry {
        forms: vec![form],
        aliases,
        summary,
    };
    let items = |title, items: &'static [Item]| Section {
        title,
        entries: items
            .iter()
            .map(|item| described(item.form, &[], item.summary))
            .collect(),
    };
    let specials = |title, items: &'static [special::Special]| Section {
        title,
        entries: items
            .iter()
            .map(|item| described(item.form, &[], item.summary))
            .collect(),
    };
    let entries = |title, entries: Vec<library::Entry>| Section {
        title,
        entries: entries
            .into_iter()
            .map(|entry| Entry {
                forms: entry.signatures.to_vec(),
                aliases: entry.aliases,
                summary: entry.summary,
            })
            .collect(),
    };
    vec![
        items("Statements", STATEMENTS),
        items("Tabular operators and sources", OPERATORS),
        items("Kinds of join", JOIN_KINDS),
        items("Scalar operators", SCALAR_OPERATORS),
        entries("Scalar functions", library::scalar_functions()),
        specials("Functions of columns and rows", special::SCALAR),
        specials("Functions of graphs", special::GRAPH),
        specials("Tables by call", special::TABULAR),
        entries("Aggregates", library::aggregates()),
        Section {
            title: "Plug-ins of evaluate",
            entries: plugins::all()
                .iter()
                .map(|plugin| described(plugin.form, &[], plugin.summary))
                .collect(),
        },
    ]
}

/// The names of the language that the library does not implement: those of functions, aggregates and plug-ins.
pub fn refused_names() -> Vec<RefusedNames> {
    let scalar = |name: &&str| {
        functions::registry().find(name).is_some()
            || special::SCALAR.iter().any(|s| s.name() == *name)
    };
    let aggregate = |name: &&str| aggregates::find(name).is_some();
    let plugin = |name: &&str| plugins::find(name).is_some();
    let functions = missing(
        "Functions",
        library::known_functions(),
        scalar,
        reasons::FUNCTIONS,
    );
    let aggregates = missing("Aggregates", library::known_aggregates(), aggregate, &[]);
    let plugins = missing(
        "Plug-ins",
        names::PLUGINS.split_whitespace(),
        plugin,
        reasons::PLUGINS,
    );
    [functions, aggregates, plugins].concat()
}

/// The names of KQL that the library does not implement, by reason.
fn missing(
    kind: &'static str,
    known: impl Iterator<Item = &'static str>,
    supported: impl Fn(&&str) -> bool,
    reasons: &'static [reasons::Refused],
) -> Vec<RefusedNames> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in known.filter(|name| !supported(name)) {
        let reason = reasons::reason(reasons, name);
        found.entry(reason).or_default().insert(name);
    }
    found
        .into_iter()
        .map(|(reason, names)| RefusedNames {
            kind,
            names: names.into_iter().collect(),
            reason,
        })
        .collect()
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
    for section in sections() {
        page.described(&section);
    }
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

    fn described(&mut self, section: &Section) {
        self.section(section.title);
        for entry in &section.entries {
            self.line(&entry.forms, entry.aliases, entry.summary);
        }
    }

    fn refused(&mut self) {
        self.section("Refused by name");
        for item in REFUSED {
            self.line(&[item.form], &[], item.summary);
        }
        let names = refused_names();
        let (plugins, others): (Vec<_>, Vec<_>) =
            names.iter().partition(|refused| refused.kind == "Plug-ins");
        for refused in others {
            self.names(refused);
        }
        for (call, reason) in reasons::ARGUMENTS {
            let _ = writeln!(self.out, "- `{call}` {reason}");
        }
        for refused in plugins {
            self.names(refused);
        }
    }

    fn names(&mut self, refused: &RefusedNames) {
        let names: BTreeSet<String> = refused
            .names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let (kind, reason) = (refused.kind, refused.reason);
        let _ = writeln!(self.out, "- {kind} {}: {reason}", names.join(", "));
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
