//! The fields of a message.

use prost::encoding::{WireType, decode_key, decode_varint};

use crate::error::Malformed;

/// The value of a field, in the wire format.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field<'a> {
    /// `int64`, `uint32`, `bool`, an enum.
    Varint(u64),
    /// `fixed64`, `sfixed64`, `double`.
    Fixed64(u64),
    /// `string`, `bytes`, a message, a packed list.
    Bytes(&'a [u8]),
    /// `fixed32`, `float`: no field of OTLP that is read.
    Fixed32,
}

impl<'a> Field<'a> {
    /// The bytes of a message or of `bytes`.
    pub(crate) fn bytes(self) -> Result<&'a [u8], Malformed> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(WRONG_TYPE),
        }
    }

    /// The text of a `string`.
    pub(crate) fn text(self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed::Utf8)
    }

    /// The value of a varint.
    pub(crate) fn varint(self) -> Result<u64, Malformed> {
        match self {
            Field::Varint(value) => Ok(value),
            _ => Err(WRONG_TYPE),
        }
    }

    /// The value of a `fixed64`.
    pub(crate) fn fixed64(self) -> Result<u64, Malformed> {
        match self {
            Field::Fixed64(value) => Ok(value),
            _ => Err(WRONG_TYPE),
        }
    }

    /// The value of a `double`.
    pub(crate) fn double(self) -> Result<f64, Malformed> {
        self.fixed64().map(f64::from_bits)
    }

    /// The value of an enum; a negative one, which no enum of OTLP has, is 0.
    pub(crate) fn number(self) -> Result<u32, Malformed> {
        Ok(u32::try_from(self.varint()?).unwrap_or_default())
    }
}

const WRONG_TYPE: Malformed = Malformed::Wire("a field has another type than its message says");
const CUT_OFF: Malformed = Malformed::Wire("it ends within a field");

/// The fields of a message, with their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// The fields of `message`.
pub(crate) fn fields(message: &[u8]) -> Fields<'_> {
    Fields { rest: message }
}

/// The messages of a repeated field.
pub(crate) fn messages(
    message: &[u8],
    number: u32,
) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    fields(message).filter_map(move |field| match field {
        Ok((found, field)) => (found == number).then(|| field.bytes()),
        Err(malformed) => Some(Err(malformed)),
    })
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Result<(u32, Field<'a>), Malformed> {
        let (number, kind) = match self.rest {
            // Most fields have a key of one byte.
            [key, rest @ ..] if *key < 0x80 && *key >= 0x08 => {
                self.rest = rest;
                let kind = WireType::try_from(u64::from(*key & 7));
                let kind = kind.map_err(|_| Malformed::Wire("a field has an unknown type"))?;
                (u32::from(*key >> 3), kind)
            }
            _ => decode_key(&mut self.rest)
                .map_err(|_| Malformed::Wire("a field has no valid key"))?,
        };
        let field = match kind {
            WireType::Varint => Field::Varint(self.varint()?),
            WireType::SixtyFourBit => Field::Fixed64(u64::from_le_bytes(self.array()?)),
            WireType::ThirtyTwoBit => {
                self.array::<4>()?;
                Field::Fixed32
            }
            WireType::LengthDelimited => {
                let length = usize::try_from(self.varint()?).map_err(|_| CUT_OFF)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
                self.rest = rest;
                Field::Bytes(bytes)
            }
            WireType::StartGroup | WireType::EndGroup => {
                return Err(Malformed::Wire("it has a group"));
            }
        };
        Ok((number, field))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        decode_varint(&mut self.rest).map_err(|_| Malformed::Wire("a varint has no end"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(*array)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Field<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.rest = &[];
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<usize, Malformed> {
        fields(bytes).try_fold(0, |count, field| field.map(|_| count + 1))
    }

    #[test]
    fn every_type_is_read_and_groups_are_refused() {
        let all = [
            &[0x08, 0x96, 0x01][..],
            &[0x11, 1, 2, 3, 4, 5, 6, 7, 8],
            &[0x1a, 2, b'o', b'k'],
            &[0x25, 1, 2, 3, 4],
        ];
        assert_eq!(read(&all.concat()), Ok(4));
        let read: Vec<_> = fields(&all.concat())
            .map(|field| field.unwrap().0)
            .collect();
        assert_eq!(read, [1, 2, 3, 4]);
        assert_eq!(
            super::fields(&[0x0b, 0x0c]).next().unwrap().unwrap_err(),
            Malformed::Wire("it has a group")
        );
    }

    #[test]
    fn what_is_cut_off_or_claims_too_much_is_malformed() {
        // A length of 2³¹, one of 2⁶³, an endless varint, a fixed field that is cut off, a key of 0.
        for bytes in [
            &[0x0a, 0x80, 0x80, 0x80, 0x80, 0x08][..],
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            ],
            &[0x11, 1, 2, 3],
            &[0x00],
            &[0x0f],
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
