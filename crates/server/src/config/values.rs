//! The texts of settings' values: numbers, sizes, durations, choices.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use hindsight_otlp::ResourceDimensions;

pub(super) fn number<T: std::str::FromStr>(text: &str) -> anyhow::Result<T> {
    text.trim()
        .replace('_', "")
        .parse()
        .ok()
        .with_context(|| format!("`{text}` is not an integer in range"))
}

pub(super) fn positive(text: &str) -> anyhow::Result<usize> {
    number(text).and_then(|value| {
        if value > 0 {
            Ok(value)
        } else {
            bail!("must be at least 1")
        }
    })
}

pub(super) fn choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> anyhow::Result<T> {
    let names = || {
        choices
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    choices
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, value)| *value)
        .with_context(|| format!("expected {}", names()))
}

pub(super) fn optional<T>(
    text: &str,
    parse: fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    if text.trim().is_empty() {
        Ok(None)
    } else {
        parse(text).map(Some)
    }
}

/// Where a listener beside the main one listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    /// Nowhere.
    Off,
    /// At its usual port of the main listener's address.
    Auto,
    /// At an address and port.
    At(String),
}

/// `auto`, an address and port, or nothing.
pub(super) fn listen(text: &str) -> anyhow::Result<Listen> {
    Ok(match text.trim() {
        "" => Listen::Off,
        "auto" => Listen::Auto,
        address => Listen::At(address.to_owned()),
    })
}

impl Listen {
    /// The address to listen at, with `port` where the main listener is at `main`. A main listener that selects a free port has
    /// no neighbour: many such servers run on one machine.
    pub(crate) fn beside(&self, main: &str, port: u16) -> Option<String> {
        match self {
            Listen::Off => None,
            Listen::At(address) => Some(address.clone()),
            Listen::Auto => {
                let (host, of_main) = main.rsplit_once(':')?;
                (of_main != "0").then(|| format!("{host}:{port}"))
            }
        }
    }
}

pub(super) fn string(text: &str) -> anyhow::Result<String> {
    Ok(text.to_owned())
}

pub(super) fn optional_string(text: &str) -> anyhow::Result<Option<String>> {
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

pub(super) fn path(text: &str) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(text))
}

pub(super) fn optional_path(text: &str) -> anyhow::Result<Option<PathBuf>> {
    Ok(optional_string(text)?.map(PathBuf::from))
}

/// A URL without the slash at its end.
pub(super) fn address(text: &str) -> anyhow::Result<String> {
    Ok(text.trim_end_matches('/').to_owned())
}

/// `one, two`
pub(super) fn list(text: &str) -> anyhow::Result<Vec<String>> {
    let parts = text.split(',').map(str::trim);
    Ok(parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect())
}

/// `none`, `all`, or names.
pub(super) fn resource_dimensions(text: &str) -> anyhow::Result<ResourceDimensions> {
    Ok(match text.trim() {
        "" | "none" => ResourceDimensions::None,
        "all" => ResourceDimensions::All,
        names => ResourceDimensions::Named(list(names)?),
    })
}

pub(super) fn yes_or_no(text: &str) -> anyhow::Result<bool> {
    choice(text, &[("true", true), ("false", false)])
}

pub(super) fn size(text: &str) -> anyhow::Result<usize> {
    bytes(text).and_then(|value| usize::try_from(value).context("too large"))
}

/// `64MiB`, `500KB`, `1000`.
pub(crate) fn bytes(text: &str) -> anyhow::Result<u64> {
    let (value, unit) = split_unit(text);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        other => bail!("`{other}` is no unit of bytes; write for example 64MiB"),
    };
    number::<u64>(value)?
        .checked_mul(factor)
        .context("too large")
}

/// `90d`, `10m`, `120s`, `250ms`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> anyhow::Result<Duration> {
    let (value, unit) = split_unit(text);
    let milliseconds: u64 = match unit.to_ascii_lowercase().as_str() {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        other => bail!("`{other}` is no unit of time; write for example 90d, 10m or 120s"),
    };
    let total = number::<u64>(value)?
        .checked_mul(milliseconds)
        .context("too long")?;
    Ok(Duration::from_millis(total))
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (value, unit) = text.split_at(end);
    (value.trim(), unit)
}

/// The line of an offset in a text, from 1 on.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

/// A value of TOML as it would be written in a variable.
///
/// # Errors
/// A table, an array or a time.
pub(super) fn scalar_text(value: &toml::de::DeValue<'_>) -> anyhow::Result<String> {
    Ok(match value {
        toml::de::DeValue::String(text) => text.to_string(),
        toml::de::DeValue::Integer(value) => value.as_str().replace('_', ""),
        toml::de::DeValue::Float(value) => value.as_str().to_owned(),
        toml::de::DeValue::Boolean(value) => value.to_string(),
        other => bail!("a {} is not a value of a setting", other.type_str()),
    })
}
