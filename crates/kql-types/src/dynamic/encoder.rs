//! An encoder that writes dynamic values from a stream of events.

use std::fmt::Debug;
use std::io::Write;

use super::keys::Keys;
use super::layout::{
    BASIC_ARRAY, BASIC_OBJECT, BASIC_SHORT_STRING, DOUBLE, FALSE, INT8, INT16, INT32, INT64,
    MAX_SHORT_STRING, Metadata, NULL, STRING, TIMESTAMP_MICROS, TIMESTAMP_NANOS, TRUE, primitive,
    push_uint, width_of,
};
use super::{DynamicRef, Kind, MAX_DEPTH};
use crate::datetime;
use crate::ticks::{TICKS_PER_MICROSECOND, UNIX_EPOCH_TICKS, to_unix_nanos};

/// The maximum bytes of one encoded value: 64 MiB, about the limit of a whole result.
pub const MAX_ENCODED: usize = 64 << 20;

/// The bytes of an element beside its value: its offset.
const PER_ENTRY: usize = 4;

/// The encoder reserves memory in steps of this many bytes of the value. A value of at most one step needs no reservation.
const STEP: usize = 1 << 20;

/// The bytes that are reserved for each byte of a value: the bytes written so far, the offsets of its elements, and the finished value.
const RESERVED_PER_BYTE: usize = 3;

/// The memory in which an [`Encoder`] builds large values.
pub trait EncoderMemory: Debug + Send + Sync {
    /// Reserves this many more bytes; `false` if the memory is exhausted.
    fn reserve(&mut self, bytes: usize) -> bool;

    /// Releases all that is reserved.
    fn release(&mut self);
}

/// Writes one value after the other: `begin_bag`, `key`, a value, …, `end`, then [`Encoder::finish_into`].
///
/// The buffers are reused between values, so that an encoder outside a loop allocates little. A repeated key keeps its first
/// position and its last value. Misplaced events (two roots, an `end` without a `begin`) are harmless: a reader sees the
/// first root. A value of more than [`MAX_ENCODED`] bytes, and one for which the [`EncoderMemory`] is exhausted, is not kept in
/// memory and is finished as no bytes, which no other value is.
#[derive(Debug)]
pub struct Encoder {
    keys: Keys,
    value: Vec<u8>,
    entries: Vec<Entry>,
    frames: Vec<Frame>,
    key: usize,
    order: Vec<usize>,
    header: Vec<u8>,
    too_large: bool,
    /// The size that the value may have without a further reservation.
    allowed: usize,
    memory: Option<Box<dyn EncoderMemory>>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            keys: Keys::default(),
            value: Vec::new(),
            entries: Vec::new(),
            frames: Vec::new(),
            key: 0,
            order: Vec::new(),
            header: Vec::new(),
            too_large: false,
            allowed: STEP,
            memory: None,
        }
    }
}

/// The place of a value in its array or bag. Both numbers are below [`MAX_ENCODED`].
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u32,
    offset: u32,
}

impl Entry {
    fn new(key: usize, offset: usize) -> Entry {
        Entry {
            key: key as u32,
            offset: offset as u32,
        }
    }

    fn key(self) -> usize {
        self.key as usize
    }

    fn offset(self) -> usize {
        self.offset as usize
    }
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    is_bag: bool,
    start: usize,
    first_entry: usize,
}

impl Encoder {
    /// An empty encoder whose memory is not reserved.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// An empty encoder that reserves the memory of large values.
    pub fn reserving(memory: Box<dyn EncoderMemory>) -> Encoder {
        Encoder {
            memory: Some(memory),
            ..Encoder::default()
        }
    }

    /// Starts an array. Its elements follow, then [`Encoder::end`].
    pub fn begin_array(&mut self) {
        self.begin(false);
    }

    /// Starts a bag. Pairs of [`Encoder::key`] and a value follow, then [`Encoder::end`].
    pub fn begin_bag(&mut self) {
        self.begin(true);
    }

    /// The key of the next value.
    pub fn key(&mut self, key: &str) {
        if self.has_room(key.len()) {
            self.key = self.keys.id(key);
        }
    }

    /// Ends the innermost array or bag.
    pub fn end(&mut self) {
        if let Some(frame) = self.frames.pop() {
            if frame.is_bag {
                self.end_bag(frame);
            } else {
                self.end_array(frame);
            }
            self.entries.truncate(frame.first_entry);
        }
    }

    /// A null.
    pub fn null(&mut self) {
        self.scalar(primitive(NULL), &[]);
    }

    /// A bool.
    pub fn bool(&mut self, value: bool) {
        self.scalar(primitive(if value { TRUE } else { FALSE }), &[]);
    }

    /// A long, in the fewest bytes that hold it.
    pub fn long(&mut self, value: i64) {
        if let Ok(small) = i8::try_from(value) {
            self.scalar(primitive(INT8), &small.to_le_bytes());
        } else if let Ok(small) = i16::try_from(value) {
            self.scalar(primitive(INT16), &small.to_le_bytes());
        } else if let Ok(small) = i32::try_from(value) {
            self.scalar(primitive(INT32), &small.to_le_bytes());
        } else {
            self.scalar(primitive(INT64), &value.to_le_bytes());
        }
    }

    /// A double. NaN and the infinities become the texts `NaN`, `Infinity`, `-Infinity` (`docs/semantics.md §9.1`).
    pub fn real(&mut self, value: f64) {
        if value.is_finite() {
            self.scalar(primitive(DOUBLE), &value.to_le_bytes());
        } else if value.is_nan() {
            self.string("NaN");
        } else {
            self.string(if value > 0.0 { "Infinity" } else { "-Infinity" });
        }
    }

    /// A string.
    pub fn string(&mut self, value: &str) {
        if value.len() <= MAX_SHORT_STRING {
            self.scalar(
                (value.len() as u8) << 2 | BASIC_SHORT_STRING,
                value.as_bytes(),
            );
        } else if self.has_room(value.len()) {
            self.scalar(primitive(STRING), &(value.len() as u32).to_le_bytes());
            self.value.extend_from_slice(value.as_bytes());
        }
    }

    /// A datetime in ticks. Only `dynamic(datetime(…))` has one; packing functions store datetimes as text.
    ///
    /// Outside the range of 64-bit nanoseconds it is stored in microseconds, or as text if microseconds would lose digits.
    pub fn datetime(&mut self, ticks: i64) {
        if let Some(nanos) = to_unix_nanos(ticks) {
            self.scalar(primitive(TIMESTAMP_NANOS), &nanos.to_le_bytes());
        } else if ticks % TICKS_PER_MICROSECOND == 0 {
            let micros = ticks.saturating_sub(UNIX_EPOCH_TICKS) / TICKS_PER_MICROSECOND;
            self.scalar(primitive(TIMESTAMP_MICROS), &micros.to_le_bytes());
        } else {
            let mut text = String::new();
            // Writing to a String never fails.
            let _ = datetime::write_full(ticks, &mut text);
            self.string(&text);
        }
    }

    /// A copy of another value.
    pub fn dynamic(&mut self, value: DynamicRef<'_>) {
        self.copy(value, 0);
    }

    /// Appends the encoded value, metadata and value bytes, to `out` and empties the encoder.
    ///
    /// Without any event the value is null. Open arrays and bags are ended. For a value that is too large nothing is appended.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        while !self.frames.is_empty() {
            self.end();
        }
        if self.value.is_empty() {
            self.null();
        }
        if !self.too_large {
            self.keys.write(out);
            out.extend_from_slice(&self.value);
        }
        self.clear();
    }

    /// The encoded value; empties the encoder.
    pub fn finish(&mut self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.value.len() + 16);
        self.finish_into(&mut out);
        out
    }

    /// Discards everything that was written, and returns the memory of a large value.
    pub fn clear(&mut self) {
        if self.allowed > STEP {
            self.value = Vec::new();
            self.entries = Vec::new();
            self.order = Vec::new();
            self.header = Vec::new();
            self.keys = Keys::default();
            self.allowed = STEP;
            if let Some(memory) = &mut self.memory {
                memory.release();
            }
        }
        self.keys.clear();
        self.value.clear();
        self.entries.clear();
        self.frames.clear();
        self.key = 0;
        self.too_large = false;
    }

    /// Whether this many more bytes may be written. After the first refusal nothing more is written.
    fn has_room(&mut self, bytes: usize) -> bool {
        let held = self.value.len() + self.entries.len() * PER_ENTRY + self.keys.bytes();
        if held + bytes > self.allowed {
            self.allow(held + bytes);
        }
        !self.too_large
    }

    /// Reserves the memory of a value of `size` bytes.
    #[cold]
    fn allow(&mut self, size: usize) {
        if self.too_large || size > MAX_ENCODED {
            self.too_large = true;
            return;
        }
        let allowed = size.next_multiple_of(STEP);
        let bytes = (allowed - self.allowed) * RESERVED_PER_BYTE;
        let reserved = match &mut self.memory {
            Some(memory) => memory.reserve(bytes),
            None => true,
        };
        if reserved {
            self.allowed = allowed;
        } else {
            self.too_large = true;
        }
    }

    pub(crate) fn is_bag_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn copy(&mut self, value: DynamicRef<'_>, depth: usize) {
        match value.kind() {
            _ if depth > MAX_DEPTH => self.null(),
            Kind::Array => {
                self.begin_array();
                for element in value.iter_array() {
                    if self.too_large {
                        break;
                    }
                    self.copy(element, depth + 1);
                }
                self.end();
            }
            Kind::Bag => {
                self.begin_bag();
                for (key, element) in value.iter_bag() {
                    if self.too_large {
                        break;
                    }
                    self.key(key);
                    self.copy(element, depth + 1);
                }
                self.end();
            }
            _ => match value.value_bytes().split_first() {
                Some((first, rest)) => self.scalar(*first, rest),
                None => self.null(),
            },
        }
    }

    fn begin(&mut self, is_bag: bool) {
        if self.has_room(1) {
            self.enter();
        }
        self.frames.push(Frame {
            is_bag,
            start: self.value.len(),
            first_entry: self.entries.len(),
        });
    }

    fn scalar(&mut self, first: u8, rest: &[u8]) {
        if !self.has_room(1 + rest.len()) {
            return;
        }
        self.enter();
        self.value.push(first);
        self.value.extend_from_slice(rest);
    }

    /// Records the offset of the value that starts here in its array or bag.
    fn enter(&mut self) {
        if let Some(frame) = self.frames.last() {
            let entry = Entry::new(self.key, self.value.len() - frame.start);
            self.entries.push(entry);
        }
    }

    /// Writes the header of an array in its place before the elements; a copy of it could be as large as they are.
    fn end_array(&mut self, frame: Frame) {
        let entries = self.entries.get(frame.first_entry..).unwrap_or_default();
        let size = self.value.len() - frame.start;
        let width = width_of(size);
        let large = entries.len() > 0xFF;
        let count_width = if large { 4 } else { 1 };
        let flags = (width - 1) as u8 | u8::from(large) << 2;
        let length = 1 + count_width + (entries.len() + 1) * width;
        let mut header = insert(&mut self.value, frame.start, length);
        write_uint(&mut header, (flags << 2 | BASIC_ARRAY).into(), 1);
        write_uint(&mut header, entries.len(), count_width);
        for entry in entries {
            write_uint(&mut header, entry.offset(), width);
        }
        write_uint(&mut header, size, width);
    }

    fn end_bag(&mut self, frame: Frame) {
        self.sort_keys(frame);
        if self.has_duplicates(frame) {
            self.drop_duplicates(frame);
            self.sort_keys(frame);
        }
        let entries = self.entries.get(frame.first_entry..).unwrap_or_default();
        let sorted = || self.order.iter().filter_map(|index| entries.get(*index));
        let size = self.value.len() - frame.start;
        let width = width_of(size);
        let id_width = width_of(entries.iter().map(|e| e.key()).max().unwrap_or(0));
        let large = entries.len() > 0xFF;
        self.header.clear();
        let flags = (width - 1) as u8 | ((id_width - 1) as u8) << 2 | u8::from(large) << 4;
        self.header.push(flags << 2 | BASIC_OBJECT);
        push_uint(&mut self.header, entries.len(), if large { 4 } else { 1 });
        for entry in sorted() {
            push_uint(&mut self.header, entry.key(), id_width);
        }
        for entry in sorted() {
            push_uint(&mut self.header, entry.offset(), width);
        }
        push_uint(&mut self.header, size, width);
        insert(&mut self.value, frame.start, self.header.len()).copy_from_slice(&self.header);
    }

    /// Fills `order` with the entries of the bag in the order of their keys; equal keys stay in insertion order.
    fn sort_keys(&mut self, frame: Frame) {
        let entries = self.entries.get(frame.first_entry..).unwrap_or_default();
        let keys = &self.keys;
        let key = |index: usize| entries.get(index).map_or("", |entry| keys.get(entry.key()));
        self.order.clear();
        self.order.extend(0..entries.len());
        self.order.sort_by(|a, b| key(*a).cmp(key(*b)));
    }

    fn has_duplicates(&self, frame: Frame) -> bool {
        let entries = self.entries.get(frame.first_entry..).unwrap_or_default();
        let id = |index: usize| entries.get(index).map(|entry| entry.key);
        self.order
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if id(*a) == id(*b)))
    }

    /// Rewrites the values so that each key has its last value at its first position.
    fn drop_duplicates(&mut self, frame: Frame) {
        let entries: Vec<Entry> = self.entries.drain(frame.first_entry..).collect();
        let values = self.value.split_off(frame.start);
        let mut last = std::collections::HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            last.insert(entry.key, index);
        }
        for entry in &entries {
            let Some(index) = last.remove(&entry.key) else {
                continue;
            };
            let start = entries.get(index).map_or(0, |e| e.offset());
            let end = entries.get(index + 1).map_or(values.len(), |e| e.offset());
            let place = Entry::new(entry.key(), self.value.len() - frame.start);
            self.entries.push(place);
            self.value
                .extend_from_slice(values.get(start..end).unwrap_or_default());
        }
    }
}

/// Makes room for `length` bytes before the values that start at `at`, and returns it.
fn insert(value: &mut Vec<u8>, at: usize, length: usize) -> &mut [u8] {
    let end = value.len();
    value.resize(end + length, 0);
    value.copy_within(at..end, at + length);
    value.get_mut(at..at + length).unwrap_or_default()
}

/// Writes the low `bytes` bytes of `value` and moves `place` behind them.
fn write_uint(place: &mut &mut [u8], value: usize, bytes: usize) {
    let all = (value as u64).to_le_bytes();
    // Writing to a slice that is long enough never fails.
    let _ = place.write(all.get(..bytes).unwrap_or(&all));
}

/// A dictionary of at most this many bytes is cheaper to copy than to rebuild.
const LARGE_DICTIONARY: usize = 1024;

impl DynamicRef<'_> {
    /// Appends this value, also a nested one, as a stand-alone encoded value.
    ///
    /// The dictionary is copied whole, so that nothing is decoded. A scalar gets an empty dictionary, and a small part of a
    /// value with a large dictionary gets a new one.
    pub fn to_encoded(self, out: &mut Vec<u8>) {
        let value = self.value_bytes();
        if matches!(self.kind(), Kind::Array | Kind::Bag) {
            if self.metadata.bytes().len() > LARGE_DICTIONARY.max(4 * value.len()) {
                let mut encoder = Encoder::new();
                encoder.dynamic(self);
                return encoder.finish_into(out);
            }
            out.extend_from_slice(self.metadata.bytes());
        } else {
            out.extend_from_slice(Metadata::EMPTY.bytes());
        }
        out.extend_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_value_beyond_the_limit_finishes_as_no_bytes_and_leaves_the_encoder_usable() {
        let mut encoder = Encoder::new();
        let text = "x".repeat(MAX_ENCODED / 4);
        encoder.begin_array();
        for _ in 0..1_000 {
            encoder.begin_bag();
            encoder.key("k");
            encoder.string(&text);
            encoder.end();
        }
        assert!(encoder.value.len() <= MAX_ENCODED);
        assert_eq!(encoder.finish(), Vec::<u8>::new());
        encoder.long(7);
        assert_eq!(DynamicRef::new(&encoder.finish()).as_i64(), Some(7));
    }

    /// A memory limit in bytes, and the bytes that are reserved.
    #[derive(Debug)]
    struct Memory(usize, Arc<AtomicUsize>);

    impl EncoderMemory for Memory {
        fn reserve(&mut self, bytes: usize) -> bool {
            let fits = self.1.load(Ordering::Relaxed) + bytes <= self.0;
            if fits {
                self.1.fetch_add(bytes, Ordering::Relaxed);
            }
            fits
        }

        fn release(&mut self) {
            self.1.store(0, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_large_value_is_reserved_until_it_is_finished() {
        let reserved = Arc::new(AtomicUsize::new(0));
        let memory = Memory(usize::MAX / 2, Arc::clone(&reserved));
        let mut encoder = Encoder::reserving(Box::new(memory));
        encoder.string(&"x".repeat(STEP / 2));
        assert_eq!(reserved.load(Ordering::Relaxed), 0);
        assert_ne!(encoder.finish(), Vec::<u8>::new());
        encoder.string(&"x".repeat(4 * STEP - 100));
        assert_eq!(
            reserved.load(Ordering::Relaxed),
            3 * STEP * RESERVED_PER_BYTE
        );
        assert_eq!(encoder.finish().len(), 3 + 5 + 4 * STEP - 100);
        assert_eq!(reserved.load(Ordering::Relaxed), 0);
        assert_eq!(encoder.value.capacity(), 0);
    }

    #[test]
    fn a_value_that_exhausts_the_memory_finishes_as_no_bytes() {
        let reserved = Arc::new(AtomicUsize::new(0));
        let memory = Memory(10 * STEP, Arc::clone(&reserved));
        let mut encoder = Encoder::reserving(Box::new(memory));
        encoder.begin_array();
        for _ in 0..16 * STEP {
            encoder.bool(true);
        }
        let held = encoder.value.len() + encoder.entries.len() * PER_ENTRY;
        assert!(held <= 4 * STEP + PER_ENTRY + 1, "{held}");
        assert_eq!(encoder.finish(), Vec::<u8>::new());
        assert_eq!(reserved.load(Ordering::Relaxed), 0);
        encoder.bool(true);
        assert_eq!(DynamicRef::new(&encoder.finish()).as_bool(), Some(true));
    }

    #[test]
    fn many_small_elements_count_with_their_offsets() {
        let mut encoder = Encoder::new();
        encoder.begin_array();
        for _ in 0..MAX_ENCODED / 2 {
            encoder.null();
        }
        assert!(encoder.entries.len() <= MAX_ENCODED / PER_ENTRY);
        assert_eq!(encoder.finish(), Vec::<u8>::new());
    }
}
