//! Queries that ask for more than there is: each ends with its answer, or with an error that names what was exceeded.

use std::time::Duration;

use hindsight_engine::EngineError;

use crate::support::{Fixture, rows};

/// An engine whose queries have 48 MiB and 60 s, far more than any of these tests waits for.
async fn small() -> Fixture {
    Fixture::with(|config| {
        config.memory = 48 << 20;
        config.timeout = Duration::from_secs(60);
    })
    .await
}

/// What a query came to, in one line.
async fn outcome(f: &Fixture, query: &str) -> String {
    match f.run(&f.request(query)).await {
        Ok(result) => {
            let answer = rows(&result.tables[0]).join(" ");
            match &result.partial {
                Some(partial) => format!("{answer} partial {}", partial.message),
                None => answer,
            }
        }
        Err(EngineError::Query { diagnostics, .. }) => {
            let first = diagnostics.first().expect("an error has a diagnostic");
            format!("{} {}", first.code, first.message)
        }
        Err(EngineError::ResourcesExceeded(message)) => format!("resources {message}"),
        Err(EngineError::Failed(message)) => format!("failed {message}"),
        Err(error) => format!("{error:?}"),
    }
}

/// Checks that the outcome of a query has all these parts.
async fn check(f: &Fixture, query: &str, parts: &[&str]) {
    let outcome = outcome(f, query).await;
    let missing = parts.iter().find(|part| !outcome.contains(**part));
    let shown: String = query.chars().take(200).collect();
    let said: String = outcome.chars().take(600).collect();
    assert_eq!(missing, None, "\nquery: {shown}\noutcome: {said}");
}

/// `let` statements that double a value so many times, and the query that reads the last.
fn doubled(first: &str, times: usize, step: impl Fn(&str) -> String, last: &str) -> String {
    let mut query = format!("print v0 = {first}");
    for i in 0..times {
        query.push_str(&format!(
            " | extend v{} = {}",
            i + 1,
            step(&format!("v{i}"))
        ));
    }
    query + &format!(" | project n = {last}(v{times})")
}

const MEMORY: &[&str] = &["resources", "query.memory, 50331648 bytes"];

#[tokio::test]
async fn ranges_are_made_as_they_are_read() {
    let f = small().await;
    for (query, answer) in [
        (
            "range x from 1 to 1000000000000000000 step 1 | take 2",
            "1 2",
        ),
        (
            "range x from 1 to 1000000000000000000 step 1 | where x > 3 | take 1",
            "4",
        ),
        (
            "range x from datetime(0001-01-01) to datetime(9999-12-31) step 1tick | take 1 | project x",
            "0001-01-01",
        ),
        (
            "range x from 0.0 to 1e300 step 0.5 | take 2 | summarize sum(x)",
            "0.5",
        ),
        ("range x from 1 to 10 step -1 | count", "0"),
        (
            "range x from 1 to 10 step 0",
            "failed range: the step must not be zero",
        ),
        (
            "range x from -9223372036854775808 to 9223372036854775807 step 9223372036854775807 | count",
            "3",
        ),
        ("requests | take 1000000000000000000 | count", "0"),
        (
            "requests | top 1000000000000000000 by duration | count",
            "0",
        ),
    ] {
        check(&f, query, &[answer]).await;
    }
}

/// Ten million rows with a text of their own.
const WIDE: &str =
    "range x from 1 to 10000000 step 1 | extend s = strcat('a long text that is no view ', x)";

#[tokio::test]
async fn held_rows_are_reserved_and_the_error_names_their_owner() {
    let f = small().await;
    for (query, keeper) in [
        (
            format!("let m = materialize({WIDE}); m | count"),
            "materialize",
        ),
        (
            format!("{WIDE} | where s in (({WIDE} | project s)) | count"),
            "in",
        ),
        (
            format!("{WIDE} | extend p = next(s, 5000000) | where p == '' | count"),
            "WindowRows",
        ),
        (
            format!("{WIDE} | extend p = prev(s, 5000000) | where p == '' | count"),
            "WindowRows",
        ),
        (format!("{WIDE} | summarize make_list(s)"), "Aggregate"),
        (format!("{WIDE} | summarize make_set(s)"), "Aggregate"),
        (
            format!("{WIDE} | summarize make_bag(bag_pack(s, x))"),
            "Aggregate",
        ),
        (
            format!("{WIDE} | summarize buildschema(bag_pack(s, x))"),
            "Aggregate",
        ),
        (
            format!("{WIDE} | join kind=inner ({WIDE}) on x | summarize max(s1)"),
            "HashJoin",
        ),
        (
            format!("{WIDE} | extend d = bag_pack(s, x) | evaluate bag_unpack(d) | count"),
            "evaluate",
        ),
        (format!("{WIDE} | evaluate pivot(s) | count"), "evaluate"),
    ] {
        let parts: Vec<&str> = MEMORY.iter().copied().chain([keeper]).collect();
        check(&f, &query, &parts).await;
    }
}

/// What can be sorted and grouped on disk is, up to a limit.
#[tokio::test]
async fn spilling_is_limited() {
    let f = small().await;
    for query in [
        format!("{WIDE} | summarize max(s) by x | summarize max(max_s)"),
        format!("{WIDE} | summarize arg_max(x, s) by s | summarize max(x)"),
        format!("{WIDE} | summarize l = make_list(s) by x % 1000 | summarize max(array_length(l))"),
    ] {
        check(&f, &query, MEMORY).await;
    }
    let sorted = format!(
        "{WIDE} | sort by s asc | extend r = row_number() | summarize max(r), max(x), take_any(s)"
    );
    let spilled = ["resources", "wrote more than 4 times as much to disk"];
    check(&f, &sorted, &spilled).await;
    let query = "range x from 1 to 400000 step 1 | extend s = strcat('a long text that is no view ', x) \
        | sort by s desc | extend r = row_number() | summarize max(r), take_any(s)";
    check(&f, query, &["400000|"]).await;
}

#[tokio::test]
async fn a_value_has_a_largest_size() {
    let f = Fixture::new().await;
    let concat = |v: &str| format!("strcat({v}, {v})");
    let array = |v: &str| format!("array_concat({v}, {v})");
    for (query, answer) in [
        ("print s = strrep('x', 1000000000)".to_owned(), "failed strrep(): a value would have more than 16777216 bytes"),
        ("print n = strlen(strrep('x', 1000000))".to_owned(), "1000000"),
        ("print n = strlen(strrep('', 1000000000000000000, ''))".to_owned(), "0"),
        ("print a = repeat(1, 1000000000)".to_owned(), "failed repeat(): an array has at most 1048576 elements"),
        ("print n = array_length(range(1, 1000000000000000000))".to_owned(), "1048576"),
        ("print n = strlen(replace_string(strrep('a', 100000), 'a', strrep('b', 100000)))".to_owned(), "failed replace_string()"),
        ("print n = strlen(replace_regex(strrep('a', 100000), 'a', strrep('b', 100000)))".to_owned(), "failed replace_regex()"),
        ("print n = strlen(replace_strings(strrep('a', 100000), dynamic(['a']), pack_array(strrep('b', 100000))))".to_owned(), "failed replace_strings()"),
        ("print n = strlen(strcat_array(range(1, 100000), strrep('b', 100000)))".to_owned(), "failed strcat_array()"),
        ("print n = strlen(tohex(1, 100000))".to_owned(), "100000"),
        (doubled("'0123456789'", 40, concat, "strlen"), "failed strcat()"),
        (doubled("pack_array(strrep('x', 100000))", 40, array, "array_length"), "failed array_concat()"),
        (doubled("bag_pack('k', strrep('x', 100000))", 40, |v| format!("bag_pack('a', {v}, 'b', {v})"), "tostring"), "failed bag_pack()"),
        (doubled(
                "pack_array(strrep('x', 100000))", 40, |v| format!("pack_array({v}, {v})"), "tostring"), "failed pack_array()"),
    ] {
        check(&f, &query, &[answer]).await;
    }
    let packed: String = (0..40)
        .map(|i| format!(" | extend v{i} = pack_all()"))
        .collect();
    check(
        &f,
        &format!("print a = strrep('x', 100000){packed} | project n = strlen(tostring(v39))"),
        &["failed"],
    )
    .await;
}

#[tokio::test]
async fn results_of_one_batch_are_reserved() {
    let f = small().await;
    let query = "range x from 1 to 8000 step 1 | extend s = strrep(tostring(x), 20000) | summarize sum(strlen(s))";
    let parts: Vec<&str> = MEMORY.iter().copied().chain(["strrep()"]).collect();
    check(&f, query, &parts).await;
}

/// The memory in which a value is built, that of the columns of a batch, and that of constants.
#[tokio::test]
async fn values_are_reserved_while_they_are_built_and_as_long_as_they_live() {
    let f = small().await;
    let columns = |value: &str| -> String {
        let columns = (0..100).map(|i| format!("c{i} = {}", value.replace("{}", &i.to_string())));
        columns.collect::<Vec<_>>().join(", ")
    };
    let lengths = (0..100).map(|i| format!("strlen(c{i})"));
    let lengths = lengths.collect::<Vec<_>>().join(" + ");
    let counts = lengths.replace("strlen", "array_length");
    for (query, function) in [
        (
            doubled(
                "dynamic([1])",
                40,
                |v| format!("array_concat({v}, {v})"),
                "array_length",
            ),
            "array_concat()",
        ),
        (
            doubled(
                "dynamic([1])",
                40,
                |v| format!("pack_array({v}, {v})"),
                "array_length",
            ),
            "pack_array()",
        ),
        (
            "print n = array_length(array_sort_desc(range(1, 1000000)))".to_owned(),
            "array_sort_desc()",
        ),
        (
            "print n = array_length(set_union(range(1, 1000000), range(1, 1000000)))".to_owned(),
            "set_union()",
        ),
        (
            "print n = array_length(parse_json(strcat('[', strrep('1,', 7000000), '1]')))"
                .to_owned(),
            "parse_json()",
        ),
        (
            format!(
                "range x from 1 to 1 step 1 | extend {} | sort by c0 asc | project n = {lengths}",
                columns("strcat(x, strrep('x', 1000000), {})")
            ),
            "()",
        ),
        (
            format!(
                "range x from 1 to 1 step 1 | extend {} | extend m = tostring(c0[0]) | sort by m asc | project n = {counts}",
                columns("array_concat(range(x, 500000), pack_array({}))")
            ),
            "()",
        ),
        (
            format!(
                "print {} | project n = {lengths}",
                columns("strrep('x', 100000{})")
            ),
            "",
        ),
    ] {
        let parts: Vec<&str> = MEMORY.iter().copied().chain([function]).collect();
        check(&f, &query, &parts).await;
    }
    let query = doubled(
        "dynamic([1])",
        19,
        |v| format!("array_concat({v}, {v})"),
        "array_length",
    );
    let result = f.run(&f.request(&query)).await.unwrap();
    assert_eq!(rows(&result.tables[0]), ["524288"]);
    let peak = result.statistics.memory_peak;
    assert!(
        (6 << 20..48 << 20).contains(&peak),
        "{peak} bytes were reserved"
    );
}

#[tokio::test]
async fn lists_are_expanded_and_collected_in_batches() {
    let f = small().await;
    let lists: Vec<String> = (0..10)
        .map(|i| format!("a{i} = range(1, 100000)"))
        .collect();
    let names: Vec<String> = (0..10).map(|i| format!("a{i} to typeof(long)")).collect();
    let query = format!(
        "print {} | mv-expand {} | summarize count(), sum(a9)",
        lists.join(", "),
        names.join(", ")
    );
    check(&f, &query, &["100000|5000050000"]).await;
    check(
        &f,
        "range x from 1 to 3000000 step 1 | summarize n = array_length(make_list(x))",
        &["1048576"],
    )
    .await;
    check(&f, "range x from 1 to 3 step 1 | mv-expand y = range(x, 20000) to typeof(long) | summarize count(), sum(y)", &["59997|600029996"]).await;
}

#[tokio::test]
async fn columns_that_depend_on_data_are_limited() {
    let f = small().await;
    check(
        &f,
        "range x from 1 to 20000 step 1 | evaluate pivot(x)",
        &["SEM0001", "more than 10000 values, the most columns"],
    )
    .await;
    let bags = "range x from 1 to 20000 step 1 | project d = bag_pack(tostring(x), 1)";
    check(
        &f,
        &format!("{bags} | evaluate bag_unpack(d)"),
        &["more than 10000 keys, the most columns"],
    )
    .await;
}

#[tokio::test]
async fn regular_expressions_are_linear_and_limited() {
    let f = small().await;
    for (query, answer) in [
        (
            r#"print n = strrep('a', 30000) matches regex "(a+)+$""#.to_owned(),
            "True",
        ),
        (
            r#"print n = strcat(strrep('a', 30000), '!') matches regex "^(a|aa)+$""#.to_owned(),
            "False",
        ),
        (
            r#"print n = 'x' matches regex "((a{1000}){1000}){1000}""#.to_owned(),
            "SEM0420",
        ),
        (
            format!(
                "print n = 'w9999' matches regex '{}'",
                (0..10_000)
                    .map(|i| format!("w{i}"))
                    .collect::<Vec<_>>()
                    .join("|")
            ),
            "True",
        ),
        (
            format!(
                "print n = 'x' matches regex '{}x{}'",
                "(".repeat(320_000),
                ")".repeat(320_000)
            ),
            "SEM0420",
        ),
        (
            r#"print n = array_length(extract_all("(.)", strrep('ab', 1000000)))"#.to_owned(),
            "2000000",
        ),
    ] {
        check(&f, &query, &[answer]).await;
    }
}

#[tokio::test]
async fn deep_values_are_bounded() {
    let f = small().await;
    for (query, answer) in [
        (
            "print t = gettype(parse_json(strrep('[', 100000)))",
            "string",
        ),
        (
            "print t = gettype(parse_json(strcat(strrep('[', 100000), strrep(']', 100000))))",
            "string",
        ),
        (
            "print n = array_length(parse_json(strcat('[', strrep('1', 1000000, ','), ']')))",
            "1000000",
        ),
    ] {
        check(&f, query, &[answer]).await;
    }
}

#[tokio::test]
async fn the_edges_of_numbers_have_values() {
    let f = small().await;
    let least = "long(-9223372036854775808)";
    for (query, answer) in [
        (format!("print v = {least} / -1"), ""),
        (format!("print v = {least} % -1"), ""),
        ("print v = 1 / 0, w = 1 % 0".to_owned(), ""),
        ("print v = datetime(9999-12-31) + 1e30 * 1s".to_owned(), ""),
        ("print v = bin(7, 0)".to_owned(), ""),
        (format!("print v = -{least}, w = abs({least})"), ""),
        ("print v = 10675199d + 10675199d".to_owned(), ""),
        (
            "print v = format_timespan(10675199d, 'dddddddd')".to_owned(),
            "10675199",
        ),
    ] {
        let outcome = outcome(&f, &query).await;
        assert!(
            !outcome.contains("Internal") && outcome.contains(answer),
            "{query}: {outcome}"
        );
    }
}

#[tokio::test]
async fn operators_that_reach_outside_are_refused_by_name() {
    let f = small().await;
    for (query, name) in [
        (
            "externaldata(a: string)['https://example.com/x']",
            "externaldata",
        ),
        (
            "evaluate http_request('https://example.com')",
            "http_request",
        ),
        (
            "evaluate http_request_post('https://example.com')",
            "http_request_post",
        ),
        ("requests | evaluate python(typeof(*), 'x')", "python"),
        ("requests | evaluate r(typeof(*), 'x')", "r"),
        ("evaluate sql_request('a', 'b')", "sql_request"),
        ("evaluate mysql_request('a', 'b')", "mysql_request"),
        (
            "evaluate cosmosdb_sql_request('a', 'b', 'c', 'd')",
            "cosmosdb_sql_request",
        ),
        ("cluster('a').database('b').T", "cluster"),
        ("database('b').requests", "database"),
        (".show tables", ""),
        (".drop table requests", ""),
        (".set x <| requests", ""),
    ] {
        let outcome = outcome(&f, query).await;
        let refused = outcome.starts_with("SEM") || outcome.starts_with("SYN");
        assert!(refused && outcome.contains(name), "{query}: {outcome}");
    }
}

#[tokio::test]
async fn a_query_cannot_raise_the_limits_of_its_result() {
    let f = Fixture::with(|config| config.max_rows = 1000).await;
    let query = "set notruncation; set truncationmaxrecords = 1000000000; set truncationmaxsize = 1000000000000; \
         set servertimeout = 10h; range x from 1 to 5000 step 1";
    let result = f.run(&f.request(query)).await.unwrap();
    assert_eq!(rows(&result.tables[0]).len(), 1000);
    let partial = result.partial.as_ref().expect("the cut is told");
    assert!(
        partial.message.contains("record count limit 1000"),
        "{}",
        partial.message
    );
}

#[tokio::test]
async fn unions_of_unions_and_functions_of_themselves_end() {
    let f = small().await;
    let mut query = "let t0 = requests;".to_owned();
    for i in 0..20 {
        query.push_str(&format!("let t{} = union t{i}, t{i};", i + 1));
    }
    check(&f, &(query + " t20 | count"), &["SEM"]).await;
    check(&f, "let f = (n: long) { f(n - 1) }; print f(1)", &["SEM"]).await;
    let mut calls = "let f0 = (x: long) { x + 1 };".to_owned();
    for i in 0..20 {
        calls.push_str(&format!(
            "let f{} = (x: long) {{ f{i}(x) + f{i}(x) + f{i}(x) }};",
            i + 1
        ));
    }
    check(&f, &(calls + " print f20(1)"), &["SEM"]).await;
}

/// A binder that looks at an operand twice at every level would need 2^40 looks.
#[tokio::test]
async fn nesting_costs_what_its_length_costs() {
    let f = small().await;
    for (open, inner, close) in [
        ("d[", "0", "]"),
        ("not(", "true", ")"),
        ("iff(true, ", "1", ", 2)"),
        ("case(true, ", "1", ", 2)"),
        ("coalesce(", "1", ", 2)"),
        ("strcat('a', ", "'b'", ")"),
        ("tostring(", "1", ")"),
        ("abs(", "1", ")"),
        ("(1 + ", "1", ")"),
        ("(1 == ", "1", ")"),
        ("(true and ", "true", ")"),
        ("pack_array(", "1", ")"),
        ("bin(", "1", ", 1)"),
        ("tolong(", "'1'", ")"),
        ("max_of(", "1", ", 2)"),
        ("-(", "1", ")"),
        ("tolong(2 between (1 .. tolong(", "1", ")))"),
        ("toscalar(print ", "1", ")"),
    ] {
        let text = format!("{}{inner}{}", open.repeat(40), close.repeat(40));
        let query = format!("print d = dynamic([0]) | project v = {text}");
        let outcome = outcome(&f, &query).await;
        assert!(
            !outcome.contains("TimedOut") && !outcome.contains("Internal"),
            "{open}: {outcome}"
        );
    }
}

#[tokio::test]
async fn widths_and_digits_are_bounded() {
    let f = small().await;
    for query in [
        "print v = format_bytes(1, 1000000000)",
        "print v = round(1.5, 1000000000)",
        "print v = tohex(1, 1000000000)",
        "print v = strlen(format_datetime(now(), strrep('y', 1000)))",
        "print v = substring('abc', 1000000000000, 1000000000000)",
        "print v = array_length(array_shift_left(dynamic([1]), 1000000000000))",
        "print v = array_slice(dynamic([1]), -1000000000000, 1000000000000)",
        "print v = make_timespan(1000000000, 1, 1)",
        "print v = datetime_add('year', 1000000000000, now())",
        "print v = geo_point_to_geohash(1.0, 1.0, 1000000000)",
        "print v = series_fill_const(dynamic([1]), 1e300)",
        "print v = split('a', 'b', 1000000000000)",
        "print v = rand(1000000000000)",
    ] {
        let outcome = outcome(&f, query).await;
        assert!(
            !outcome.contains("TimedOut") && !outcome.contains("Internal"),
            "{query}: {outcome}"
        );
    }
}
