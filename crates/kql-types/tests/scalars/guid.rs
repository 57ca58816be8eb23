//! Guids: parsing and text form.

use hindsight_kql_types::guid::{parse, parse_braced, to_text};

const TEXT: &str = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";

#[test]
fn text_to_guid() {
    for text in [
        TEXT,
        "0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "0a1b2c3d4e5f-6071-8293-a4b5c6d7-e8f9",
    ] {
        assert_eq!(
            parse(text).map(|guid| to_text(&guid)).as_deref(),
            Some(TEXT),
            "{text:?}"
        );
    }
    for text in [
        "",
        "x",
        &TEXT[1..],
        "{0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9}",
        "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f90",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn braces_are_for_the_parse_operator() {
    assert_eq!(parse_braced(&format!("{{{TEXT}}}")), parse(TEXT));
    assert_eq!(parse_braced(TEXT), parse(TEXT));
    assert_eq!(parse_braced("{"), None);
}
