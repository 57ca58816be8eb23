//! Values: text and conversion between all types.

use hindsight_kql_types::{Dynamic, Encoder, ScalarType, Value, datetime, decimal};

fn dynamic(json: &str) -> Value {
    Value::Dynamic(Dynamic::from_json(json).unwrap().encode())
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

#[track_caller]
fn check(value: Value, to: ScalarType, expected: &str) {
    let converted = value.convert(to);
    assert_eq!(converted.kind(), to);
    let shown = if converted.is_null() {
        "null".to_owned()
    } else {
        converted.to_text()
    };
    assert_eq!(shown, expected, "{value:?} to {to}");
}

#[test]
fn to_string_is_total() {
    let day = datetime::parse("2031-03-09").unwrap();
    for (value, expected) in [
        (Value::Bool(true), "True"),
        (Value::Int(-4), "-4"),
        (Value::Real(4.0), "4.0"),
        (Value::Decimal(decimal::ONE * 3 / 2), "1.5"),
        (Value::DateTime(day), "2031-03-09T00:00:00.0000000Z"),
        (Value::TimeSpan(-72_000_000_000), "-02:00:00"),
        (
            Value::Guid([0xAB; 16]),
            "abababab-abab-abab-abab-abababababab",
        ),
        (dynamic("true"), "true"),
        (dynamic("\"a b\""), "a b"),
        (dynamic("null"), ""),
        (dynamic("[1, \"x\"]"), "[1,\"x\"]"),
    ] {
        check(value, ScalarType::String, expected);
    }
    for kind in ScalarType::ALL {
        assert_eq!(Value::null(kind).to_text(), "");
        check(Value::null(kind), ScalarType::String, "");
    }
}

#[test]
fn null_converts_to_null() {
    for from in ScalarType::ALL
        .into_iter()
        .filter(|kind| *kind != ScalarType::String)
    {
        for to in ScalarType::ALL
            .into_iter()
            .filter(|kind| *kind != ScalarType::String)
        {
            check(Value::null(from), to, "null");
        }
    }
}

#[test]
fn to_numbers() {
    check(Value::Long(9_999_999_999), ScalarType::Int, "1410065407");
    check(Value::Real(-7.9), ScalarType::Long, "-7");
    check(Value::Real(1e12), ScalarType::Int, "2147483647");
    check(Value::Real(f64::NAN), ScalarType::Long, "null");
    check(Value::Decimal(decimal::ONE * 99 / 10), ScalarType::Int, "9");
    check(
        Value::TimeSpan(36_000_000_000),
        ScalarType::Int,
        "1640261632",
    );
    check(Value::DateTime(7), ScalarType::Real, "7.0");
    check(Value::Bool(true), ScalarType::Decimal, "1");
    check(Value::Guid([0; 16]), ScalarType::Long, "null");
    check(text("7.5"), ScalarType::Long, "null");
    check(text("7.5"), ScalarType::Decimal, "7.5");
    check(text("0x7f"), ScalarType::Real, "null");
}

#[test]
fn to_times() {
    check(
        Value::Long(0),
        ScalarType::DateTime,
        "0001-01-01T00:00:00.0000000Z",
    );
    check(
        Value::Real(1.5),
        ScalarType::DateTime,
        "0001-01-01T00:00:00.0000001Z",
    );
    check(Value::Long(-1), ScalarType::DateTime, "null");
    check(Value::Bool(true), ScalarType::TimeSpan, "00:00:00.0000001");
    check(Value::Real(f64::INFINITY), ScalarType::TimeSpan, "null");
    check(text("30s"), ScalarType::TimeSpan, "00:00:30");
    check(text("30"), ScalarType::TimeSpan, "null");
}

#[test]
fn to_bool() {
    check(Value::Real(0.5), ScalarType::Bool, "True");
    check(Value::Int(0), ScalarType::Bool, "False");
    check(Value::TimeSpan(1), ScalarType::Bool, "null");
    check(text("no"), ScalarType::Bool, "null");
}

#[test]
fn dynamic_converts_as_what_it_holds() {
    check(dynamic("2147483649"), ScalarType::Int, "-2147483647");
    check(dynamic("2.9"), ScalarType::Int, "2");
    check(dynamic("1e12"), ScalarType::Int, "2147483647");
    check(dynamic("\"17\""), ScalarType::Long, "17");
    check(dynamic("\"0x11\""), ScalarType::Long, "17");
    check(dynamic("\"0x11\""), ScalarType::Bool, "True");
    check(dynamic("\"2.5\""), ScalarType::Bool, "null");
    check(dynamic("true"), ScalarType::Real, "1.0");
    check(dynamic("[1]"), ScalarType::Long, "null");
    check(dynamic("{}"), ScalarType::Real, "null");
    check(
        dynamic("\"2031-03-09\""),
        ScalarType::DateTime,
        "2031-03-09T00:00:00.0000000Z",
    );
    check(dynamic("\"1d\""), ScalarType::TimeSpan, "1.00:00:00");
    check(
        dynamic("\"abababababababababababababababab\""),
        ScalarType::Guid,
        "abababab-abab-abab-abab-abababababab",
    );
}

#[test]
fn to_dynamic_parses_text_and_wraps_the_rest() {
    check(text("{\"a\":1}"), ScalarType::Dynamic, "{\"a\":1}");
    check(text("not {json"), ScalarType::Dynamic, "not {json");
    check(text(""), ScalarType::Dynamic, "null");
    check(Value::Long(5), ScalarType::Dynamic, "5");
}

#[test]
fn packing_stores_typed_scalars_as_text() {
    let mut encoder = Encoder::new();
    encoder.begin_array();
    for value in [
        Value::TimeSpan(864_000_000_000),
        Value::DateTime(0),
        Value::Decimal(decimal::ONE * 3 / 2),
        Value::Real(f64::NAN),
        Value::Real(f64::INFINITY),
        Value::Real(1.0),
        Value::Guid([0; 16]),
        Value::Null(ScalarType::Int),
        Value::Bool(false),
        dynamic("{\"z\":[]}"),
    ] {
        value.pack(&mut encoder);
    }
    encoder.end();
    let packed = Value::Dynamic(encoder.finish());
    assert_eq!(
        packed.to_text(),
        "[\"1.00:00:00\",\"0001-01-01T00:00:00.0000000Z\",\"1.5\",\"NaN\",\"Infinity\",1.0,\
         \"00000000-0000-0000-0000-000000000000\",null,false,{\"z\":[]}]"
    );
}
