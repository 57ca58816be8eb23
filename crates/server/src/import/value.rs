//! What the forms of a record have in common: values of columns, and properties that no column has.

use hindsight_store::Column;
use serde_json::value::RawValue;

use super::line::text;

/// Properties without a column that are left out because the caller says so.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignored(pub(crate) Vec<String>);

impl Ignored {
    /// Whether a property is to be left out.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// The error for a property that is not known.
    pub(super) fn unknown(&self, what: &str) -> String {
        let name = what.split('\'').nth(1).unwrap_or(what);
        format!("{what} is not known; `--ignore {name}` imports items without it")
    }
}

/// The JSON of a column's value. Objects and arrays may be texts that hold them; texts may be written as numbers.
pub(super) fn json_value(column: &Column, value: &RawValue) -> Result<String, String> {
    use hindsight_kql_types::ScalarType::{Dynamic, Int, Long, Real, String as Text};
    let raw = value.get();
    let is_text = raw.starts_with('"');
    let bad = || {
        let shown: String = raw.chars().take(100).collect();
        format!("'{shown}' is no value of the column '{}'", column.name)
    };
    match column.scalar_type {
        Dynamic if is_text => {
            let inner = text(value).ok_or_else(bad)?;
            if inner.trim().is_empty() {
                return Ok("null".to_owned());
            }
            let inner: Box<RawValue> = serde_json::from_str(&inner).map_err(|_| bad())?;
            Ok(inner.get().to_owned())
        }
        Text if !is_text => {
            let mut out = String::new();
            crate::wire::json::string(&text(value).ok_or_else(bad)?, &mut out);
            Ok(out)
        }
        Int | Long | Real if is_text => {
            let inner = text(value).ok_or_else(bad)?;
            match inner.as_str() {
                "" => Ok("null".to_owned()),
                "NaN" | "Infinity" | "-Infinity" => Ok(raw.to_owned()),
                number if number.parse::<f64>().is_ok_and(f64::is_finite) => Ok(number.to_owned()),
                _ => Err(bad()),
            }
        }
        _ => Ok(raw.to_owned()),
    }
}
