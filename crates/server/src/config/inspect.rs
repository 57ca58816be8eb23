//! What the settings are, where each comes from, and everything that is wrong with them.

use std::fmt;
use std::path::Path;

use anyhow::Context;
use toml::de::{DeTable, DeValue};

use super::table::{SETTINGS, Setting, Settings};
use super::values::{line_of, scalar_text};

/// Edits that turn a name into another one at most, for one to be suggested for the other.
const EDITS: usize = 2;
/// Variables of the command line that are no settings.
const OTHER_VARIABLES: [&str; 3] = ["HINDSIGHT_KEY", "HINDSIGHT_APP", "HINDSIGHT_HISTORY"];

/// Where the value of a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The default.
    Default,
    /// A line of the file.
    File(String),
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(place) => f.write_str(place),
            Origin::Variable(name) => f.write_str(name),
        }
    }
}

/// A setting with its value.
#[derive(Debug)]
pub(crate) struct Value {
    /// The key.
    pub(crate) key: &'static str,
    /// The value as it was written.
    pub(crate) text: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// Settings as they were read.
#[derive(Debug)]
pub(crate) struct Inspection {
    /// The settings. One whose value is wrong has the value that it would have without it.
    pub(crate) settings: Settings,
    /// Every setting, in the order of the documentation.
    pub(crate) values: Vec<Value>,
    /// What is wrong, each with its place.
    pub(crate) problems: Vec<String>,
}

/// Reads the defaults, the file and the environment as [`Settings::load`] does, and goes on after what is wrong.
///
/// # Errors
/// That a default is wrong, which a test excludes.
pub(crate) fn inspect(
    file: Option<&Path>,
    environment: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Inspection> {
    let values = SETTINGS.iter().map(|setting| Value {
        key: setting.key,
        text: setting.default.to_owned(),
        origin: Origin::Default,
    });
    let mut inspection = Inspection {
        settings: Settings::defaults()?,
        values: values.collect(),
        problems: Vec::new(),
    };
    if let Some(path) = file {
        match std::fs::read_to_string(path) {
            Ok(text) => inspection.read_file(path, &text),
            Err(error) => {
                let problem = format!("cannot read {}: {error}", path.display());
                inspection.problems.push(problem);
            }
        }
    }
    for setting in SETTINGS {
        let variable = setting.variable();
        if let Some(text) = environment(&variable) {
            let place = format!("environment variable {variable}");
            inspection.set(setting, text, Origin::Variable(variable), &place);
        }
    }
    Ok(inspection)
}

impl Inspection {
    fn read_file(&mut self, path: &Path, text: &str) {
        let name = path.display();
        match DeTable::parse(text) {
            Ok(table) => self.read_table(&name.to_string(), text, "", table.get_ref()),
            Err(error) => self
                .problems
                .push(format!("{name}: {error}").trim_end().to_owned()),
        }
    }

    fn read_table(&mut self, file: &str, text: &str, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            if let DeValue::Table(inner) = value.get_ref() {
                self.read_table(file, text, &format!("{key}."), inner);
                continue;
            }
            let place = format!("{file}, line {}", line_of(text, name.span().start));
            let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
                let keys = SETTINGS.iter().map(|setting| setting.key.to_owned());
                let hint = hint(&key, keys);
                self.problems
                    .push(format!("{place}: unknown setting `{key}`{hint}"));
                continue;
            };
            match scalar_text(value.get_ref()) {
                Ok(text) => self.set(setting, text, Origin::File(place.clone()), &place),
                Err(error) => self
                    .problems
                    .push(format!("{place}: setting `{key}`: {error}")),
            }
        }
    }

    fn set(&mut self, setting: &Setting, text: String, origin: Origin, place: &str) {
        let set = (setting.set)(&mut self.settings, &text)
            .with_context(|| format!("setting `{}`", setting.key));
        if let Err(error) = set {
            return self.problems.push(format!("{place}: {error:#}"));
        }
        if let Some(value) = self
            .values
            .iter_mut()
            .find(|value| value.key == setting.key)
        {
            value.text = setting.shown(&text);
            value.origin = origin;
        }
    }

    /// Sentences about variables that look like settings and are none, which nothing reads.
    pub(crate) fn unknown_variables(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        let known: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
        let unknown = names.filter(|name| {
            name.starts_with("HINDSIGHT_")
                && !known.contains(name)
                && !OTHER_VARIABLES.contains(&name.as_str())
        });
        let mut notes: Vec<String> = unknown
            .map(|name| {
                let hint = hint(&name, known.iter().cloned());
                format!("the environment variable {name} names no setting{hint}")
            })
            .collect();
        notes.sort();
        notes
    }
}

/// A question that names the most alike of some names; nothing if none is alike.
fn hint(name: &str, known: impl Iterator<Item = String>) -> String {
    let close = known
        .map(|other| (strsim::damerau_levenshtein(name, &other), other))
        .filter(|(edits, _)| *edits <= EDITS)
        .min_by_key(|(edits, _)| *edits);
    close.map_or(String::new(), |(_, other)| {
        format!("; did you mean `{other}`?")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_named_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.toml");
        std::fs::write(
            &path,
            "[query]\ntimout = \"5s\"\nmax_rows = 7\nmemory = \"much\"\nqueue = [1]\n",
        )
        .unwrap();
        let environment = |name: &str| match name {
            "HINDSIGHT_CACHE_BYTES" => Some("many".to_owned()),
            "HINDSIGHT_LISTEN" => Some("[::1]:1".to_owned()),
            _ => None,
        };
        let found = inspect(Some(&path), environment).unwrap();
        let problems = found.problems.join("\n");
        assert_eq!(found.problems.len(), 4, "{problems}");
        for part in [
            "line 2: unknown setting `query.timout`; did you mean `query.timeout`?",
            "line 4: setting `query.memory`",
            "line 5: setting `query.queue`: a array is not a value of a setting",
            "environment variable HINDSIGHT_CACHE_BYTES: setting `cache.bytes`",
        ] {
            assert!(problems.contains(part), "{part} is not in\n{problems}");
        }
        assert_eq!(found.settings.query_max_rows, 7);
        let of = |key: &str| found.values.iter().find(|value| value.key == key).unwrap();
        assert_eq!(
            of("listen").origin,
            Origin::Variable("HINDSIGHT_LISTEN".to_owned())
        );
        assert!(
            of("query.max_rows")
                .origin
                .to_string()
                .ends_with("h.toml, line 3")
        );
        assert_eq!(
            (of("query.memory").text.as_str(), &of("query.memory").origin),
            ("2GiB", &Origin::Default)
        );
        let names = [
            "HINDSIGHT_QUERY_TIMEOUTS",
            "HINDSIGHT_KEY",
            "HOME",
            "HINDSIGHT_LISTEN",
        ];
        assert_eq!(
            found.unknown_variables(names.into_iter().map(str::to_owned)),
            [
                "the environment variable HINDSIGHT_QUERY_TIMEOUTS names no setting; did you mean `HINDSIGHT_QUERY_TIMEOUT`?"
            ]
        );
    }

    #[test]
    fn a_file_that_is_no_toml_is_one_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.toml");
        std::fs::write(&path, "listen = ").unwrap();
        let found = inspect(Some(&path), |_| None).unwrap();
        assert!(
            found.problems.join("\n").contains("line 1"),
            "{:?}",
            found.problems
        );
        let missing = inspect(Some(Path::new("no-such.toml")), |_| None).unwrap();
        assert!(missing.problems.join("\n").contains("no-such.toml"));
    }
}
