//! Decimals: parsing, text form and conversions.

use hindsight_kql_types::decimal::{MAX, ONE, from_f64, from_i64, parse, to_f64, to_i64, to_text};

#[test]
fn text_to_decimal_and_back() {
    for (text, expected) in [
        ("2.50", "2.5"),
        (" -2.50 ", "-2.5"),
        ("+7", "7"),
        (".5", "0.5"),
        ("3e5", "300000"),
        ("25E-3", "0.025"),
        ("0.000e40", "0"),
        ("0.000000000001", "0.000000000001"),
        ("0.0000000000005", "0.000000000001"),
        ("0.00000000000049", "0"),
        ("1e-40", "0"),
        ("2000000020000000300000007", "2000000020000000300000007"),
        ("99999999999999999999999999", "99999999999999999999999999"),
        ("100000000000000000000000000", "null"),
        ("1e26", "null"),
        ("1e999999999999", "null"),
        ("abc", "null"),
        ("", "null"),
        ("NaN", "null"),
        ("0x5", "null"),
    ] {
        let shown = parse(text).map_or("null".to_owned(), to_text);
        assert_eq!(shown, expected, "{text:?}");
    }
}

#[test]
fn numbers_to_decimal_and_back() {
    assert_eq!(from_f64(0.1), Some(ONE / 10));
    assert_eq!(from_f64(-2e3), Some(-2000 * ONE));
    assert_eq!(from_f64(f64::NAN), None);
    assert_eq!(from_f64(1e40), None);
    assert_eq!(from_i64(i64::MIN), i128::from(i64::MIN) * ONE);
    assert_eq!(to_i64(-ONE * 99 / 10), Some(-9));
    assert_eq!(to_i64(MAX), None);
    assert_eq!(to_f64(ONE / 10), 0.1);
    assert_eq!(
        to_f64(parse("12345678901234567.25").unwrap()),
        12345678901234567.25
    );
}

#[test]
fn tenths_add_up_exactly() {
    let sum = parse("0.1").unwrap() + parse("0.2").unwrap();
    assert_eq!(Some(sum), parse("0.3"));
}
