//! Datetimes: parsing, text forms and the calendar.

use hindsight_kql_types::datetime::{
    Civil, day_of_week, day_of_year, days_in_month, parse, ticks_of_date, write_full, write_trimmed,
};
use hindsight_kql_types::ticks::{
    MAX_DATETIME_TICKS, UNIX_EPOCH_TICKS, from_unix_millis, from_unix_nanos, to_unix_millis,
    to_unix_nanos,
};

fn full(ticks: i64) -> String {
    let mut text = String::new();
    write_full(ticks, &mut text).unwrap();
    text
}

#[track_caller]
fn check(input: &str, expected: &str) {
    let text = parse(input).map(|ticks| {
        let mut text = String::new();
        write_trimmed(ticks, &mut text).unwrap();
        text
    });
    assert_eq!(text.as_deref().unwrap_or("null"), expected, "{input:?}");
}

#[test]
fn iso_forms() {
    check("2031-03-09", "2031-03-09T00:00:00Z");
    check("2031-03", "2031-03-01T00:00:00Z");
    check("2031-03-09 07:08", "2031-03-09T07:08:00Z");
    check("2031-03-09 07:08:09", "2031-03-09T07:08:09Z");
    check("2031-03-09T07:08:09Z", "2031-03-09T07:08:09Z");
    check("2031-03-09T07:08:09.5Z", "2031-03-09T07:08:09.5Z");
    check(
        "2031-03-09T07:08:09.0000001",
        "2031-03-09T07:08:09.0000001Z",
    );
    check("  2031-3-9 7:08 ", "2031-03-09T07:08:00Z");
    check("2031/03/09", "2031-03-09T00:00:00Z");
    check("20310309T070809", "2031-03-09T07:08:09Z");
}

#[test]
fn digits_after_the_seventh_are_dropped() {
    check(
        "2031-03-09 00:00:00.123456789Z",
        "2031-03-09T00:00:00.1234567Z",
    );
    check(
        "2031-03-09 00:00:00.99999999",
        "2031-03-09T00:00:00.9999999Z",
    );
}

#[test]
fn offsets_become_utc() {
    check("2031-03-09T01:00:00+02:00", "2031-03-08T23:00:00Z");
    check("2031-03-09T01:00:00 -05:30", "2031-03-09T06:30:00Z");
    check("2031-03-09T01:00:00-0530", "2031-03-09T06:30:00Z");
    check("2031-03-09T01:00:00+02", "2031-03-08T23:00:00Z");
    check("0001-01-01T00:00:00+01:00", "null");
}

#[test]
fn the_month_comes_first_without_a_leading_year() {
    check("04-30-2031", "2031-04-30T00:00:00Z");
    check("04/30/2031", "2031-04-30T00:00:00Z");
    check("04.30.2031", "2031-04-30T00:00:00Z");
    check("2/3/2031", "2031-02-03T00:00:00Z");
    check("2/3/2031 13:14:15", "2031-02-03T13:14:15Z");
    check("30-04-2031", "null");
}

#[test]
fn months_by_name() {
    check("9 Mar 2031", "2031-03-09T00:00:00Z");
    check("Mar 9, 2031", "2031-03-09T00:00:00Z");
    check("March 9 2031", "2031-03-09T00:00:00Z");
    check("Sun, 09 Mar 2031 07:08:09 GMT", "2031-03-09T07:08:09Z");
    check("Sun, 9 Mar 31 07:08", "1931-03-09T07:08:00Z");
    check("Friday, 09-Mar-12 07:08:09 GMT", "2012-03-09T07:08:09Z");
    check("9 Mrz 2031", "null");
}

#[test]
fn single_numbers() {
    check("2031", "2031-01-01T00:00:00Z");
    check("20310309", "2031-03-09T00:00:00Z");
    check("20310309070809", "2031-03-09T07:08:09Z");
    check("1", "1970-01-01T00:00:01Z");
    check("20311301", "null");
}

#[test]
fn text_that_is_no_datetime() {
    for text in [
        "",
        " ",
        "soon",
        "2031-13-01",
        "2031-02-29",
        "2031-04-31",
        "2031-03-09 24:00",
        "2031-03-09 07:60",
        "2031-03-09 07:08:60",
        "2031-03-09x",
        "2031-03-09 07",
        "2031-03-09 07:08 CET",
        "0000-01-01",
        "12345-01-01",
        "2031-03/09",
        "-2031-03-09",
        "2031-03-09T",
        "٢٠٣١-03-09",
        "2031-03-09 07:08:09.",
        "99999999999999999999",
        "2031-03-09T07:08:09+15:00",
    ] {
        check(text, "null");
    }
}

#[test]
fn the_range_is_years_1_to_9999() {
    assert_eq!(parse("0001-01-01"), Some(0));
    assert_eq!(
        parse("9999-12-31T23:59:59.9999999Z"),
        Some(MAX_DATETIME_TICKS)
    );
    assert_eq!(parse("1970-01-01"), Some(UNIX_EPOCH_TICKS));
}

#[test]
fn tostring_has_seven_digits_and_cells_are_trimmed() {
    let ticks = parse("2031-03-09 07:08:09.120").unwrap();
    assert_eq!(full(ticks), "2031-03-09T07:08:09.1200000Z");
    check("2031-03-09 07:08:09.120", "2031-03-09T07:08:09.12Z");
    assert_eq!(full(0), "0001-01-01T00:00:00.0000000Z");
}

#[test]
fn ticks_outside_the_range_do_not_panic() {
    for ticks in [i64::MIN, -1, MAX_DATETIME_TICKS + 1, i64::MAX] {
        assert_eq!(full(ticks).len(), "0001-01-01T00:00:00.0000000Z".len());
    }
}

#[test]
fn the_calendar_round_trips_over_every_year() {
    for year in 1..=9999 {
        for (month, day) in [(1, 1), (2, days_in_month(year, 2)), (3, 1), (12, 31)] {
            let ticks = ticks_of_date(year, month, day).unwrap();
            assert_eq!(Civil::from_ticks(ticks), Civil::date(year, month, day));
        }
    }
    assert_eq!(ticks_of_date(1900, 2, 29), None);
    assert!(ticks_of_date(2000, 2, 29).is_some());
}

#[test]
fn days_of_week_and_year() {
    assert_eq!(day_of_week(parse("2031-03-09").unwrap()), 0);
    assert_eq!(day_of_week(parse("1970-01-01").unwrap()), 4);
    assert_eq!(day_of_week(0), 1);
    assert_eq!(day_of_year(parse("2031-12-31").unwrap()), 365);
    assert_eq!(day_of_year(parse("2028-12-31 23:00").unwrap()), 366);
}

#[test]
fn unix_time() {
    assert_eq!(from_unix_nanos(-1), UNIX_EPOCH_TICKS - 1);
    assert_eq!(to_unix_nanos(UNIX_EPOCH_TICKS + 3), Some(300));
    assert_eq!(to_unix_nanos(0), None);
    assert_eq!(from_unix_millis(-1), Some(UNIX_EPOCH_TICKS - 10_000));
    assert_eq!(from_unix_millis(i64::MAX), None);
    assert_eq!(to_unix_millis(UNIX_EPOCH_TICKS - 1), -1);
}
