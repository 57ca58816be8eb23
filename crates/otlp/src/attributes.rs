//! The attributes of a resource, span, event, log record or data point.

use std::borrow::Cow;

use crate::error::Malformed;
use crate::value::{Value, pair};
use crate::wire::Field;

/// The most attributes that are kept: an attribute in memory is many times larger than an empty one in a payload.
const MOST: usize = 32_768;

/// Attributes in the order of the payload.
#[derive(Debug, Default)]
pub(crate) struct Attributes<'a> {
    pairs: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Attributes<'a> {
    /// Adds a `KeyValue`. The size of items limits their attributes; of a resource, attributes beyond [`MOST`] are ignored.
    pub(crate) fn add(&mut self, field: Field<'a>) -> Result<(), Malformed> {
        if self.pairs.len() < MOST {
            self.pairs.push(pair(field)?);
        }
        Ok(())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> + '_ {
        self.pairs.iter().copied()
    }

    /// The value of this name, unless it is null or an empty text.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let found = self.pairs.iter().find(|(key, _)| *key == name);
        found
            .map(|(_, value)| *value)
            .filter(|value| !value.is_empty())
    }

    /// The value of the first of these names that has one.
    pub(crate) fn first(&self, names: &[&str]) -> Option<Value<'a>> {
        if self.pairs.is_empty() {
            return None;
        }
        names.iter().find_map(|name| self.get(name))
    }

    /// Whether one of these names has a value.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.first(names).is_some()
    }

    /// The value of the first of these names that has one, as text.
    pub(crate) fn text(&self, names: &[&str]) -> Result<Option<Cow<'a, str>>, Malformed> {
        match self.first(names) {
            Some(value) => value.text(),
            None => Ok(None),
        }
    }

    /// The value of this name if it is a text; empty otherwise.
    pub(crate) fn plain(&self, name: &str) -> &'a str {
        self.get(name).and_then(Value::as_text).unwrap_or_default()
    }
}
