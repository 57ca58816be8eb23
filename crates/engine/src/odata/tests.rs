//! OData text and the KQL that it means.

use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_types::ScalarType;

use super::*;

/// A handful of properties: one of each kind.
fn resolve(path: &str) -> Result<Resolved, String> {
    let of = |column: &str, kind| {
        Ok(Resolved {
            expr: Expr::name(column),
            kind,
        })
    };
    match path {
        "timestamp" => of("timestamp", Kind::of(ScalarType::DateTime)),
        "request/name" => of("name", Kind::Text),
        "request/duration" => of("duration", Kind::Number),
        "browserTiming/totalDuration" => of("totalDuration", Kind::Number),
        "request/success" => of("success", Kind::Flag),
        "exception/details" => of("details", Kind::List),
        _ => match path.strip_prefix("customDimensions/") {
            Some(k) => Ok(Resolved {
                expr: Expr::call(
                    "tostring",
                    vec![Expr::key(Expr::name("customDimensions"), k)],
                ),
                kind: Kind::Loose,
            }),
            None => Err(format!("no property {path}")),
        },
    }
}

fn translate(text: &str) -> Result<String, Fault> {
    parse(text)
        .and_then(|node| predicate(&node, &resolve))
        .map(|predicate| predicate.expr.to_string())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(translate(text).as_deref(), Ok(expected), "{text}");
}

#[track_caller]
fn refused(text: &str, at: usize, part: &str) {
    match translate(text) {
        Err(fault) => {
            assert_eq!(fault.at, at, "{text}: {}", fault.message);
            assert!(fault.message.contains(part), "{text}: {}", fault.message);
        }
        Ok(kql) => panic!("{text} became {kql}"),
    }
}

/// `D15`: what goes before the condition adds the column that it reads.
#[test]
fn lambdas_look_at_the_members_of_a_list() {
    let node = parse("exception/details/all(d: contains(d/message,'x'))").unwrap();
    let found = predicate(&node, &resolve).unwrap();
    assert_eq!(found.expr.to_string(), "['$lambda/0']");
    let operators: Vec<String> = filters(vec![found])
        .iter()
        .map(|operator| operator.kind.to_string())
        .collect();
    let flat = operators.join(" | ");
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        flat,
        "mv-apply $member = iff(array_length(details) > 0, details, dynamic([null])) on (summarize ['$lambda/0'] = \
         countif(isnotnull($member) and not(tostring($member[\"message\"]) contains_cs \"x\")) == 0) \
         | where ['$lambda/0'] | project-away ['$lambda/0']"
    );
}

#[test]
fn comparisons_keep_their_types() {
    check("request/name eq 'GET /'", r#"name == "GET /""#);
    check("request/name ne 'it''s'", r#"name != "it's""#);
    check("request/name ge 'a'", r#"strcmp(name, "a") >= 0"#);
    check("request/duration gt 5", "duration > 5");
    check("request/duration le -1.5", "duration <= real(-1.5)");
    check(
        "timestamp ge 2025-03-06",
        "timestamp >= datetime(2025-03-06)",
    );
    check(
        "timestamp gt now() sub duration'P1D'",
        "timestamp > now() - 1d",
    );
    check("request/name in ('a','b')", r#"name in ("a", "b")"#);
    check("request/duration in (1,2)", "duration in (1, 2)");
}

#[test]
fn success_is_text_and_a_truth_value() {
    check("request/success eq 'False'", r#"success == "False""#);
    check("request/success eq false", r#"success in ("False", "0")"#);
    check("request/success ne true", r#"success !in ("True", "1")"#);
    check("not request/success", r#"not(success in ("True", "1"))"#);
}

#[test]
fn dimensions_are_read_as_what_they_are_beside() {
    check(
        "customDimensions/plan eq 'gold'",
        r#"tostring(customDimensions["plan"]) == "gold""#,
    );
    check(
        "customDimensions/http-code.x/y eq 500",
        r#"tostring(customDimensions["http-code.x/y"]) == "500""#,
    );
    check(
        "customDimensions/n in (5,'x')",
        r#"tostring(customDimensions["n"]) in ("5", "x")"#,
    );
    check(
        "customDimensions/n gt 5",
        r#"todouble(tostring(customDimensions["n"])) > 5"#,
    );
    check(
        "customDimensions/beta eq true",
        r#"tostring(customDimensions["beta"]) in ("True", "true")"#,
    );
}

#[test]
fn absent_values_follow_odata() {
    check("request/name eq null", "isempty(name)");
    check("request/duration ne null", "isnotnull(duration)");
    check(
        "not (request/duration gt 5)",
        "not(coalesce(duration > 5, false))",
    );
    check("not (request/duration eq 5)", "not(duration == 5)");
    check(
        "request/duration eq browserTiming/totalDuration",
        "coalesce(duration == totalDuration, false) or isnull(duration) and isnull(totalDuration)",
    );
}

#[test]
fn operators_bind_as_odata_says() {
    check(
        "request/name eq 'a' or request/name eq 'b' and request/duration lt 1",
        r#"name == "a" or name == "b" and duration < 1"#,
    );
    check(
        "(request/name eq 'a' or request/name eq 'b') and request/duration lt 1",
        r#"(name == "a" or name == "b") and duration < 1"#,
    );
    check("request/duration add 1 mul 2 eq 7", "duration + 1 * 2 == 7");
    check(
        "(request/duration add 1) mul 2 eq 7",
        "(duration + 1) * 2 == 7",
    );
    check("-request/duration lt 0", "-duration < 0");
    check("request/duration EQ 1 AND true", "duration == 1 and true");
}

#[test]
fn functions_have_their_kql() {
    check("contains(request/name,'a')", r#"name contains_cs "a""#);
    check(
        "not startswith(request/name,'a')",
        r#"not(name startswith_cs "a")"#,
    );
    check(
        "length(trim(request/name)) gt 3",
        r#"strlen(trim("\\s+", name)) > 3"#,
    );
    check(
        "substring(request/name,1,2) eq 'b'",
        r#"substring(name, 1, 2) == "b""#,
    );
    check(
        "year(timestamp) eq 2025",
        r#"datetime_part("year", timestamp) == 2025"#,
    );
    check(
        "date(timestamp) eq 2025-03-06",
        "startofday(timestamp) == datetime(2025-03-06)",
    );
    check(
        "round(request/duration) eq 3",
        "round(todouble(duration)) == 3",
    );
    check(
        "concat(request/name,'!') eq 'a!'",
        r#"strcat(name, "!") == "a!""#,
    );
}

#[test]
fn faults_have_their_place() {
    refused("", 0, "ends where a property");
    refused("request/name eq", 15, "ends where a property");
    refused("request/name eq 'a", 16, "no closing quote");
    refused("request/name = 'a'", 13, "has no meaning");
    refused("request/name 'a'", 13, "operator");
    refused("é eq 1", 0, "no property é");
    refused(
        "request/name eq 'é' and nothing eq 1",
        24,
        "no property nothing",
    );
    refused("request/name eq 5", 13, "compares text with a number");
    refused(
        "timestamp gt 'yesterday'",
        10,
        "compares a date and time with text",
    );
    refused("request/name", 0, "condition is expected");
    refused(
        "cast(request/name,Edm.Int32) eq 1",
        0,
        "'cast' is not supported",
    );
    refused("contains(request/name) eq true", 0, "takes 2");
    refused("request/name/any(n: n eq 'x')", 0, "the members of a list");
    refused("exception/details/all()", 22, "A name for the members");
    refused("exception/details/any(d d/type eq 'x')", 24, "':'");
    refused(
        "exception/details/any(d: d/type)",
        25,
        "condition is expected",
    );
    refused(
        "exception/details/any(d: d/parsedStack/any(f: f/line eq 1))",
        25,
        "outside of other lambdas",
    );
    refused(
        "guid'00000000-0000-0000-0000-000000000000' eq 1",
        0,
        "older OData",
    );
    refused("timestamp gt 2025-99-99", 13, "not a number, a date");
    refused("(request/name eq 'a'", 20, "')'");
    refused("request/name eq 'a')", 19, "operator");
    refused("customDimensions/ eq 'a'", 17, "key is expected");
}

#[test]
fn depth_is_bounded_and_length_is_not() {
    let nested = |n: usize| format!("{}true{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(translate(&nested(150)).as_deref(), Ok("true"));
    refused(&nested(10_000), 200, "nested more than 200");
    refused(
        &format!("{}true", "not ".repeat(10_000)),
        800,
        "nested more than 200",
    );
    let sum = format!("request/duration {} eq 0", vec!["add 1"; 5_000].join(" "));
    assert!(translate(&sum).is_err_and(|fault| fault.message.contains("nested")));
    let long = vec!["request/duration eq 1"; 2_000].join(" or ");
    assert!(translate(&long).is_ok());
}

#[test]
fn nesting_does_not_multiply() {
    let inner = format!(
        "{}time(timestamp){}",
        "time(timestamp add ".repeat(60),
        ")".repeat(60)
    );
    let nested = format!("timestamp add {inner} gt now()");
    assert!(translate(&nested).is_ok_and(|kql| kql.len() < 10_000));
    let lists = format!("true {}", "in (true,request/success) ".repeat(100));
    refused(&lists, 5, "truth value");
    let remainders = format!("request/duration {} eq 0", "mod 2 ".repeat(100));
    assert!(translate(&remainders).is_err_and(|fault| fault.message.contains("'mod'")));
    check(
        "request/duration mod 2 eq 1",
        "iff(duration < 0 and duration % 2 != 0, duration % 2 - abs(2), duration % 2) == 1",
    );
    check("time(timestamp) lt 12:00:00", "timestamp % 1d < 12h");
}

#[test]
fn dimensions_of_metrics_are_text() {
    let dimension = |path: &str| match path {
        "client/city" => Ok(Expr::name("client_City")),
        "request/resultCode" => Ok(Expr::name("resultCode")),
        _ => Err(format!("'{path}' is not a dimension")),
    };
    let filter = |text: &str| {
        dimension_filter(text, &dimension)
            .map(|expr| expr.to_string())
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        filter("client/city eq 'Boydton'").as_deref(),
        Ok(r#"client_City == "Boydton""#)
    );
    assert_eq!(
        filter("request/resultCode eq 500").as_deref(),
        Ok(r#"resultCode == "500""#)
    );
    assert_eq!(
        filter("client/town eq 'x'"),
        Err("'client/town' is not a dimension".to_owned())
    );
}

#[test]
fn searches_have_words_phrases_and_logic() {
    let word = |text: &str| Search::Word(text.to_owned());
    let phrase = |text: &str| Search::Phrase(text.to_owned());
    for (text, expected) in [
        ("fail", Ok(word("fail"))),
        ("a b", Ok(Search::And(vec![word("a"), word("b")]))),
        (
            r#"a AND "b \"c\"""#,
            Ok(Search::And(vec![word("a"), phrase(r#"b "c""#)])),
        ),
        (
            "a b OR c",
            Ok(Search::Or(vec![
                Search::And(vec![word("a"), word("b")]),
                word("c"),
            ])),
        ),
        (
            "NOT (a OR b)",
            Ok(Search::Not(Box::new(Search::Or(vec![
                word("a"),
                word("b"),
            ])))),
        ),
        ("", Err(0)),
        ("a OR", Err(4)),
        ("(a", Err(2)),
        ("a)", Err(1)),
        (r#"x "a"#, Err(2)),
    ] {
        assert_eq!(
            parse_search(text).map_err(|fault| fault.at),
            expected,
            "{text}"
        );
    }
    assert_eq!(
        parse_search(&"(".repeat(10_000)).map_err(|fault| fault.at),
        Err(200)
    );
    assert!(parse_search(&"a ".repeat(51)).is_err());
}

#[test]
fn lists_and_numbers() {
    let keys = order_by("timestamp desc, request/duration")
        .map(|keys| keys.iter().map(|k| k.descending).collect());
    assert_eq!(keys, Ok(vec![true, false]));
    assert_eq!(
        order_by("timestamp down").map_err(|fault| fault.at),
        Err(10)
    );
    assert_eq!(
        order_by("timestamp | take 1").map_err(|fault| fault.at),
        Err(10)
    );
    assert_eq!(
        paths("id, request/name"),
        Ok(vec![("id".to_owned(), 0), ("request/name".to_owned(), 4)])
    );
    assert_eq!(paths("*"), Ok(Vec::new()));
    for (text, expected) in [
        ("0", Some(0)),
        ("10000", Some(10_000)),
        ("10001", None),
        ("-1", None),
        ("9223372036854775808", None),
        ("x", None),
    ] {
        assert_eq!(whole_number(text, 10_000).ok(), expected, "{text}");
    }
    assert_eq!((flag("TRUE").ok(), flag("1").ok()), (Some(true), None));
}
