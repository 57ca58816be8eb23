//! OTLP's JSON, written as protobuf, so that one reader serves both.
//!
//! The rules are those of the protocol: names in lowerCamelCase, ids in hexadecimal digits, other bytes in base64, 64-bit integers
//! as numbers or texts, absent and null alike. Names of enums, which OTLP does not permit and some senders write, are read.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::schema::{FieldOf, Kind, LOGS, METRICS, Message, TRACES};
use crate::error::Malformed;
use crate::signal::Signal;

/// Bytes of a message's length, which is written after the message.
const LENGTH: usize = 5;

/// The request in protobuf.
///
/// # Errors
/// [`Malformed::Json`]: the text is not JSON, or a field has another type than its message says.
pub(crate) fn to_protobuf(signal: Signal, json: &[u8]) -> Result<Vec<u8>, Malformed> {
    let message = match signal {
        Signal::Traces => &TRACES,
        Signal::Logs => &LOGS,
        Signal::Metrics => &METRICS,
    };
    let mut out = Vec::with_capacity(json.len());
    let mut input = serde_json::Deserializer::from_slice(json);
    let read = MessageSeed(message, &mut out).deserialize(&mut input);
    read.and_then(|()| input.end())
        .map_err(|error| Malformed::Json(error.to_string()))?;
    Ok(out)
}

/// The fields of a message.
struct MessageSeed<'o>(&'static Message, &'o mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let MessageSeed(Message(known), out) = self;
        while let Some(field) = map.next_key_seed(Name(known))? {
            match field {
                Some(field) => map.next_value_seed(Value(field, out))?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The name of a field.
struct Name(&'static [FieldOf]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static FieldOf>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static FieldOf>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|field| field.0 == name))
    }
}

/// The value of a field.
struct Value<'o>(&'static FieldOf, &'o mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Value<'_> {
    fn key(&mut self, kind: WireType) {
        encode_key(self.0.1, kind, self.1);
    }

    fn bytes(mut self, bytes: &[u8]) {
        self.key(WireType::LengthDelimited);
        encode_varint(bytes.len() as u64, self.1);
        self.1.extend_from_slice(bytes);
    }

    fn varint(mut self, value: u64) {
        self.key(WireType::Varint);
        encode_varint(value, self.1);
    }

    fn fixed64(mut self, value: u64) {
        self.key(WireType::SixtyFourBit);
        self.1.extend_from_slice(&value.to_le_bytes());
    }

    /// An integer, as its 64 bits.
    fn integer<E: Error>(self, bits: u64) -> Result<(), E> {
        match self.0.2 {
            Kind::Fixed64 => self.fixed64(bits),
            Kind::Int64 => self.varint(bits),
            Kind::Uint32 | Kind::Enum(_) if u32::try_from(bits).is_ok() => self.varint(bits),
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn wrong<E: Error>(&self) -> E {
        let FieldOf(name, _, kind) = self.0;
        let expected = match kind {
            Kind::One(_) => "an object",
            Kind::Many(_) => "an array of objects",
            Kind::Text => "a text",
            Kind::Hex => "hexadecimal digits",
            Kind::Base64 => "base64",
            Kind::Fixed64 | Kind::Int64 => "a 64-bit integer",
            Kind::Uint32 => "a 32-bit integer",
            Kind::Double => "a number",
            Kind::Bool => "true or false",
            Kind::Enum(_) => "the number of an enum",
        };
        E::custom(format_args!("`{name}` must be {expected}"))
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the value of `{}`", self.0.0)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match self.0.2 {
            Kind::Bool => self.varint(u64::from(value)),
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match self.0.2 {
            Kind::Double => self.fixed64((value as f64).to_bits()),
            _ => return self.integer(value),
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        match self.0.2 {
            Kind::Double => self.fixed64((value as f64).to_bits()),
            _ => return self.integer(value.cast_unsigned()),
        }
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        /// 2⁶³
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self.0.2 {
            Kind::Double => self.fixed64(value.to_bits()),
            // Some programs write all numbers as doubles.
            _ if value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value) => {
                return self.integer((value as i64).cast_unsigned());
            }
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self.0.2 {
            Kind::Text => self.bytes(text.as_bytes()),
            Kind::Hex => {
                let bytes = hex(text).ok_or_else(|| self.wrong())?;
                self.bytes(&bytes);
            }
            Kind::Base64 => {
                let bytes = STANDARD.decode(text).map_err(|_| self.wrong())?;
                self.bytes(&bytes);
            }
            Kind::Double => {
                let value = double(text).ok_or_else(|| self.wrong())?;
                self.fixed64(value.to_bits());
            }
            Kind::Enum(names) => match names.iter().position(|name| *name == text) {
                Some(number) => self.varint(number as u64),
                None => return Err(self.wrong()),
            },
            Kind::Fixed64 | Kind::Int64 | Kind::Uint32 => {
                let unsigned = text.parse::<u64>().ok();
                let signed = || text.parse::<i64>().ok().map(i64::cast_unsigned);
                let bits = unsigned.or_else(signed).ok_or_else(|| self.wrong())?;
                return self.integer(bits);
            }
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let Kind::One(message) = self.0.2 else {
            return Err(self.wrong());
        };
        self.key(WireType::LengthDelimited);
        let start = self.1.len();
        self.1.extend_from_slice(&[0; LENGTH]);
        MessageSeed(message, &mut *self.1).visit_map(map)?;
        set_length(self.1, start)
            .ok_or_else(|| A::Error::custom("a message has more than 2³² bytes"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Kind::Many(message) = self.0.2 else {
            return Err(self.wrong());
        };
        while seq
            .next_element_seed(Element(self.0.1, message, &mut *self.1))?
            .is_some()
        {}
        Ok(())
    }
}

/// One message of a repeated field.
struct Element<'o>(u32, &'static Message, &'o mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Element(number, message, out) = self;
        encode_key(number, WireType::LengthDelimited, out);
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH]);
        MessageSeed(message, &mut *out).deserialize(deserializer)?;
        set_length(out, start).ok_or_else(|| D::Error::custom("a message has more than 2³² bytes"))
    }
}

/// Writes the length of the message that follows its five bytes at `start`, as a varint of five bytes.
fn set_length(out: &mut [u8], start: usize) -> Option<()> {
    let length = u32::try_from(out.len().checked_sub(start + LENGTH)?).ok()?;
    let place = out.get_mut(start..start + LENGTH)?;
    for (index, byte) in place.iter_mut().enumerate() {
        let more = if index + 1 < LENGTH { 0x80 } else { 0 };
        *byte = ((length >> (7 * index)) & 0x7f) as u8 | more;
    }
    Some(())
}

/// The bytes of hexadecimal digits in any case.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() {
        bytes.collect()
    } else {
        None
    }
}

fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        number => number.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}
