//! Expressions: the tree of a text, shown by the printed text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use hindsight_kql_syntax::ast::{Expr, ExprKind, LetValue, Literal, Statement};
use hindsight_kql_syntax::parse;

/// Checks that `text`, bound by a `let`, prints as `expected`, and that this parses to an equal tree.
#[track_caller]
fn check(text: &str, expected: &str) {
    let parsed = parse(&format!("let v = {text};"));
    assert_eq!(parsed.diagnostics, [], "{text}");
    let printed = parsed.query.to_string();
    assert_eq!(printed, format!("let v = {expected}"), "{text}");
    let again = parse(&printed);
    assert_eq!(again.diagnostics, [], "{printed}");
    assert_eq!(again.query, parsed.query, "{printed}");
}

/// Checks that an expression is refused.
#[track_caller]
fn check_refused(text: &str) {
    assert_ne!(parse(&format!("print {text}")).diagnostics, [], "{text}");
}

/// The literal that an expression is.
#[track_caller]
fn literal(text: &str) -> Literal {
    let parsed = parse(&format!("let v = {text};"));
    assert_eq!(parsed.diagnostics, [], "{text}");
    match parsed.query.statements.into_iter().next() {
        Some(Statement::Let(statement)) => match statement.value {
            LetValue::Expr(Expr {
                kind: ExprKind::Literal(literal),
                ..
            }) => literal,
            other => panic!("{text} is no literal: {other:?}"),
        },
        other => panic!("{text} is no let: {other:?}"),
    }
}

#[test]
fn precedence_and_grouping() {
    check("1+2*3-4%5", "1 + 2 * 3 - 4 % 5");
    check("(1 + 2) * 3", "(1 + 2) * 3");
    check("a or b and not(c) == d", "a or b and not(c) == d");
    check("-a.b[0]", "-a.b[0]");
    check("a - -5", "a - -5");
    check("a <> b and c!~'x'", "a != b and c !~ \"x\"");
    check(
        "x between (1 .. 2+3) and y !between (a..b)",
        "x between (1 .. 2 + 3) and y !between (a .. b)",
    );
    check(
        "s in~ ('a', \"b\") or n !in (1)",
        "s in~ (\"a\", \"b\") or n !in (1)",
    );
    check(
        "s has_any (T | project name)",
        "s has_any (T | project name)",
    );
    check("s matches regex @'\\d+'", "s matches regex \"\\\\d+\"");
    check(
        "s !startswith_cs 'x' and s notlike '%y'",
        "s !startswith_cs \"x\" and s notlike \"%y\"",
    );
}

#[test]
fn comparisons_do_not_chain() {
    check_refused("a == b == c");
    check_refused("a < b has c");
    check_refused("not a");
    check_refused("a && b");
    check_refused("a ? b : c");
    check_refused("a in b");
}

#[test]
fn paths_calls_and_names() {
    check("d.a['b c'][-1].['e']", "d.a[\"b c\"][-1][\"e\"]");
    check("split(s, ',')[0]", "split(s, \",\")[0]");
    check("['my col'] + [\"other\"]", "['my col'] + other");
    check(
        "cluster('c').database(\"d\").T",
        "cluster(\"c\").database(\"d\").T",
    );
    check("f(a, depth=2)", "f(a, depth=2)");
    check("arg_max(t, *)", "arg_max(t, *)");
    check(
        "toscalar kind=nooptimization (T | count)",
        "toscalar(T | count)",
    );
    check("toscalar(print 1)", "toscalar(print 1)");
    check(
        "count + order + from + range",
        "count + order + from + range",
    );
    check("typeof(*, x:real)", "typeof(*, x:real)");
    check("5h_average + 1L", "5h_average + 1L");
    check("d.first.where", "d.first.where");
}

#[test]
fn number_literals() {
    assert_eq!(literal("12"), Literal::Long(12));
    assert_eq!(literal("0x8000000000000000"), Literal::Long(i64::MIN));
    assert_eq!(
        literal("long(-9223372036854775808)"),
        Literal::Long(i64::MIN)
    );
    assert_eq!(literal("long(0xFFFFFFFFFFFFFFFF)"), Literal::Long(-1));
    assert_eq!(literal("int(0xFFFFFFFF)"), Literal::Int(-1));
    assert_eq!(literal("int(010)"), Literal::Int(10));
    assert_eq!(literal("1."), Literal::Real(1.0));
    assert_eq!(literal("real(-inf)"), Literal::Real(f64::NEG_INFINITY));
    assert_eq!(
        literal("decimal(+01.50E3)"),
        Literal::Decimal("1.50e3".into())
    );
    assert_eq!(literal("bool(1)"), Literal::Bool(true));
    for text in [
        "-9223372036854775808",
        "9223372036854775808",
        "int(2147483648)",
        "int(1.0)",
        "long(-0x1)",
        "1_0",
        "real(abc)",
        "long(x)",
        "0x12345678901234567",
        "string(null)",
        "null",
        "timespan(column)",
        "guid(12)",
    ] {
        // The parser knows only literal forms; `null` and calls of unknown names are names.
        let refused = !matches!(text, "null" | "string(null)");
        assert_eq!(
            !parse(&format!("print {text}")).diagnostics.is_empty(),
            refused,
            "{text}"
        );
    }
}

#[test]
fn time_literals() {
    const DAY: i64 = 864_000_000_000;
    assert_eq!(literal("1.5h"), Literal::TimeSpan(DAY / 16));
    assert_eq!(literal("150nanoseconds"), Literal::TimeSpan(1));
    assert_eq!(literal("time(2)"), Literal::TimeSpan(2 * DAY));
    assert_eq!(
        literal("timespan(-1.00:00:00.0000001)"),
        Literal::TimeSpan(-DAY - 1)
    );
    assert_eq!(
        literal("timespan(15 seconds)"),
        Literal::TimeSpan(150_000_000)
    );
    assert_eq!(literal("datetime(0001-01-02)"), Literal::DateTime(DAY));
    assert_eq!(
        literal("datetime(2025, 6)"),
        literal("datetime(2025-06-01T00:00:00Z)")
    );
    assert_eq!(
        literal("datetime(2025, 6, 14, 1, 2, 3.5)"),
        literal("datetime('2025-06-14 01:02:03.5')")
    );
    assert_eq!(
        literal("datetime(2020-01-01T02:00:00+02:00)"),
        literal("date(2020-01-01)")
    );
    assert_eq!(literal("datetime()"), Literal::DateTimeNow);
    check(
        "datetime(2020-02-29 13:45:56.7890000)",
        "datetime(2020-02-29T13:45:56.789Z)",
    );
    check("time(1.12:00)", "36h");
    check("time(-00:00:01)", "time(-00:00:01)");
}

#[test]
fn strings() {
    let text = |source: &str| match literal(source) {
        Literal::String(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text(r#""a\t\"b\" \u0041\x42\103""#), "a\t\"b\" ABC");
    assert_eq!(text(r#""\uD83D\uDE00""#), "\u{1f600}");
    assert_eq!(text("'it''s'"), "its");
    assert_eq!(text("@'it''s \\d'"), "it's \\d");
    assert_eq!(text("'a' \"b\"\n@'c'"), "abc");
    assert_eq!(text("h'secret'"), "secret");
    assert_eq!(text("```a\n'b'```"), "a\n'b'");
    assert_eq!(text("~~~x```y~~~"), "x```y");
    check_refused(r#""\d""#);
    check_refused("'open");
    check(
        "'line\\nbreak \\u0001 \\\\'",
        "\"line\\nbreak \\u0001 \\\\\"",
    );
}

#[test]
fn dynamic_literals() {
    check(
        "dynamic({'a': [1, -2.5, 'x' 'y', null, true,], \"b\": {}})",
        "dynamic({\"a\": [1, -2.5, \"xy\", null, true], \"b\": {}})",
    );
    check(
        "dynamic([1d, 0x10, long(null), real(nan)])",
        "dynamic([864000000000, 16, null, \"NaN\"])",
    );
    check(
        "dynamic([datetime(2020-01-01), dynamic([\"a\\/b\"])])",
        "dynamic([datetime(2020-01-01), [\"a/b\"]])",
    );
    check(
        "dynamic(guid(0123456789ABCDEF0123456789abcdef))",
        "dynamic(\"01234567-89ab-cdef-0123-456789abcdef\")",
    );
    check("dynamic(null)", "dynamic(null)");
    check_refused("dynamic([datetime(null)])");
    check_refused("dynamic([bool(true)])");
    check_refused("dynamic({a: 1})");
    check_refused("dynamic([1)");
}

#[test]
fn a_star_between_operands_of_an_argument_multiplies() {
    check("f(a*b, a*2)", "f(a * b, a * 2)");
    check("f(x, *)", "f(x, *)");
    check("f(a*, *_id)", "f(a*, *_id)");
}
