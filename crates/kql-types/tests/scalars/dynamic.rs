//! Dynamic values: JSON in and out, access, order of keys, corrupt bytes.

use hindsight_kql_types::dynamic::{MAX_DEPTH, parse_json, parse_json_into};
use hindsight_kql_types::{BagBuilder, Dynamic, DynamicRef, datetime};

fn encode(json: &str) -> Vec<u8> {
    Dynamic::from_json(json).unwrap().encode()
}

#[track_caller]
fn check(json: &str, expected: &str) {
    assert_eq!(parse_json(json).to_json(), expected, "{json:?}");
}

#[test]
fn json_keeps_order_and_kinds_of_numbers() {
    check(
        " { \"b\" : 1 , \"a\" : [ 1.0, -2, 3e2, true, null ] } ",
        r#"{"b":1,"a":[1.0,-2,300.0,true,null]}"#,
    );
    check("\"\\u00e9\\ud83d\\ude00\\n\\/\"", "\"é😀\\n/\"");
    check("\"\\u0001\\\"\\\\\"", "\"\\u0001\\\"\\\\\"");
    check("9223372036854775807", "9223372036854775807");
    check("9223372036854775808", "9.223372036854776e+18");
    check("[]", "[]");
    check("{}", "{}");
    check("null", "null");
    check("", "null");
}

#[test]
fn other_text_is_a_string_of_itself() {
    for text in [
        "hello",
        "{a:1}",
        "[1,]",
        "{\"a\":1,}",
        "'x'",
        "01",
        "+1",
        ".5",
        "1.",
        "1e",
        "tru",
        "\"\t\"",
        "\"",
        "[1",
        "{\"a\"}",
        "{} x",
        "\"\\ud800\"",
        "\"\\u+123\"",
        "NaN",
        " ",
        "-",
    ] {
        assert_eq!(
            parse_json(text),
            Dynamic::String(text.to_owned()),
            "{text:?}"
        );
        assert_eq!(Dynamic::from_json(text), None, "{text:?}");
    }
}

#[test]
fn a_key_given_twice_keeps_its_first_place_and_last_value() {
    check(
        r#"{"a":1,"b":2,"a":{"a":3,"c":[4]},"b":5,"d":6}"#,
        r#"{"a":{"a":3,"c":[4]},"b":5,"d":6}"#,
    );
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check(&nested(MAX_DEPTH), &nested(MAX_DEPTH));
    assert_eq!(Dynamic::from_json(&nested(MAX_DEPTH + 1)), None);
    assert_eq!(Dynamic::from_json(&nested(1_000_000)), None);
}

#[test]
fn canonical_json_sorts_the_keys_at_every_level() {
    let value = Dynamic::from_json(r#"{"z":{"y":1,"x":2},"a":[{"d":0,"c":0}]}"#).unwrap();
    assert_eq!(
        value.to_canonical_json(),
        r#"{"a":[{"c":0,"d":0}],"z":{"x":2,"y":1}}"#
    );
}

#[test]
fn access_by_key_and_index() {
    let bytes = encode(r#"{"users":[{"name":"Ada"},{"name":"Bob"}],"Count":2,"none":null}"#);
    let value = DynamicRef::new(&bytes);
    let users = value.get_key("users").unwrap();
    assert_eq!(
        (value.len(), users.len(), users.get_index(0).unwrap().len()),
        (3, 2, 1)
    );
    assert_eq!(
        users
            .get_index(-1)
            .and_then(|u| u.get_key("name")?.as_str()),
        Some("Bob")
    );
    assert_eq!(value.get_key("Count").and_then(DynamicRef::as_i64), Some(2));
    assert!(value.get_key("none").is_some_and(DynamicRef::is_null));
    for missing in [
        value.get_key("count"),
        value.get_key("name"),
        value.get_index(0),
        users.get_index(2),
        users.get_index(-3),
        users.get_index(i64::MIN),
        users.get_key("0"),
        DynamicRef::NULL.get_key("x"),
    ] {
        assert!(missing.is_none());
    }
}

#[test]
fn gettype_names() {
    let bytes = encode(r#"[[], {}, null, 1, 1.5, "s", true]"#);
    let names: Vec<_> = DynamicRef::new(&bytes)
        .iter_array()
        .map(DynamicRef::type_name)
        .collect();
    assert_eq!(
        names,
        [
            "array",
            "dictionary",
            "null",
            "long",
            "double",
            "string",
            "bool"
        ]
    );
}

#[test]
fn longs_of_every_size_round_trip() {
    for base in [0, 1 << 7, 1 << 15, 1 << 31, i64::MAX] {
        for value in [base - 1, base, -base, -base - 1] {
            assert_eq!(
                Dynamic::decode(&Dynamic::Long(value).encode()),
                Dynamic::Long(value)
            );
        }
    }
}

#[test]
fn strings_of_every_size_round_trip() {
    for len in [0, 1, 63, 64, 255, 256, 70_000] {
        let value = Dynamic::Array(vec![Dynamic::String("x".repeat(len)), Dynamic::Long(1)]);
        assert_eq!(Dynamic::decode(&value.encode()), value);
    }
}

#[test]
fn wide_bags_and_arrays_round_trip() {
    for count in [24, 25, 255, 256, 70_000] {
        let bag = Dynamic::Bag(
            (0..count)
                .rev()
                .map(|i| (format!("k{i}"), Dynamic::Long(i)))
                .collect(),
        );
        let bytes = bag.encode();
        assert_eq!(Dynamic::decode(&bytes), bag);
        let last = DynamicRef::new(&bytes).get_key(&format!("k{}", count - 1));
        assert_eq!(last.and_then(DynamicRef::as_i64), Some(count - 1));
        let array = Dynamic::Array((0..count).map(Dynamic::Long).collect());
        assert_eq!(Dynamic::decode(&array.encode()), array);
    }
}

#[test]
fn datetimes_keep_every_tick() {
    for text in [
        "0001-01-01",
        "1600-01-01 00:00:00.000001",
        "2031-03-09 07:08:09.1234567",
        "9999-12-31",
    ] {
        let value = Dynamic::DateTime(datetime::parse(text).unwrap());
        assert_eq!(Dynamic::decode(&value.encode()), value, "{text}");
    }
    let last_tick = Dynamic::DateTime(datetime::parse("9999-12-31 23:59:59.9999999").unwrap());
    assert_eq!(last_tick.to_json(), "\"9999-12-31T23:59:59.9999999Z\"");
}

#[test]
fn a_nested_value_stands_alone() {
    let bytes = encode(r#"{"b":{"d":[1,{"c":"x"}],"a":2},"s":"text"}"#);
    let value = DynamicRef::new(&bytes);
    for (key, expected) in [("b", r#"{"d":[1,{"c":"x"}],"a":2}"#), ("s", "\"text\"")] {
        let mut alone = Vec::new();
        value.get_key(key).unwrap().to_encoded(&mut alone);
        assert_eq!(DynamicRef::new(&alone).to_json(), expected);
    }
}

#[test]
fn the_bag_builder_is_reusable() {
    let inner = encode(r#"{"y":1,"x":[true]}"#);
    let mut bag = BagBuilder::new();
    let mut bytes = Vec::new();
    for round in 0..3 {
        assert!(bag.is_empty());
        bag.string("name", "first");
        bag.long("round", round);
        bag.real("ms", 1.0);
        bag.bool("ok", true);
        bag.null("none");
        bag.dynamic("inner", DynamicRef::new(&inner));
        bag.string("name", "second");
        assert!(!bag.is_empty());
        bytes.clear();
        bag.finish_into(&mut bytes);
        let expected = format!(
            r#"{{"name":"second","round":{round},"ms":1.0,"ok":true,"none":null,"inner":{{"y":1,"x":[true]}}}}"#
        );
        assert_eq!(DynamicRef::new(&bytes).to_json(), expected);
    }
    assert_eq!(DynamicRef::new(&bag.finish()).to_json(), "{}");
}

#[test]
fn encoding_text_directly_and_by_the_tree_is_the_same() {
    let json = r#"{"b":[{"a":1},{"b":2.5}],"a":"é"}"#;
    let mut direct = Vec::new();
    parse_json_into(json, &mut direct);
    assert_eq!(direct, encode(json));
}

/// Every cut and every changed byte of a value reads as something, without a panic.
#[test]
fn corrupt_bytes_never_panic() {
    let bytes = encode(r#"{"b":{"d":[1,2.5,{"c":"xyz"}],"a":300},"s":"text","t":true,"n":null}"#);
    let read = |bytes: &[u8]| {
        let value = DynamicRef::new(bytes);
        let mut out = Vec::new();
        value.to_encoded(&mut out);
        let found = value
            .get_key("b")
            .and_then(|b| b.get_key("d")?.get_index(-1)?.to_long());
        (value.to_canonical_json(), value.to_owned(), out, found)
    };
    for end in 0..bytes.len() {
        let _ = read(&bytes[..end]);
    }
    for at in 0..bytes.len() {
        for change in [0x01, 0x03, 0x04, 0x10, 0x40, 0x80, 0xFF] {
            let mut corrupt = bytes.clone();
            corrupt[at] ^= change;
            let _ = read(&corrupt);
        }
    }
    for junk in [
        &[][..],
        &[1],
        &[1, 0],
        &[1, 0, 0],
        &[0xC1, 255, 255, 255, 255],
        &[1, 0, 0, 0x40],
    ] {
        assert_eq!(DynamicRef::new(junk).to_json(), "null");
    }
}
