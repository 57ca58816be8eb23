//! Syntax errors: code, message and position.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use hindsight_kql_syntax::{parse, parse_expression};

/// Checks the first error: line from 1, column from 0, and the token.
#[track_caller]
fn check(text: &str, line: usize, column: usize, token: &str) {
    let parsed = parse(text);
    let Some(first) = parsed.diagnostics.first() else {
        panic!("no error in {text}");
    };
    assert_eq!(first.code.as_str(), "SYN0002", "{text}");
    assert_eq!(first.position(text), (line, column, token), "{text}");
    let message = format!("Query could not be parsed at '{token}' on line [{line},{column}]");
    assert!(first.message.starts_with(&message), "{text}");
}

/// Checks the messages of all errors.
#[track_caller]
fn check_messages(text: &str, expected: &[&str]) {
    let parsed = parse(text);
    let messages: Vec<&str> = parsed
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(messages, expected, "{text}");
}

#[test]
fn an_error_without_a_hint_has_the_recorded_message() {
    check_messages(
        "union * | foobar",
        &["Query could not be parsed at 'foobar' on line [1,10]"],
    );
}

#[test]
fn an_unclosed_bracket_is_named_where_it_was_opened() {
    check_messages(
        "T\n| where strlen((a) > 1\n| count",
        &[
            "Query could not be parsed at '' on line [3,7]. The bracket '(' on line [2,14] is not closed.",
        ],
    );
    check_messages(
        "T | where a in (1, 2] | project b c",
        &[
            "Query could not be parsed at ']' on line [1,20]. The bracket '(' on line [1,15] is not closed.",
            "Query could not be parsed at 'c' on line [1,34]. The bracket '(' on line [1,15] is not closed.",
        ],
    );
    check_messages(
        "let f = () { T | count; f",
        &[
            "Query could not be parsed at '' on line [1,25]. The bracket '{' on line [1,11] is not closed.",
        ],
    );
    check_messages(
        "T | where a) | project b c",
        &[
            "Query could not be parsed at ')' on line [1,11]. No bracket is open here.",
            "Query could not be parsed at 'c' on line [1,25]. Is an operator or a comma missing before 'c'?",
        ],
    );
}

#[test]
fn a_missing_pipe_or_operator_is_suggested() {
    check_messages(
        "T where a == | sort by b project-away c d",
        &[
            "Query could not be parsed at 'where' on line [1,2]. Is a '|' missing before 'where'?",
            "Query could not be parsed at '|' on line [1,13]",
            "Query could not be parsed at 'project' on line [1,25]. Is a '|' missing before 'project-away'?",
            "Query could not be parsed at 'd' on line [1,40]. Is an operator or a comma missing before 'd'?",
        ],
    );
    check_messages(
        "T | where strlen(a b) > 1 | where c = 1",
        &[
            "Query could not be parsed at 'b' on line [1,19]. Is an operator or a comma missing before 'b'?",
            "Query could not be parsed at '=' on line [1,36]. Did you mean '=='?",
        ],
    );
}

#[test]
fn an_item_with_an_error_does_not_hide_the_errors_after_it() {
    check_messages(
        "T | project a = , b, c == | where f(1 +, g[), 2)",
        &[
            "Query could not be parsed at ',' on line [1,16]",
            "Query could not be parsed at '|' on line [1,26]",
            "Query could not be parsed at ',' on line [1,39]",
            "Query could not be parsed at ')' on line [1,43]. The bracket '[' on line [1,42] is not closed.",
        ],
    );
}

#[test]
fn at_most_fifty_errors_are_reported() {
    let parsed = parse(&"T | where == ; ".repeat(80));
    assert_eq!(parsed.diagnostics.len(), 50);
}

#[test]
fn the_position_is_the_first_invalid_token() {
    check("union * | foobar", 1, 10, "foobar");
    check("T\n| where a ==\n| count", 3, 0, "|");
    check("T | where", 1, 9, "");
    check("", 1, 0, "");
    check("// only a comment", 1, 17, "");
    check("é | count", 1, 0, "é");
    check("T | where ['é'] = 1", 1, 16, "=");
    check("T | where (a", 1, 12, "");
    check("T | where a)", 1, 11, ")");
    check("T | project", 1, 11, "");
    check("T | foo-bar a", 1, 4, "foo");
    check("T | where a == 'open", 1, 15, "'open");
    check("T | count x", 1, 10, "x");
}

#[test]
fn an_expression_stands_alone() {
    for text in ["count() > 2 and sum(duration) < 1s", "a between (1 .. 2)"] {
        assert_eq!(parse_expression(text).unwrap().to_string(), text);
    }
    for (text, column, token) in [
        ("count() >", 9, ""),
        ("1 2", 2, "2"),
        ("", 0, ""),
        ("T | count", 2, "|"),
    ] {
        let diagnostics = parse_expression(text).unwrap_err();
        assert_eq!(diagnostics[0].position(text), (1, column, token), "{text}");
    }
}

#[test]
fn a_misspelt_operator_gets_a_hint() {
    for (text, expected) in [
        (
            "T | sumarize count()",
            "Query could not be parsed at 'sumarize' on line [1,4]. Did you mean 'summarize'?",
        ),
        (
            "T | proyect-away a",
            "Query could not be parsed at 'proyect' on line [1,4]. Did you mean 'project-away'?",
        ),
        (
            "T | choose a",
            "Query could not be parsed at 'choose' on line [1,4]",
        ),
    ] {
        let parsed = parse(text);
        let messages: Vec<&str> = parsed
            .diagnostics
            .iter()
            .map(|d| d.message.as_str())
            .collect();
        assert_eq!(messages, [expected]);
    }
}

#[test]
fn forms_that_the_cloud_refuses() {
    check("datatable(s:string)['a', null]", 1, 25, "null");
    check("datatable(r:real)[0.0/0.0]", 1, 21, "/");
    check("T | extend first = 1", 1, 11, "first");
    check("datatable(asc:long)[1]", 1, 10, "asc");
    check("T | extend has = 1", 1, 11, "has");
    check("T | where b or not b", 1, 19, "b");
    check("T | top 2 by a, b", 1, 14, ",");
    check(
        "T | top-nested 2 of a by count() with others = 'x'",
        1,
        33,
        "with",
    );
    check("T | make-series count() on t step 1 by = 'all'", 1, 39, "=");
    check("print int(2147483648)", 1, 10, "2147483648");
    check("print datetime(20 20)", 1, 15, "20 20");
    check("macro-expand entity_group [] as s (s.T)", 1, 27, "]");
    check("T | lookup U", 1, 12, "");
    check("T | where a !has_any ('x')", 1, 12, "!has_any");
}

#[test]
fn all_errors_are_reported() {
    let parsed = parse("T | where == | project a | foobar | count; U | where )");
    let places: Vec<u32> = parsed.diagnostics.iter().map(|d| d.span.start).collect();
    assert_eq!(places, [10, 27, 53]);
}

#[test]
fn management_commands_have_their_own_code() {
    let parsed = parse(".show tables");
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["SYN0100"]);
}
