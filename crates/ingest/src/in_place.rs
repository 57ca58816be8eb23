//! Reads a JSON object into a struct that exists already.
//!
//! The code that serde derives returns a struct by value through each level of the parser. `baseData` has a kilobyte of
//! fields, and an eighth of the time of ingestion went into moving it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::tolerant::Text;

/// A struct whose fields are set from the members of a JSON object. [`members!`] implements it.
pub(crate) trait Members<'de> {
    /// Sets the field of the member `name` to its value, and skips a member that is no field. `seen` has a bit for each field that is
    /// set; a second member of one name is an error, as with derived code.
    fn set<A: MapAccess<'de>>(
        &mut self,
        name: &str,
        seen: &mut u64,
        map: &mut A,
    ) -> Result<(), A::Error>;
}

/// Implements [`Members`] for a struct of at most 64 fields: the names of the members and their fields.
macro_rules! members {
    ($type:ident { $($name:literal => $field:ident),+ $(,)? }) => {
        impl<'de> $crate::in_place::Members<'de> for $type<'de> {
            fn set<A: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                seen: &mut u64,
                map: &mut A,
            ) -> Result<(), A::Error> {
                #[allow(non_camel_case_types, reason = "the variants are the fields")]
                enum Place { $($field),+ }
                match name {
                    $($name => {
                        $crate::in_place::once(seen, Place::$field as u32, $name)?;
                        self.$field = map.next_value()?;
                    })+
                    _ => {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(())
            }
        }
    };
}
pub(super) use members;

/// Notes that a field is set.
pub(super) fn once<E: Error>(seen: &mut u64, place: u32, name: &'static str) -> Result<(), E> {
    let bit = 1 << place;
    if *seen & bit != 0 {
        return Err(E::duplicate_field(name));
    }
    *seen |= bit;
    Ok(())
}

/// A struct on the heap, or nothing for `null`; for `#[serde(deserialize_with)]`.
pub(super) fn boxed<'de, D, T>(deserializer: D) -> Result<Option<Box<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Members<'de> + Default,
{
    deserializer.deserialize_any(Boxed(PhantomData))
}

struct Boxed<T>(PhantomData<T>);

impl<'de, T: Members<'de> + Default> Visitor<'de> for Boxed<T> {
    type Value = Option<Box<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Option<Box<T>>, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Box<T>>, A::Error> {
        let mut value = Box::<T>::default();
        let mut seen = 0;
        while let Some(name) = map.next_key::<Text<'de>>()? {
            value.set(name.as_str(), &mut seen, &mut map)?;
        }
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::tolerant::Text;

    #[derive(Debug, Default, PartialEq)]
    struct Pair<'a> {
        first: Text<'a>,
        second: Option<f64>,
    }

    members!(Pair { "first" => first, "2nd" => second });

    #[derive(Debug, Deserialize)]
    struct Holder<'a> {
        #[serde(borrow, default, deserialize_with = "boxed")]
        pair: Option<Box<Pair<'a>>>,
    }

    fn read(json: &str) -> Result<Option<Pair<'_>>, String> {
        let holder: Result<Holder<'_>, _> = serde_json::from_str(json);
        holder
            .map(|holder| holder.pair.map(|pair| *pair))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn members_become_fields_and_others_are_skipped() {
        let pair = Pair {
            first: Text("a".into()),
            second: Some(2.5),
        };
        let json = r#"{"pair": {"third": {"first": "b"}, "2nd": 2.5, "first": "a"}}"#;
        assert_eq!(read(json), Ok(Some(pair)));
        assert_eq!(read(r#"{"pair": {}}"#), Ok(Some(Pair::default())));
        assert_eq!(read(r#"{"pair": null}"#), Ok(None));
        assert_eq!(read("{}"), Ok(None));
    }

    #[test]
    fn what_is_no_object_and_a_member_that_comes_twice_are_errors() {
        let error = |json: &str| read(json).unwrap_err();
        assert!(error(r#"{"pair": 1}"#).contains("expected an object"));
        assert!(error(r#"{"pair": ["a", 2]}"#).contains("expected an object"));
        let twice = error(r#"{"pair": {"first": "a", "first": "b"}}"#);
        assert!(twice.contains("duplicate field `first`"), "{twice}");
        assert!(error(r#"{"pair": {"2nd": "x"}}"#).contains("invalid type"));
    }
}
