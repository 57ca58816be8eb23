//! Settings: flag over environment over TOML file over default, all from one [`table`].
//!
//! The table is also the documentation: `hindsight settings` prints it.

mod inspect;
mod table;
mod values;

use std::path::Path;

use anyhow::Context;
use toml::de::{DeTable, DeValue};

pub(crate) use inspect::{Inspection, inspect};
use table::SETTINGS;
pub(crate) use table::{FiguresAccess, Settings};
pub(crate) use values::{bytes, duration};
use values::{line_of, scalar_text};

impl Settings {
    /// Defaults, then the file, then the environment. Flags are applied by the caller with [`Settings::set`].
    pub(crate) fn load(
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Settings> {
        Settings::defaults()?.overridden(file, environment)
    }

    /// These settings, where neither the file nor the environment says otherwise.
    pub(crate) fn overridden(
        self,
        file: Option<&Path>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Settings> {
        let mut settings = self;
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            settings
                .apply_toml(&text)
                .with_context(|| path.display().to_string())?;
        }
        for setting in SETTINGS {
            let variable = setting.variable();
            if let Some(value) = environment(&variable) {
                (setting.set)(&mut settings, &value)
                    .with_context(|| format!("environment variable {variable}"))?;
            }
        }
        Ok(settings)
    }

    /// Sets one setting by its key.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let setting = SETTINGS
            .iter()
            .find(|setting| setting.key == key)
            .with_context(|| format!("unknown setting `{key}`"))?;
        (setting.set)(self, value).with_context(|| format!("setting `{key}`"))
    }

    fn apply_toml(&mut self, text: &str) -> anyhow::Result<()> {
        let table = DeTable::parse(text)?;
        self.apply_table(text, "", table.get_ref())
    }

    fn apply_table(&mut self, text: &str, prefix: &str, table: &DeTable<'_>) -> anyhow::Result<()> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            let line = || format!("line {}", line_of(text, name.span().start));
            match value.get_ref() {
                DeValue::Table(inner) => self.apply_table(text, &format!("{key}."), inner)?,
                scalar => self
                    .set(&key, &scalar_text(scalar).with_context(line)?)
                    .with_context(line)?,
            }
        }
        Ok(())
    }
}

/// The documentation of all settings, as a Markdown table.
pub(crate) fn documentation() -> String {
    let mut out = String::from(
        "A flag of `hindsight serve` takes precedence over the environment, the environment over the TOML file (`--config`), and the file over the default.\n\n| key | environment variable | default | description |\n|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let default = if setting.default.is_empty() {
            "(empty)"
        } else {
            setting.default
        };
        out.push_str(&format!(
            "| `{}` | `{}` | `{default}` | {} |\n",
            setting.key,
            setting.variable(),
            setting.help
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_default_is_valid() {
        let settings = Settings::defaults().unwrap();
        assert_eq!(settings.query_timeout, Duration::from_secs(180));
        assert_eq!(settings.retention, Duration::from_secs(90 * 86_400));
        assert_eq!(settings.ingest_max_item_bytes, 65_536);
    }

    #[test]
    fn environment_wins_over_file_and_file_over_default() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.toml");
        std::fs::write(
            &path,
            "listen = \"0.0.0.0:1\"\n[query]\ntimeout = \"5s\"\nmax_rows = 1_000\n",
        )
        .unwrap();
        let environment = |name: &str| (name == "HINDSIGHT_QUERY_TIMEOUT").then(|| "7s".to_owned());
        let settings = Settings::load(Some(&path), environment).unwrap();
        assert_eq!(settings.listen, "0.0.0.0:1");
        assert_eq!(settings.query_max_rows, 1000);
        assert_eq!(settings.query_timeout, Duration::from_secs(7));
    }

    #[test]
    fn unknown_keys_and_bad_values_are_named_with_their_line() {
        let check = |text: &str, expected: &[&str]| {
            let error = format!(
                "{:#}",
                Settings::defaults().unwrap().apply_toml(text).unwrap_err()
            );
            assert!(expected.iter().all(|part| error.contains(part)), "{error}");
        };
        check("\n[query]\ntime = \"5s\"\n", &["line 3", "query.time"]);
        check("[query]\ntimeout = \"5 parsecs\"", &["line 2", "parsecs"]);
        check("listen = [1]", &["line 1", "array"]);
        check("listen = ", &["line 1"]);
    }

    #[test]
    fn quantities_have_units() {
        assert_eq!(bytes("64MiB").unwrap(), 64 << 20);
        assert_eq!(bytes("64_000_000").unwrap(), 64_000_000);
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        assert_eq!(duration("90d").unwrap(), Duration::from_secs(7_776_000));
        assert!(duration("x").is_err());
    }

    #[test]
    fn the_documentation_names_every_setting() {
        let text = documentation();
        assert_eq!(
            include_str!("../../../docs/settings.md"),
            format!("# Settings\n\n{text}"),
            "docs/settings.md is not fresh: `(printf '# Settings\\n\\n'; hindsight settings) > docs/settings.md`"
        );
        assert!(
            SETTINGS
                .iter()
                .all(|setting| text.contains(&format!("`{}`", setting.key)))
        );
        assert!(text.contains("`HINDSIGHT_INGEST_MAX_ITEM_BYTES`"));
    }
}
