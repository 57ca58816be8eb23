//! Text to long, int and bool; numbers among themselves.

use hindsight_kql_types::convert::{
    int_from_long, int_from_real, long_from_constant_real, long_from_real, timespan_from_real,
};
use hindsight_kql_types::{parse_bool, parse_int, parse_long};

#[test]
fn text_to_long() {
    for (text, expected) in [
        ("12", Some(12)),
        (" -12\t", Some(-12)),
        ("+0012", Some(12)),
        ("0x1F", Some(31)),
        ("0Xff", Some(255)),
        ("0xFFFFFFFFFFFFFFFE", Some(-2)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("0x10000000000000000", None),
        ("0x", None),
        ("-0x1", None),
        ("+0x1", None),
        ("1.0", None),
        ("1.", None),
        ("1e2", None),
        ("1_0", None),
        ("1,0", None),
        ("0b1", None),
        ("", None),
        (" ", None),
        ("-", None),
        ("+-1", None),
        ("Infinity", None),
    ] {
        assert_eq!(parse_long(text), expected, "{text:?}");
    }
}

#[test]
fn text_to_int() {
    for (text, expected) in [
        ("2147483647", Some(i32::MAX)),
        ("2147483648", None),
        ("-2147483648", Some(i32::MIN)),
        ("0xFFFFFFFF", Some(-1)),
        ("7.5", None),
    ] {
        assert_eq!(parse_int(text), expected, "{text:?}");
    }
}

#[test]
fn text_to_bool() {
    for (text, expected) in [
        ("tRUE", Some(true)),
        ("FALSE", Some(false)),
        ("3", Some(true)),
        ("-3", Some(true)),
        ("0", Some(false)),
        (" 3 ", Some(true)),
        ("0x10", Some(true)),
        // Words are not trimmed, integers are: the recorded measurement (docs/semantics.md §31).
        (" true", None),
        ("true ", None),
        ("3.0", None),
        ("yes", None),
        ("t", None),
        ("", None),
        ("99999999999999999999", None),
    ] {
        assert_eq!(parse_bool(text), expected, "{text:?}");
    }
}

#[test]
fn reals_truncate_and_saturate_but_longs_wrap() {
    assert_eq!(long_from_real(-2.9), Some(-2));
    assert_eq!(long_from_real(1e30), Some(i64::MAX));
    assert_eq!(long_from_real(f64::NEG_INFINITY), Some(i64::MIN));
    assert_eq!(long_from_real(f64::NAN), None);
    assert_eq!(long_from_constant_real(f64::INFINITY), None);
    assert_eq!(long_from_constant_real(1e30), Some(i64::MIN));
    assert_eq!(long_from_constant_real(-1e30), Some(i64::MIN));
    assert_eq!(int_from_real(1e12), Some(i32::MAX));
    assert_eq!(int_from_long(4_294_967_297), 1);
    assert_eq!(timespan_from_real(12.9), Some(12));
    assert_eq!(timespan_from_real(f64::INFINITY), None);
}
