//! The bytes against hand-made examples of the Parquet Variant format, so that other readers can read them.

use hindsight_kql_types::{Dynamic, datetime};

#[track_caller]
fn check(value: Dynamic, expected: &[u8]) {
    assert_eq!(value.encode(), expected, "{value:?}");
    assert_eq!(Dynamic::decode(expected), value);
}

const NO_KEYS: [u8; 3] = [0x01, 0, 0];

fn without_keys(value: &[u8]) -> Vec<u8> {
    [&NO_KEYS, value].concat()
}

#[test]
fn scalars() {
    for (value, expected) in [
        (Dynamic::Null, &[0x00][..]),
        (Dynamic::Bool(true), &[0x04]),
        (Dynamic::Bool(false), &[0x08]),
        (Dynamic::Long(-1), &[0x0C, 0xFF]),
        (Dynamic::Long(0x1234), &[0x10, 0x34, 0x12]),
        (Dynamic::Long(0x0012_3456), &[0x14, 0x56, 0x34, 0x12, 0x00]),
        (Dynamic::Long(1 << 40), &[0x18, 0, 0, 0, 0, 0, 1, 0, 0]),
        (Dynamic::Real(1.0), &[0x1C, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]),
        (Dynamic::String("hi".into()), &[0x09, b'h', b'i']),
    ] {
        check(value, &without_keys(expected));
    }
}

#[test]
fn long_strings_have_a_four_byte_length() {
    let text = "x".repeat(64);
    let expected = [&[0x40, 64, 0, 0, 0], text.as_bytes()].concat();
    check(Dynamic::String(text), &without_keys(&expected));
}

#[test]
fn datetimes_are_utc_timestamps() {
    let at = |text| Dynamic::DateTime(datetime::parse(text).unwrap());
    // Nanoseconds where they reach, microseconds elsewhere.
    check(
        at("1970-01-01T00:00:00.0000001"),
        &without_keys(&[0x48, 100, 0, 0, 0, 0, 0, 0, 0]),
    );
    let micros = -62_135_596_800_000_000_i64;
    check(
        at("0001-01-01"),
        &without_keys(&[&[0x30][..], &micros.to_le_bytes()].concat()),
    );
}

#[test]
fn arrays_have_offsets() {
    let array = Dynamic::Array(vec![Dynamic::Long(7), Dynamic::Null]);
    check(array, &without_keys(&[0x03, 2, 0, 2, 3, 0x0C, 7, 0x00]));
}

/// Field ids are in the order of the keys (`a`, `b`), the values in the order of insertion (`b`, `a`).
#[test]
fn bags_have_sorted_ids_and_values_in_insertion_order() {
    let bag = Dynamic::Bag(vec![
        ("b".into(), Dynamic::Long(1)),
        ("a".into(), Dynamic::String("x".into())),
    ]);
    let metadata = [0x01, 2, 0, 1, 2, b'b', b'a'];
    let value = [0x02, 2, 1, 0, 2, 0, 4, 0x0C, 1, 0x05, b'x'];
    check(bag, &[&metadata[..], &value].concat());
}
