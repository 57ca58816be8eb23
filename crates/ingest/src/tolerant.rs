//! Values as SDKs really write them: numbers as text, text as numbers, durations in three forms.

use std::borrow::Cow;
use std::fmt;

use hindsight_rows::clock_milliseconds;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A text that may come as any JSON value; `null` is the empty text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Any scalar, or a nested value as JSON text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Loose<'a> {
    /// `null` or not there.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// An integer.
    Integer(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// An array or object, written as JSON.
    Nested(String),
}

impl<'a> Loose<'a> {
    /// As text, the way a property shows it.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Loose::Null => Cow::Borrowed(""),
            Loose::Bool(true) => Cow::Borrowed("true"),
            Loose::Bool(false) => Cow::Borrowed("false"),
            Loose::Integer(value) => Cow::Owned(value.to_string()),
            Loose::Number(value) => Cow::Owned(value.to_string()),
            Loose::Text(text) => text,
            Loose::Nested(json) => Cow::Owned(json),
        }
    }

    /// As a finite number.
    pub(crate) fn number(&self) -> Option<f64> {
        let value = match self {
            Loose::Integer(value) => *value as f64,
            Loose::Number(value) => *value,
            Loose::Text(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    /// As a truth value.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Loose::Bool(value) => Some(*value),
            Loose::Integer(value) => Some(*value != 0),
            Loose::Number(value) => Some(*value != 0.0),
            Loose::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// As milliseconds: a number is milliseconds, a text is `[d.]hh:mm:ss[.fffffff]` or a number (`docs/api-facts.md §7`).
    pub(crate) fn milliseconds(&self) -> Option<f64> {
        match self {
            Loose::Text(text) if text.contains(':') => clock_milliseconds(text.trim()),
            other => other.number(),
        }
    }

    /// As a severity: 0 to 4, by number or by word.
    pub(crate) fn severity(&self) -> Option<i32> {
        match self {
            Loose::Text(text) => severity_word(text.trim()),
            other => other
                .number()
                .map(|value| value as i32)
                .filter(|level| (0..=4).contains(level)),
        }
    }
}

fn severity_word(word: &str) -> Option<i32> {
    match word.to_ascii_lowercase().as_str() {
        "verbose" | "debug" | "trace" | "0" => Some(0),
        "information" | "info" | "1" => Some(1),
        "warning" | "warn" | "2" => Some(2),
        "error" | "3" => Some(3),
        "critical" | "fatal" | "4" => Some(4),
        _ => None,
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loose<'a>, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        Loose::deserialize(deserializer).map(|value| Text(value.into_text()))
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Loose<'de>, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose<'de>, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose<'de>, E> {
        Ok(Loose::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose<'de>, E> {
        Ok(i64::try_from(value).map_or(Loose::Number(value as f64), Loose::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose<'de>, E> {
        Ok(Loose::Number(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Loose<'de>, E> {
        Ok(Loose::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Loose<'de>, A::Error> {
        let value = serde_json::Value::deserialize(SeqAccessDeserializer::new(seq))?;
        Ok(Loose::Nested(value.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<'de>, A::Error> {
        let value = serde_json::Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Loose::Nested(value.to_string()))
    }
}

/// A JSON object in its order, with loose values. `null` and anything else that is no object are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pairs<'a>(pub Vec<(Cow<'a, str>, Loose<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<'a>, D::Error> {
        deserializer.deserialize_any(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Pairs<'de>, E> {
        Ok(Pairs::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or(8).min(64));
        while let Some((key, value)) = map.next_entry::<Text<'de>, Loose<'de>>()? {
            pairs.push((key.0, value));
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loose(json: &str) -> Loose<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn durations_come_as_clock_texts_and_as_milliseconds() {
        let check = |json: &str, expected: Option<f64>| {
            assert_eq!(loose(json).milliseconds(), expected, "{json}")
        };
        check(r#""0.00:00:00.003""#, Some(3.0));
        check(r#""00:00:00.018""#, Some(18.0));
        check(r#""1.02:03:04.5""#, Some(93_784_500.0));
        check("321", Some(321.0));
        check(r#""12.5""#, Some(12.5));
        check(r#""00:00""#, None);
        check("null", None);
    }

    #[test]
    fn severities_come_as_numbers_and_as_words() {
        let check = |json: &str, expected: Option<i32>| {
            assert_eq!(loose(json).severity(), expected, "{json}")
        };
        check("2", Some(2));
        check(r#""Warning""#, Some(2));
        check(r#""CRITICAL""#, Some(4));
        check("9", None);
        check(r#""loud""#, None);
        check("null", None);
    }

    #[test]
    fn every_json_value_has_a_text() {
        let check =
            |json: &str, expected: &str| assert_eq!(loose(json).into_text(), expected, "{json}");
        check("10", "10");
        check("1.5", "1.5");
        check("true", "true");
        check("null", "");
        check(r#"{"b":1,"a":[2]}"#, r#"{"b":1,"a":[2]}"#);
        check(r#""a\nb""#, "a\nb");
    }

    #[test]
    fn success_comes_as_truth_text_or_number() {
        let check = |json: &str, expected: Option<bool>| {
            assert_eq!(loose(json).truth(), expected, "{json}")
        };
        check("true", Some(true));
        check(r#""False""#, Some(false));
        check("1", Some(true));
        check(r#""maybe""#, None);
    }
}
