//! Requests for events and the KQL that they mean.

use super::*;
use crate::error::EngineError;
use crate::request::{EventParameters, EventsParameters};

/// 2025-03-06T12:00:00Z.
fn now() -> i64 {
    hindsight_kql_types::datetime::parse("2025-03-06T12:00:00Z").unwrap_or_default()
}

/// The parameters `name=value` of a request.
fn request(event_type: &str, parameters: &[(&str, &str)]) -> EventsParameters {
    let value = |wanted: &str| {
        parameters
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, v)| (*v).to_owned())
    };
    EventsParameters {
        event_type: event_type.to_owned(),
        timespan: value("timespan"),
        filter: value("$filter"),
        search: value("$search"),
        orderby: value("$orderby"),
        select: value("$select"),
        skip: value("$skip"),
        top: value("$top"),
        count: value("$count"),
        apply: value("$apply"),
    }
}

/// The query of a request whose time and rows are bounded: what stands between the time and the sort.
#[track_caller]
fn check_filter(event_type: &str, odata: &str, expected: &str) {
    let parameters = request(
        event_type,
        &[("timespan", "PT1H"), ("$top", "1"), ("$filter", odata)],
    );
    let text = plan(&parameters, now())
        .map(|plan| plan.query.to_string())
        .unwrap_or_else(|e| format!("{e:?}"));
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    assert_eq!(
        parts.get(2).copied(),
        Some(format!("where {expected}").as_str()),
        "{text}"
    );
}

#[track_caller]
fn refused(parameters: &[(&str, &str)], parameter: &str, at: Option<usize>, part: &str) {
    match plan(&request("requests", parameters), now()) {
        Err(EngineError::BadParameter {
            parameter: p,
            message,
            position,
        }) => {
            assert_eq!((p.as_str(), position), (parameter, at), "{message}");
            assert!(message.contains(part), "{message}");
        }
        other => panic!("{parameters:?} gave {other:?}"),
    }
}

#[test]
fn a_request_without_limits_is_limited_with_a_notice() {
    let plan = plan(&request("traces", &[]), now()).unwrap_or_else(|e| panic!("{e}"));
    let text = plan.query.to_string();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        flat,
        "traces | where timestamp >= datetime(2025-03-06) and timestamp < datetime(2025-03-06T12:00:00Z) \
         | sort by timestamp desc, itemId asc | take 500"
    );
    let said: Vec<&str> = plan
        .messages
        .iter()
        .map(|(_, message)| message.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "The query was limited to last 12 hours, since no other limit for timestamp field was specified",
            "The query was limited to 500 rows"
        ]
    );
    assert!(
        plan.messages
            .iter()
            .all(|(code, _)| code == "AddedLimitToQuery")
    );
    assert_eq!((plan.skip, plan.select, plan.count), (0, None, None));
}

#[test]
fn limits_of_the_request_need_no_notice() {
    for (time, value) in [
        ("timespan", "PT1H"),
        ("$filter", "timestamp gt now() sub duration'P1D'"),
    ] {
        let plan = plan(&request("traces", &[(time, value), ("$top", "10")]), now());
        assert_eq!(
            plan.map(|plan| plan.messages).ok(),
            Some(Vec::new()),
            "{time}"
        );
    }
}

#[test]
fn paths_are_columns_of_the_event_type() {
    check_filter("requests", "request/name eq 'a'", r#"name == "a""#);
    check_filter(
        "requests",
        "id eq 'a' and type eq 'request'",
        r#"itemId == "a" and itemType == "request""#,
    );
    check_filter(
        "requests",
        "operation/name eq 'a'",
        r#"operation_Name == "a""#,
    );
    check_filter(
        "requests",
        "request/success eq false",
        r#"success in ("False", "0")"#,
    );
    check_filter("requests", "ai/sdkVersion eq 'x'", r#"sdkVersion == "x""#);
    check_filter(
        "traces",
        "customDimensions/k eq 'v'",
        r#"tostring(customDimensions["k"]) == "v""#,
    );
    check_filter(
        "traces",
        "customMeasurements/k gt 1",
        r#"todouble(customMeasurements["k"]) > 1"#,
    );
    check_filter(
        "browserTimings",
        "clientPerformance/name eq 'a'",
        r#"name == "a""#,
    );
}

#[test]
fn properties_of_other_types_are_absent() {
    check_filter(
        "traces",
        "request/name eq 'a' or type eq 'x'",
        r#""" == "a" or itemType == "x""#,
    );
    check_filter(
        "traces",
        "request/duration gt 1 or type eq 'x'",
        r#"real(null) > 1 or itemType == "x""#,
    );
    check_filter(
        "customMetrics",
        "customMeasurements/k gt 1",
        "real(null) > 1",
    );
    check_filter(
        "$all",
        "request/name eq 'a'",
        r#"iff(itemType == "request", name, "") == "a""#,
    );
    check_filter(
        "$all",
        "request/duration ne null",
        r#"isnotnull(iff(itemType == "request", duration, real(null)))"#,
    );
    check_filter("$all", "operation/id eq 'a'", r#"operation_Id == "a""#);
}

/// A condition on other types alone says nothing of these events: it is left out, and the reply says so.
#[test]
fn conditions_on_other_types_alone_are_left_out_and_said() {
    let parameters = [
        ("timespan", "PT1H"),
        ("$top", "1"),
        (
            "$filter",
            "request/success eq 'False' and client/city eq 'Oslo'",
        ),
    ];
    let plan = plan(&request("traces", &parameters), now()).unwrap_or_else(|e| panic!("{e}"));
    let text = plan.query.to_string();
    assert!(text.contains("where client_City == \"Oslo\""), "{text}");
    assert!(!text.contains("False"), "{text}");
    let [(code, message)] = plan.messages.as_slice() else {
        panic!("{:?}", plan.messages);
    };
    assert_eq!(code, "FilterNotApplicable");
    assert!(
        message.contains("request/success") && message.contains("traces"),
        "{message}"
    );
}

#[test]
fn rows_are_ordered_skipped_selected_and_counted() {
    let parameters = request(
        "requests",
        &[
            ("timespan", "PT1H"),
            (
                "$orderby",
                "request/duration desc,customDimensions/k, trace/message",
            ),
            ("$skip", "20"),
            ("$top", "10"),
            ("$select", "id,request/name,operation"),
            ("$count", "true"),
        ],
    );
    let plan = plan(&parameters, now()).unwrap_or_else(|e| panic!("{e}"));
    let text = plan.query.to_string();
    assert!(
        text.contains(r#"sort by duration desc, tostring(customDimensions["k"]) asc, itemId asc"#),
        "{text}"
    );
    assert!(text.ends_with("take 30"), "{text}");
    assert_eq!(plan.skip, 20);
    assert_eq!(
        plan.select.unwrap_or_default(),
        ["id", "request/name", "operation"]
    );
    let count = plan
        .count
        .map(|query| query.to_string())
        .unwrap_or_default();
    assert!(
        count.ends_with("count") && !count.contains("take"),
        "{count}"
    );
}

#[test]
fn searches_look_at_every_text() {
    let parameters = request(
        "traces",
        &[
            ("timespan", "PT1H"),
            ("$top", "1"),
            ("$search", r#"boom NOT "not found""#),
        ],
    );
    let text = plan(&parameters, now())
        .map(|plan| plan.query.to_string())
        .unwrap_or_else(|e| format!("{e:?}"));
    for part in [
        r#"message has "boom""#,
        r#"tostring(customDimensions) has "boom""#,
        "not(",
        r#"message contains "not found""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("severityLevel has"), "{text}");
}

#[test]
fn faults_name_the_parameter_and_the_place() {
    refused(
        &[("$filter", "request/nme eq 'a'")],
        "$filter",
        Some(0),
        "Did you mean 'request/name'",
    );
    refused(
        &[("$filter", "true and duration gt 1")],
        "$filter",
        Some(9),
        "request/duration",
    );
    refused(
        &[("$filter", "zzzzzzzz eq 1")],
        "$filter",
        Some(0),
        "request/resultCode",
    );
    refused(
        &[("$select", "id,nothing/here")],
        "$select",
        Some(3),
        "not a property",
    );
    refused(
        &[("$orderby", "timestamp desc; drop")],
        "$orderby",
        Some(14),
        "has no meaning",
    );
    refused(
        &[("$orderby", "customDimensions")],
        "$orderby",
        Some(0),
        "no order",
    );
    refused(&[("$top", "-1")], "$top", Some(0), "0 to 10000");
    refused(
        &[("$top", "9223372036854775808")],
        "$top",
        Some(0),
        "0 to 10000",
    );
    refused(&[("$skip", "100001")], "$skip", Some(0), "0 to 100000");
    refused(&[("$count", "maybe")], "$count", Some(0), "neither");
    refused(&[("$search", "(a")], "$search", Some(2), "')'");
    refused(&[("timespan", "P0Y")], "timespan", None, "ISO 8601");
}

#[test]
fn faults_of_apply_name_the_place() {
    for (apply, at, part) in [
        ("", 0, "A transformation such as"),
        ("expand(details)", 0, "'expand' is not supported"),
        (
            "filter(true)/concat(aggregate($count as n))",
            13,
            "'concat' is not supported",
        ),
        (
            "filter(request/nme eq 'a')",
            7,
            "Did you mean 'request/name'",
        ),
        ("filter(request/name eq 'it's')", 28, "no closing quote"),
        ("aggregate($count)", 16, "'as' and a name"),
        (
            "aggregate(request/duration as d)",
            27,
            "'with' and a method",
        ),
        (
            "aggregate(request/duration with median as d)",
            32,
            "'median' is not a method",
        ),
        (
            "aggregate(request/name with sum as d)",
            10,
            "A number or a duration",
        ),
        (
            "aggregate(customDimensions with min as d)",
            10,
            "collection",
        ),
        (
            "aggregate($count as n,$count as n)",
            32,
            "already a property 'n'",
        ),
        ("aggregate($count as a/b)", 20, "plain name"),
        (
            "compute(1 as timestamp)",
            13,
            "already a property 'timestamp'",
        ),
        ("compute(1 as request)", 13, "already a property 'request'"),
        (
            "groupby((request/name),aggregate($count as request))",
            43,
            "already a property",
        ),
        ("groupby((customDimensions))", 9, "cannot be grouped by"),
        (
            "groupby((request/duration mul 2))",
            26,
            "groupby takes properties",
        ),
        (
            "groupby((request/name),topcount(1,request/duration))",
            23,
            "Only aggregate",
        ),
        (
            "groupby((request/name))/filter(request/duration gt 1)",
            31,
            "its properties are request/name",
        ),
        ("topcount(0,request/duration)", 9, "at least 1"),
        ("topcount(request/duration,1)", 9, "whole number"),
        ("aggregate($count as n", 21, "')'"),
        (
            "aggregate($count as n) groupby((id))",
            23,
            "'/' and a further",
        ),
    ] {
        refused(&[("$apply", apply)], "$apply", Some(at), part);
    }
    let grouped = ("$apply", "groupby((request/name))");
    let cannot = |option: (&'static str, &'static str), part: &str| {
        refused(&[grouped, option], option.0, Some(0), part);
    };
    cannot(("$filter", "request/duration gt 1"), "its properties are");
    cannot(("$orderby", "timestamp"), "its properties are");
    cannot(("$select", "id"), "its properties are");
    cannot(("$search", "cart"), "$search looks at events");
}

/// Nothing that a caller can write takes the stack, or time without bound (attack 37).
#[test]
fn hostile_texts_are_refused_with_their_place() {
    const DEEP: usize = 10_000;
    let wrapped = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    let check = |parameter: &str, text: &str, part: &str| match plan(
        &request("requests", &[(parameter, text)]),
        now(),
    ) {
        Err(EngineError::BadParameter {
            parameter: p,
            message,
            position: Some(_),
        }) => {
            assert_eq!(p, parameter);
            assert!(message.contains(part), "{parameter}: {message}");
        }
        other => panic!("{parameter} gave {:?}", other.map(drop)),
    };
    for (open, inner, close) in [
        ("(", "true", ")"),
        ("not ", "true", ""),
        ("not (", "true", ")"),
        ("tolower(", "'a'", ")"),
        ("1 add (", "1", ")"),
    ] {
        check("$filter", &wrapped(open, inner, close), "levels deep");
        check("$orderby", &wrapped(open, inner, close), "levels deep");
        let apply = format!("filter({})", wrapped(open, inner, close));
        check("$apply", &apply, "levels deep");
    }
    check("$search", &wrapped("(", "a", ")"), "deep");
    check("$search", &wrapped("NOT ", "a", ""), "deep");
    check(
        "$apply",
        &vec!["filter(true)"; DEEP].join("/"),
        "at most 20",
    );
    let many = vec!["$count as n"; DEEP].join(",");
    check("$apply", &format!("aggregate({many})"), "at most 50");
    check(
        "$apply",
        &wrapped("groupby((id),", "aggregate($count as n)", ")"),
        "Only aggregate",
    );
    for number in ["-1", "9223372036854775808", "1e3", "0x10", "1 or 1", ""] {
        if !number.is_empty() {
            check("$top", number, "is not a whole number");
            check("$skip", number, "is not a whole number");
        }
    }
    check("$select", "nothing", "not a property");
    check("$select", "id;drop", "no meaning");
    check("$orderby", "timestamp desc | take 1", "no meaning");
    check("$filter", "request/name eq 'it's'", "");
    check("$filter", "request/name eq 'open", "no closing quote");
    check("$filter", "request/name eq '\\'' or true", "");
}

#[test]
fn unknown_event_types_are_not_found() {
    for unknown in ["", "request", "Requests", "$ALL", "requests | take 1"] {
        assert!(
            matches!(
                plan(&request(unknown, &[]), now()),
                Err(EngineError::NotFound(_))
            ),
            "{unknown}"
        );
    }
}

#[test]
fn an_event_is_found_by_id_in_all_of_time() {
    let parameters = |timespan: Option<&str>| EventParameters {
        event_type: "traces".to_owned(),
        id: "a\" or true".to_owned(),
        timespan: timespan.map(str::to_owned),
    };
    let text = |timespan| {
        event_plan(&parameters(timespan), now())
            .map(|plan| plan.query.to_string())
            .unwrap_or_default()
    };
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        flat(text(None)),
        r#"traces | where itemId == "a\" or true" | take 1"#
    );
    assert!(text(Some("PT1H")).contains("timestamp >="));
}

#[test]
fn columns_of_one_name_have_one_type_in_every_table() {
    for column in source::Source::All.columns() {
        for table in hindsight_store::Table::ALL {
            let same = table
                .column(column.name)
                .is_none_or(|other| other.scalar_type == column.scalar_type);
            assert!(same, "{table} {}", column.name);
        }
    }
}
