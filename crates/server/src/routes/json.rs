//! The JSON of request bodies. What does not decode is described by the property and the expected type, not in the words of the
//! decoder.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use crate::error::ApiError;

/// Decodes a body that begins with `expected`: `{` or `[`.
///
/// # Errors
/// [`ApiError::InvalidBody`] for a body that is not JSON, or JSON of another kind.
pub(super) fn body<'b, T: Deserialize<'b>>(
    bytes: &'b [u8],
    expected: u8,
    description: &str,
) -> Result<T, ApiError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let refuse = |message: String| Err(ApiError::InvalidBody(message));
    match bytes.trim_ascii_start().first() {
        None => return refuse(format!("The body is empty. It must be {description}.")),
        Some(first) if *first != expected => {
            return refuse(format!("The body must be {description}."));
        }
        Some(_) => {}
    }
    serde_json::from_slice(bytes).or_else(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        refuse(match error.classify() {
            Category::Eof => format!("The body ends inside of its JSON, at {place}."),
            Category::Data => format!(
                "The body must be {description}, and each property may occur once; it is wrong at {place}."
            ),
            Category::Syntax | Category::Io => {
                format!("The body is not valid JSON: it is wrong at {place}.")
            }
        })
    })
}

/// A property of a body. Its type is checked when it is read, so that the error names the property.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Property {
    /// The property is missing.
    #[default]
    Absent,
    /// `null`
    Null,
    /// A string.
    Text(String),
    /// An array of strings.
    Texts(Vec<String>),
    /// A whole number.
    Integer(i64),
    /// A value of another type, which has this name.
    Other(&'static str),
}

impl Property {
    /// A text; `None` if the property is absent or null.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for another type.
    pub(super) fn text(self, name: &str) -> Result<Option<String>, ApiError> {
        match self {
            Property::Absent | Property::Null => Ok(None),
            Property::Text(text) => Ok(Some(text)),
            other => Err(other.mismatch(name, "a string")),
        }
    }

    /// A whole number; `None` if the property is absent or null.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for another type.
    pub(super) fn integer(self, name: &str) -> Result<Option<i64>, ApiError> {
        match self {
            Property::Absent | Property::Null => Ok(None),
            Property::Integer(number) => Ok(Some(number)),
            other => Err(other.mismatch(name, "an integer")),
        }
    }

    /// An array of texts; `None` if the property is absent or null.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for another type.
    pub(super) fn texts(self, name: &str) -> Result<Option<Vec<String>>, ApiError> {
        match self {
            Property::Absent | Property::Null => Ok(None),
            Property::Texts(texts) => Ok(Some(texts)),
            other => Err(other.mismatch(name, "an array of strings")),
        }
    }

    /// The items of a list: an array of strings, or one string with commas. Empty if the property is absent.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for another type and for a list without items: the specification's lists have at least one.
    pub(super) fn list(self, name: &str) -> Result<Vec<String>, ApiError> {
        let written = match self {
            Property::Absent => return Ok(Vec::new()),
            Property::Null => Vec::new(),
            Property::Text(text) => vec![text],
            Property::Texts(texts) => texts,
            other => return Err(other.mismatch(name, "a string or an array of strings")),
        };
        let items = written.iter().flat_map(|text| text.split(','));
        let items = items.map(str::trim).filter(|item| !item.is_empty());
        let items: Vec<String> = items.map(str::to_owned).collect();
        if items.is_empty() {
            let message =
                format!("'{name}' must have at least one item; leave it out for the default");
            return Err(wrong(name, message));
        }
        Ok(items)
    }

    fn mismatch(&self, name: &str, expected: &str) -> ApiError {
        let found = match self {
            Property::Absent => "nothing",
            Property::Null => "null",
            Property::Text(_) => "a string",
            Property::Texts(_) => "an array",
            Property::Integer(_) => "an integer",
            Property::Other(found) => found,
        };
        wrong(name, format!("'{name}' must be {expected}, not {found}"))
    }
}

/// A property that is wrong.
pub(super) fn wrong(property: &str, message: String) -> ApiError {
    ApiError::Bad {
        message,
        target: Some(property.to_owned()),
        position: None,
    }
}

impl<'de> Deserialize<'de> for Property {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Property, D::Error> {
        deserializer.deserialize_any(PropertyVisitor)
    }
}

struct PropertyVisitor;

impl<'de> Visitor<'de> for PropertyVisitor {
    type Value = Property;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Property, E> {
        Ok(Property::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Property, E> {
        Ok(Property::Other("a boolean"))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Property, E> {
        Ok(Property::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Property, E> {
        Ok(i64::try_from(value).map_or(Property::Other("a number"), Property::Integer))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Property, E> {
        Ok(Property::Other("a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Property, E> {
        Ok(Property::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Property, E> {
        Ok(Property::Text(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Property, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Property::Other("an object"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Property, A::Error> {
        let (mut texts, mut only_texts) = (Vec::new(), true);
        while let Some(item) = sequence.next_element::<Item>()? {
            match item {
                Item::Text(text) if only_texts => texts.push(text),
                _ => only_texts = false,
            }
        }
        Ok(if only_texts {
            Property::Texts(texts)
        } else {
            Property::Other("an array with items that are not strings")
        })
    }
}

/// An item of an array.
enum Item {
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
        Ok(match Property::deserialize(deserializer)? {
            Property::Text(text) => Item::Text(text),
            _ => Item::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn property(value: Value) -> Property {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_property_of_another_type_is_named_with_both_types() {
        let check = |outcome: Result<(), ApiError>, expected: &str| {
            let ApiError::Bad {
                message, target, ..
            } = outcome.unwrap_err()
            else {
                panic!("{expected}");
            };
            assert_eq!((message.as_str(), target.as_deref()), (expected, Some("p")));
        };
        let text = |value| property(value).text("p").map(|_| ());
        check(text(json!(5)), "'p' must be a string, not an integer");
        check(text(json!(["a"])), "'p' must be a string, not an array");
        check(
            text(json!({"a": [1]})),
            "'p' must be a string, not an object",
        );
        check(text(json!(true)), "'p' must be a string, not a boolean");
        let integer = |value| property(value).integer("p").map(|_| ());
        check(integer(json!("5")), "'p' must be an integer, not a string");
        check(integer(json!(1.5)), "'p' must be an integer, not a number");
        let texts = |value| property(value).texts("p").map(|_| ());
        check(
            texts(json!("a")),
            "'p' must be an array of strings, not a string",
        );
        check(
            texts(json!(["a", 5])),
            "'p' must be an array of strings, not an array with items that are not strings",
        );
    }

    #[test]
    fn lists_have_both_forms_and_at_least_one_item() {
        let list = |value: Value| property(value).list("p");
        assert_eq!(list(json!("sum, avg")).unwrap(), ["sum", "avg"]);
        assert_eq!(list(json!(["sum", "avg"])).unwrap(), ["sum", "avg"]);
        assert!(Property::Absent.list("p").unwrap().is_empty());
        for empty in [json!(null), json!(""), json!([]), json!([""]), json!(",")] {
            let message = list(empty.clone()).unwrap_err().to_string();
            assert!(message.contains("at least one item"), "{empty}: {message}");
        }
    }

    #[test]
    fn bodies_that_do_not_decode_are_described() {
        #[derive(Debug, serde::Deserialize)]
        struct One {
            #[serde(default)]
            a: Property,
        }
        let check = |text: &str, expected: &str| {
            let outcome: Result<One, ApiError> = body(text.as_bytes(), b'{', "a JSON object");
            assert_eq!(outcome.unwrap_err().to_string(), expected, "{text}");
        };
        check("", "The body is empty. It must be a JSON object.");
        check(
            "{\"a\":",
            "The body ends inside of its JSON, at line 1, column 5.",
        );
        check(
            "{a}",
            "The body is not valid JSON: it is wrong at line 1, column 2.",
        );
        check("5", "The body must be a JSON object.");
        check("[]", "The body must be a JSON object.");
        check("\"a\"", "The body must be a JSON object.");
        check(
            "{\"a\":1,\n\"a\":2}",
            "The body must be a JSON object, and each property may occur once; it is wrong at line 2, column 3.",
        );
        let one: One = body(b"\xef\xbb\xbf{\"a\":\"b\",\"c\":[]}", b'{', "a JSON object").unwrap();
        assert_eq!(one.a, Property::Text("b".to_owned()));
    }
}
