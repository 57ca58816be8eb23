//! Reals: parsing and text forms.

use hindsight_kql_types::parse_real;
use hindsight_kql_types::real::{write, write_json};

#[test]
fn text_to_real() {
    for (text, expected) in [
        (" 2.5 ", Some(2.5)),
        (".25", Some(0.25)),
        ("+.25", Some(0.25)),
        ("-25.", Some(-25.0)),
        ("25e-1", Some(2.5)),
        ("2E+3", Some(2000.0)),
        ("1e999", Some(f64::INFINITY)),
        ("-1e999", Some(f64::NEG_INFINITY)),
        ("1e-999", Some(0.0)),
        ("Infinity", Some(f64::INFINITY)),
        ("+Infinity", Some(f64::INFINITY)),
        ("-inf", Some(f64::NEG_INFINITY)),
        ("Inf", Some(f64::INFINITY)),
        ("INF", None),
        ("-NaN", None),
        ("0x10", None),
        ("1,000", None),
        ("5%", None),
        ("$5", None),
        (".", None),
        ("1e", None),
        ("e5", None),
        ("", None),
        ("1 2", None),
    ] {
        assert_eq!(parse_real(text), expected, "{text:?}");
    }
    assert!(parse_real("NaN").is_some_and(f64::is_nan));
    assert!(parse_real("nan").is_some_and(f64::is_nan));
}

#[test]
fn tostring_always_shows_a_fraction_or_an_exponent() {
    for (value, expected) in [
        (2.0, "2.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (2.25, "2.25"),
        (-1500.0, "-1500.0"),
        (0.00025, "0.00025"),
        (250_000_000_000.0, "250000000000.0"),
        (123456.789, "123456.789"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (2.5e-5, "2.5e-05"),
        (1e300, "1e+300"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        let mut text = String::new();
        write(value, &mut text).unwrap();
        assert_eq!(text, expected);
    }
}

/// Of several shortest texts `tostring` shows the greatest, a result cell the closest.
#[test]
fn tostring_is_shortest_but_not_closest() {
    for (value, greatest, closest) in [
        (0.1 + 0.2, "0.30000000000000007", "0.30000000000000004"),
        (0.1 + 0.7, "0.7999999999999999", "0.7999999999999999"),
        (1.0 / 3.0, "0.3333333333333333", "0.3333333333333333"),
        (5e-324, "7e-324", "5e-324"),
    ] {
        let (mut text, mut cell) = (String::new(), String::new());
        write(value, &mut text).unwrap();
        write_json(value, &mut cell).unwrap();
        assert_eq!((text.as_str(), cell.as_str()), (greatest, closest));
    }
}

#[test]
fn cells_quote_what_json_cannot_write() {
    for (value, expected) in [
        (f64::NAN, "\"NaN\""),
        (f64::NEG_INFINITY, "\"-Infinity\""),
        (24.0, "24.0"),
    ] {
        let mut cell = String::new();
        write_json(value, &mut cell).unwrap();
        assert_eq!(cell, expected);
    }
}

#[test]
fn every_text_reads_back() {
    let mut bits = 0x0123_4567_89AB_CDEF_u64;
    for _ in 0..20_000 {
        bits = bits
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(bits);
        if value.is_nan() {
            continue;
        }
        let mut text = String::new();
        write(value, &mut text).unwrap();
        assert_eq!(parse_real(&text), Some(value), "{text}");
    }
}
