//! Reading dynamic values in place.

use super::layout::{
    BASIC_ARRAY, BASIC_OBJECT, BASIC_SHORT_STRING, Container, DOUBLE, FALSE, FLOAT, INT8, INT16,
    INT32, INT64, Metadata, STRING, TIMESTAMP_MICROS, TIMESTAMP_NANOS, TRUE, read_array, read_uint,
    value_size,
};
use crate::ticks::{TICKS_PER_MICROSECOND, UNIX_EPOCH_TICKS, from_unix_nanos, in_range};

/// The content of a dynamic value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Null, or a value whose bytes are invalid.
    Null,
    /// A bool.
    Bool,
    /// A long.
    Long,
    /// A double.
    Real,
    /// A string.
    String,
    /// A datetime.
    DateTime,
    /// An array.
    Array,
    /// A bag of properties.
    Bag,
}

/// A dynamic value inside encoded bytes.
///
/// It is cheap to copy. Truncated or corrupt bytes read as null.
#[derive(Debug, Clone, Copy)]
pub struct DynamicRef<'a> {
    pub(super) metadata: Metadata<'a>,
    value: &'a [u8],
}

impl<'a> DynamicRef<'a> {
    /// The null value.
    pub const NULL: DynamicRef<'static> = DynamicRef {
        metadata: Metadata::EMPTY,
        value: &[],
    };

    /// The value of one cell: metadata followed by value.
    pub fn new(bytes: &'a [u8]) -> DynamicRef<'a> {
        match Metadata::split(bytes) {
            Some((metadata, value)) => DynamicRef { metadata, value },
            None => DynamicRef::NULL,
        }
    }

    /// The content of the value.
    pub fn kind(self) -> Kind {
        let Some(first) = self.value.first() else {
            return Kind::Null;
        };
        match first & 3 {
            BASIC_SHORT_STRING => Kind::String,
            BASIC_OBJECT => Kind::Bag,
            BASIC_ARRAY => Kind::Array,
            _ => match first >> 2 {
                TRUE | FALSE => Kind::Bool,
                INT8 | INT16 | INT32 | INT64 => Kind::Long,
                DOUBLE | FLOAT => Kind::Real,
                STRING => Kind::String,
                TIMESTAMP_MICROS | TIMESTAMP_NANOS => Kind::DateTime,
                _ => Kind::Null,
            },
        }
    }

    /// Whether the value is null.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The name that `gettype` gives: `array`, `dictionary`, `null`, `long`, `double`, `string`, `bool` or `datetime`
    /// (`docs/semantics.md §2`).
    pub fn type_name(self) -> &'static str {
        match self.kind() {
            Kind::Null => "null",
            Kind::Bool => "bool",
            Kind::Long => "long",
            Kind::Real => "double",
            Kind::String => "string",
            Kind::DateTime => "datetime",
            Kind::Array => "array",
            Kind::Bag => "dictionary",
        }
    }

    /// The bool; `None` for any other content.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.primitive() == Some(TRUE))
    }

    /// The long; `None` for any other content.
    pub fn as_i64(self) -> Option<i64> {
        match self.primitive()? {
            INT8 => Some(i8::from_le_bytes(read_array(self.value, 1)?).into()),
            INT16 => Some(i16::from_le_bytes(read_array(self.value, 1)?).into()),
            INT32 => Some(i32::from_le_bytes(read_array(self.value, 1)?).into()),
            INT64 => Some(i64::from_le_bytes(read_array(self.value, 1)?)),
            _ => None,
        }
    }

    /// The double; `None` for any other content, also for a long.
    pub fn as_f64(self) -> Option<f64> {
        match self.primitive()? {
            DOUBLE => Some(f64::from_le_bytes(read_array(self.value, 1)?)),
            FLOAT => Some(f32::from_le_bytes(read_array(self.value, 1)?).into()),
            _ => None,
        }
    }

    /// The string; `None` for any other content.
    pub fn as_str(self) -> Option<&'a str> {
        let first = *self.value.first()?;
        let (start, len): (usize, usize) = if first & 3 == BASIC_SHORT_STRING {
            (1, usize::from(first >> 2))
        } else if self.primitive()? == STRING {
            (5, read_uint(self.value, 1, 4)?)
        } else {
            return None;
        };
        std::str::from_utf8(self.value.get(start..start.checked_add(len)?)?).ok()
    }

    /// The datetime in ticks; `None` for any other content.
    pub fn as_datetime(self) -> Option<i64> {
        match self.primitive()? {
            TIMESTAMP_NANOS => Some(from_unix_nanos(i64::from_le_bytes(read_array(
                self.value, 1,
            )?))),
            TIMESTAMP_MICROS => in_range(
                i64::from_le_bytes(read_array(self.value, 1)?)
                    .checked_mul(TICKS_PER_MICROSECOND)?
                    .checked_add(UNIX_EPOCH_TICKS)?,
            ),
            _ => None,
        }
    }

    /// The number of elements of an array or of keys of a bag, 0 for any other content.
    pub fn len(self) -> usize {
        Container::read(self.value).map_or(0, |container| container.count)
    }

    /// Whether the value has no elements and no keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value of a key of a bag; `None` if the key is missing or the value is not a bag. Keys are case-sensitive.
    pub fn get_key(self, key: &str) -> Option<DynamicRef<'a>> {
        let bag = self.container(Kind::Bag)?;
        let (mut low, mut high) = (0, bag.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.metadata.key(bag.id(middle)?)?;
            match found.cmp(key) {
                std::cmp::Ordering::Equal => return Some(self.nested(bag.value(middle)?)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The element of an array at `index`; a negative index counts from the end. `None` if the index is out of range or the
    /// value is not an array.
    pub fn get_index(self, index: i64) -> Option<DynamicRef<'a>> {
        let array = self.container(Kind::Array)?;
        let index = if index < 0 {
            index.checked_add(i64::try_from(array.count).ok()?)?
        } else {
            index
        };
        Some(self.nested(array.value(usize::try_from(index).ok()?)?))
    }

    /// The bytes of the value without its metadata; an encoded null if they are truncated.
    pub(crate) fn value_bytes(self) -> &'a [u8] {
        const NULL_VALUE: &[u8] = &[0];
        let size = value_size(self.value).filter(|_| self.kind() != Kind::Null);
        size.and_then(|size| self.value.get(..size))
            .unwrap_or(NULL_VALUE)
    }

    pub(crate) fn key_name(self, id: usize) -> Option<&'a str> {
        self.metadata.key(id)
    }

    /// The nested value that starts at this byte.
    pub(crate) fn nested(self, value: &'a [u8]) -> DynamicRef<'a> {
        DynamicRef {
            metadata: self.metadata,
            value,
        }
    }

    pub(super) fn container(self, kind: Kind) -> Option<Container<'a>> {
        if self.kind() != kind {
            return None;
        }
        Container::read(self.value)
    }

    fn primitive(self) -> Option<u8> {
        let first = *self.value.first()?;
        (first & 3 == 0).then_some(first >> 2)
    }
}
