//! Timespans: parsing and text form.

use hindsight_kql_types::timespan::{parse, parse_literal, write};

fn text(ticks: Option<i64>) -> String {
    let mut text = String::new();
    match ticks {
        Some(ticks) => write(ticks, &mut text).unwrap(),
        None => text.push_str("null"),
    }
    text
}

#[track_caller]
fn check(input: &str, expected: &str) {
    assert_eq!(text(parse(input)), expected, "{input:?}");
}

#[test]
fn clock_forms() {
    check("17:45", "17:45:00");
    check(" 17:45:06 ", "17:45:06");
    check("3.04:05:06.7", "3.04:05:06.7000000");
    check("-3.04:05:06.7", "-3.04:05:06.7000000");
    check("0:0:0.002", "00:00:00.0020000");
    check("00:00:01.12345678", "00:00:01.1234567");
    check("250.00:00:00", "250.00:00:00");
}

#[test]
fn unit_forms() {
    check("3d", "3.00:00:00");
    check("-3d", "-3.00:00:00");
    check("75s", "00:01:15");
    check("1.5h", "01:30:00");
    check("7ms", "00:00:00.0070000");
    check("2microseconds", "00:00:00.0000020");
    check("250nanoseconds", "00:00:00.0000002");
    check("1tick", "00:00:00.0000001");
}

#[test]
fn text_that_is_no_timespan() {
    for input in [
        "",
        " ",
        "7",
        "1.5",
        "d",
        "soon",
        "1:2:3:4",
        "24:00",
        "00:60",
        "00:00:60",
        "1dd",
        "1 d",
        "1d 2h",
        "3w",
        "5us",
        "--1d",
        "1.:00",
        "99999999999999999999d",
        "999999999.00:00:00",
        "1h:00",
    ] {
        check(input, "null");
    }
}

#[test]
fn inside_a_literal_a_blank_and_bare_days_are_allowed() {
    for (input, expected) in [
        ("4", "4.00:00:00"),
        ("15 seconds", "00:00:15"),
        ("25min", "00:25:00"),
        ("1.02:03:04", "1.02:03:04"),
        ("x", "null"),
    ] {
        assert_eq!(text(parse_literal(input)), expected, "{input:?}");
    }
}

#[test]
fn extremes_are_written() {
    assert_eq!(text(Some(i64::MIN)), "-10675199.02:48:05.4775808");
    assert_eq!(text(Some(i64::MAX)), "10675199.02:48:05.4775807");
}
