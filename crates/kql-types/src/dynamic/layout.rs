//! The byte layout of the Parquet Variant encoding: constants and checked little-endian reads.

/// The maximum depth of nested arrays and bags; deeper text is not parsed as JSON.
pub const MAX_DEPTH: usize = 512;

pub(crate) const BASIC_PRIMITIVE: u8 = 0;
pub(crate) const BASIC_SHORT_STRING: u8 = 1;
pub(crate) const BASIC_OBJECT: u8 = 2;
pub(crate) const BASIC_ARRAY: u8 = 3;

pub(crate) const NULL: u8 = 0;
pub(crate) const TRUE: u8 = 1;
pub(crate) const FALSE: u8 = 2;
pub(crate) const INT8: u8 = 3;
pub(crate) const INT16: u8 = 4;
pub(crate) const INT32: u8 = 5;
pub(crate) const INT64: u8 = 6;
pub(crate) const DOUBLE: u8 = 7;
pub(crate) const TIMESTAMP_MICROS: u8 = 12;
pub(crate) const FLOAT: u8 = 14;
pub(crate) const STRING: u8 = 16;
pub(crate) const TIMESTAMP_NANOS: u8 = 18;

/// The longest string whose length fits into the first byte.
pub(crate) const MAX_SHORT_STRING: usize = 63;

/// The metadata of a value without keys: version 1, one-byte offsets, no entries.
pub(crate) const EMPTY_METADATA: [u8; 3] = [1, 0, 0];

/// The first byte of a primitive.
pub(crate) const fn primitive(id: u8) -> u8 {
    id << 2 | BASIC_PRIMITIVE
}

/// The number of bytes of a primitive including its first byte, without the characters of a string.
pub(crate) fn primitive_size(id: u8) -> usize {
    match id {
        INT8 => 2,
        INT16 => 3,
        INT32 | FLOAT | 11 => 5,
        INT64 | DOUBLE | TIMESTAMP_MICROS | TIMESTAMP_NANOS | 13 | 17 | 19 => 9,
        8 => 6,
        9 => 10,
        10 => 18,
        20 => 17,
        15 | STRING => 5,
        _ => 1,
    }
}

/// Reads `width` (1 to 4) little-endian bytes at `at`.
pub(crate) fn read_uint(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(width)?)?;
    Some(
        field
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | usize::from(*byte)),
    )
}

/// Reads `N` bytes at `at`.
pub(crate) fn read_array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The minimum number of bytes, 1 to 4, that holds `value`.
pub(crate) fn width_of(value: usize) -> usize {
    match value {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFF_FFFF => 3,
        _ => 4,
    }
}

/// Appends the low `width` bytes of `value`.
pub(crate) fn push_uint(out: &mut Vec<u8>, value: usize, width: usize) {
    let bytes = (value as u64).to_le_bytes();
    out.extend_from_slice(bytes.get(..width).unwrap_or(&bytes));
}

/// The dictionary of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metadata<'a> {
    bytes: &'a [u8],
    width: usize,
    count: usize,
}

impl<'a> Metadata<'a> {
    pub(crate) const EMPTY: Metadata<'static> = Metadata {
        bytes: &EMPTY_METADATA,
        width: 1,
        count: 0,
    };

    /// Splits one encoded value into its metadata and the bytes after it.
    pub(crate) fn split(bytes: &'a [u8]) -> Option<(Metadata<'a>, &'a [u8])> {
        let header = *bytes.first()?;
        if header & 0x0F != 1 {
            return None;
        }
        let width = usize::from(header >> 6) + 1;
        let count = read_uint(bytes, 1, width)?;
        let mut metadata = Metadata {
            bytes,
            width,
            count,
        };
        let end = metadata
            .strings_at()?
            .checked_add(metadata.offset(count)?)?;
        let (own, rest) = bytes.split_at_checked(end)?;
        metadata.bytes = own;
        Some((metadata, rest))
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The key with this id.
    pub(crate) fn key(&self, id: usize) -> Option<&'a str> {
        if id >= self.count {
            return None;
        }
        let strings = self.bytes.get(self.strings_at()?..)?;
        std::str::from_utf8(strings.get(self.offset(id)?..self.offset(id + 1)?)?).ok()
    }

    fn strings_at(&self) -> Option<usize> {
        self.count
            .checked_add(2)?
            .checked_mul(self.width)?
            .checked_add(1)
    }

    fn offset(&self, index: usize) -> Option<usize> {
        let at = index.checked_add(1)?.checked_mul(self.width)?;
        read_uint(self.bytes, at.checked_add(1)?, self.width)
    }
}

/// The decoded header of a bag or an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'a> {
    bytes: &'a [u8],
    pub(crate) count: usize,
    ids_at: usize,
    id_width: usize,
    offsets_at: usize,
    offset_width: usize,
    values_at: usize,
}

impl<'a> Container<'a> {
    /// Reads the header of the bag or array at the front of `bytes`.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Container<'a>> {
        let first = *bytes.first()?;
        let header = first >> 2;
        let (large, id_width) = match first & 3 {
            BASIC_OBJECT => (header & 0x10 != 0, usize::from(header >> 2 & 3) + 1),
            BASIC_ARRAY => (header & 0x04 != 0, 0),
            _ => return None,
        };
        let offset_width = usize::from(header & 3) + 1;
        let count_width = if large { 4 } else { 1 };
        let count = read_uint(bytes, 1, count_width)?;
        let ids_at = 1 + count_width;
        let offsets_at = count.checked_mul(id_width)?.checked_add(ids_at)?;
        let offsets = count.checked_add(1)?.checked_mul(offset_width)?;
        let values_at = offsets_at.checked_add(offsets)?;
        (values_at <= bytes.len()).then_some(Container {
            bytes,
            count,
            ids_at,
            id_width,
            offsets_at,
            offset_width,
            values_at,
        })
    }

    /// The key id of the field at `index`, in the order of keys.
    pub(crate) fn id(&self, index: usize) -> Option<usize> {
        read_uint(
            self.bytes,
            self.ids_at + index * self.id_width,
            self.id_width,
        )
    }

    /// The offset of the value at `index` from the first value. The offset at `count` is the size of all values.
    pub(crate) fn offset(&self, index: usize) -> Option<usize> {
        read_uint(
            self.bytes,
            self.offsets_at + index * self.offset_width,
            self.offset_width,
        )
    }

    /// The bytes that start with the value at `index`.
    pub(crate) fn value(&self, index: usize) -> Option<&'a [u8]> {
        if index >= self.count {
            return None;
        }
        self.value_at(self.offset(index)?)
    }

    /// The bytes that start at `offset`, counted from the first value.
    pub(crate) fn value_at(&self, offset: usize) -> Option<&'a [u8]> {
        self.bytes.get(self.values_at.checked_add(offset)?..)
    }

    /// The size of the whole container.
    pub(crate) fn size(&self) -> Option<usize> {
        self.values_at.checked_add(self.offset(self.count)?)
    }
}

/// The number of bytes of the value at the front of `bytes`.
pub(crate) fn value_size(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    let size = match first & 3 {
        BASIC_SHORT_STRING => 1 + usize::from(first >> 2),
        BASIC_PRIMITIVE => {
            let id = first >> 2;
            let characters = match id {
                STRING | 15 => read_uint(bytes, 1, 4)?,
                _ => 0,
            };
            primitive_size(id).checked_add(characters)?
        }
        _ => Container::read(bytes)?.size()?,
    };
    (size <= bytes.len()).then_some(size)
}
