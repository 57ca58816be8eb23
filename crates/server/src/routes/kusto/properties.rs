//! Client request properties: options and the values of query parameters.

use std::collections::BTreeMap;

use hindsight_kql_types::ticks::TICKS_PER_SECOND;
use hindsight_kql_types::timespan;
use serde_json::{Map, Value};

use super::super::query::TimeRange;
use crate::error::ApiError;
use crate::wire::kusto::{ErrorPlacement, Frames};

/// Options that would change a result and are not supported: they are refused. Unknown ones are ignored, as the service does.
const UNSUPPORTED: [&str; 9] = [
    "query_now",
    "query_take_max_records",
    "query_bin_auto_at",
    "query_bin_auto_size",
    "query_cursor_after_default",
    "query_cursor_before_or_at_default",
    "query_cursor_current",
    "query_cursor_scoped_tables",
    "query_results_apply_getschema",
];

/// The properties of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Properties {
    /// Values of query parameters.
    pub(super) parameters: BTreeMap<String, String>,
    /// `servertimeout`, seconds; the longest with `norequesttimeout`.
    pub(super) wait: Option<u64>,
    /// `truncationmaxrecords`
    pub(super) max_rows: Option<u64>,
    /// `truncationmaxsize`
    pub(super) max_bytes: Option<u64>,
    /// The time range of `query_datetimescope_from` and `…_to`.
    pub(super) timespan: Option<String>,
    /// `query_results_cache_force_refresh`
    pub(super) refresh: bool,
    /// The form of the data set.
    pub(super) frames: Frames,
}

impl Properties {
    /// Reads properties: an object with `Options` and `Parameters`, or its text.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for what is not of this form, and for an option that cannot be followed.
    pub(super) fn read(value: Value) -> Result<Properties, ApiError> {
        let value = match value {
            Value::String(text) if text.trim().is_empty() => Value::Null,
            Value::String(text) => serde_json::from_str(&text)
                .map_err(|error| bad("properties", format!("'properties' is not JSON: {error}")))?,
            other => other,
        };
        let members = object("properties", value)?;
        let mut properties = Properties::default();
        for (name, value) in members {
            match name.to_ascii_lowercase().as_str() {
                "options" => properties.take_options(object("Options", value)?)?,
                "parameters" => {
                    for (name, value) in object("Parameters", value)? {
                        let text = parameter(&name, value)?;
                        properties.parameters.insert(name, text);
                    }
                }
                // The client's name for the request, the application and the user.
                _ => {}
            }
        }
        Ok(properties)
    }

    fn take_options(&mut self, options: Map<String, Value>) -> Result<(), ApiError> {
        let mut range = TimeRange::default();
        let mut has_no_timeout = false;
        for (name, value) in options {
            let option = OptionValue { name: &name, value };
            if option.value.is_null() {
                continue;
            }
            match name.as_str() {
                "servertimeout" => self.wait = Some(option.seconds()?),
                "norequesttimeout" => has_no_timeout = option.is_on()?,
                "truncationmaxrecords" => self.max_rows = Some(option.count()?),
                "truncationmaxsize" => self.max_bytes = Some(option.count()?),
                "query_datetimescope_column" => range.column = Some(option.text()?),
                "query_datetimescope_from" => range.from = Some(option.moment()?),
                "query_datetimescope_to" => range.to = Some(option.moment()?),
                "query_results_cache_force_refresh" => self.refresh = option.is_on()?,
                "results_progressive_enabled" => self.frames.progressive = option.is_on()?,
                "results_v2_fragment_primary_tables" => self.frames.fragmented = option.is_on()?,
                "results_v2_newlines_between_frames" => self.frames.newlines = option.is_on()?,
                "results_error_reporting_placement" => {
                    self.frames.placement = option.placement()?;
                }
                "deferpartialqueryfailures" => self.frames.deferred = option.is_on()?,
                "query_language" => option.language()?,
                name if UNSUPPORTED.contains(&name) => {
                    let message = format!("The option '{name}' is not supported");
                    return Err(bad(name, message));
                }
                _ => {}
            }
        }
        if has_no_timeout {
            self.wait = Some(u64::MAX);
        }
        self.timespan = range.timespan()?;
        Ok(())
    }
}

/// An option with its value.
struct OptionValue<'o> {
    name: &'o str,
    value: Value,
}

impl OptionValue<'_> {
    fn wrong(&self, expected: &str) -> ApiError {
        let OptionValue { name, value } = self;
        bad(
            name,
            format!("The value of the option '{name}' is {value}, expected is {expected}"),
        )
    }

    fn is_on(&self) -> Result<bool, ApiError> {
        match &self.value {
            Value::Bool(value) => Ok(*value),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    fn count(&self) -> Result<u64, ApiError> {
        let count = match &self.value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        count.ok_or_else(|| self.wrong("a whole number that is not negative"))
    }

    fn text(&self) -> Result<String, ApiError> {
        match &self.value {
            Value::String(text) => Ok(text.clone()),
            _ => Err(self.wrong("a text")),
        }
    }

    /// A time, bare or as a literal `datetime(…)`.
    fn moment(&self) -> Result<String, ApiError> {
        let text = self.text()?;
        let inner = text.trim().strip_prefix("datetime(");
        let inner = inner.and_then(|text| text.strip_suffix(')'));
        Ok(inner.map_or(text.clone(), |inner| {
            inner.trim().trim_matches(['"', '\'']).to_owned()
        }))
    }

    /// A timespan as whole seconds, rounded up.
    fn seconds(&self) -> Result<u64, ApiError> {
        let expected = "a timespan such as \"00:04:00\"";
        let ticks = timespan::parse(&self.text().map_err(|_| self.wrong(expected))?);
        let ticks = ticks.and_then(|ticks| u64::try_from(ticks).ok());
        let ticks = ticks.filter(|ticks| *ticks > 0);
        ticks
            .map(|ticks| ticks.div_ceil(TICKS_PER_SECOND.unsigned_abs()))
            .ok_or_else(|| self.wrong(expected))
    }

    fn placement(&self) -> Result<ErrorPlacement, ApiError> {
        let all = [
            ErrorPlacement::InData,
            ErrorPlacement::EndOfTable,
            ErrorPlacement::EndOfDataSet,
        ];
        let given = self.text()?;
        let known = all.into_iter().find(|known| known.name() == given);
        known.ok_or_else(|| self.wrong("in_data, end_of_table or end_of_dataset"))
    }

    fn language(&self) -> Result<(), ApiError> {
        match self.text()?.to_ascii_lowercase().as_str() {
            "csl" | "kql" => Ok(()),
            _ => Err(self.wrong("kql")),
        }
    }
}

fn object(name: &str, value: Value) -> Result<Map<String, Value>, ApiError> {
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        _ => Err(bad("properties", format!("'{name}' is not an object"))),
    }
}

/// The value of a query parameter as text: bare, or a literal of KQL.
fn parameter(name: &str, value: Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(bad(
            "properties",
            format!(
                "The value of the query parameter '{name}' is neither a text, a number nor a boolean"
            ),
        )),
    }
}

fn bad(target: &str, message: String) -> ApiError {
    ApiError::Bad {
        message,
        target: Some(target.to_owned()),
        position: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn options(options: Value) -> Result<Properties, ApiError> {
        Properties::read(json!({ "Options": options }))
    }

    #[test]
    fn properties_are_an_object_or_its_text() {
        let object = json!({ "options": { "servertimeout": "00:04:00.5" }, "Parameters": { "n": 5, "s": "'x'" } });
        let read = Properties::read(object.clone()).unwrap();
        assert_eq!(read, Properties::read(object.to_string().into()).unwrap());
        assert_eq!(read.wait, Some(241));
        let parameters = [("n", "5"), ("s", "'x'")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(read.parameters, BTreeMap::from(parameters));
        let nothing = Properties::read(Value::Null).unwrap();
        assert_eq!(nothing, Properties::default());
        assert_eq!(Properties::read("".into()).unwrap(), nothing);
    }

    #[test]
    fn timeouts_are_timespans() {
        let wait = |text: &str| options(json!({ "servertimeout": text })).map(|read| read.wait);
        // Python's `str(timedelta)` has one digit for the hour.
        assert_eq!(wait("0:00:30").unwrap(), Some(30));
        assert_eq!(wait("30s").unwrap(), Some(30));
        assert!(wait("soon").is_err() && wait("-1s").is_err());
        let longest = options(json!({ "norequesttimeout": true })).unwrap();
        assert_eq!(longest.wait, Some(u64::MAX));
    }

    #[test]
    fn options_that_change_a_result_are_followed_or_refused() {
        let range = json!({
            "query_datetimescope_from": "datetime(2024-01-01)",
            "query_datetimescope_to": "2024-01-02",
        });
        let read = options(range).unwrap();
        assert_eq!(read.timespan.as_deref(), Some("2024-01-01/2024-01-02"));
        assert!(options(json!({ "query_datetimescope_from": "2024-01-01" })).is_err());
        for name in UNSUPPORTED {
            let refused = options(json!({ name: 1 })).unwrap_err();
            assert!(refused.to_string().contains(name), "{refused}");
        }
        assert!(options(json!({ "query_language": "sql" })).is_err());
        assert!(options(json!({ "query_language": "csl" })).is_ok());
        assert!(options(json!({ "truncationmaxrecords": -1 })).is_err());
        assert!(options(json!({ "queryconsistency": "weakconsistency" })).is_ok());
    }
}
