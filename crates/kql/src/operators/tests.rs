//! Queries and their answers for each operator.

use crate::testing::check;

const PETS: &str = "datatable(pet:string, age:long, weight:real)[\"cat\", 3, 4.5, \"dog\", 7, 20.0, \"cat\", 1, 2.0, \"newt\", long(null), real(nan)]";

#[track_caller]
fn pets(pipeline: &str, expected: &str) {
    check(&format!("{PETS} | {pipeline}"), expected);
}

#[test]
fn projections_choose_and_order_columns() {
    pets(
        "project-away a* | take 1",
        "pet:string, weight:real\ncat | 4.5",
    );
    pets(
        "project-keep w*, pet | take 1",
        "pet:string, weight:real\ncat | 4.5",
    );
    pets(
        "project-rename years = age | take 1",
        "pet:string, years:long, weight:real\ncat | 3 | 4.5",
    );
    pets(
        "project-reorder w*, a* | take 1",
        "weight:real, age:long, pet:string\n4.5 | 3 | cat",
    );
    pets("project-away tail", "error SEM0100");
}

#[test]
fn equal_extends_are_evaluated_twice() {
    check(
        "print x = 1 | extend x = x + 1 | extend x = x + 1 | extend x = x + 1",
        "x:long\n4",
    );
}

#[test]
fn sorting_puts_null_and_nan_together() {
    pets(
        "sort by weight asc | project weight",
        "weight:real\nNaN\n2.0\n4.5\n20.0",
    );
    pets("sort by age | project age", "age:long\n7\n3\n1\nnull");
    pets("top 2 by age asc | project age", "age:long\nnull\n1");
    pets(
        "sort by age asc | summarize make_list(age)",
        "list_age:dynamic\n[1,3,7]",
    );
    pets("take 0 | count", "Count:long\n0");
}

#[test]
fn aggregates_follow_their_keys() {
    pets(
        "summarize n = count() by pet | sort by pet asc",
        "pet:string, n:long\ncat | 2\ndog | 1\nnewt | 1",
    );
    pets("where age > 100 | summarize count()", "count_:long\n0");
    pets(
        "where age > 100 | summarize count() by pet",
        "pet:string, count_:long",
    );
    pets(
        "summarize by pet | sort by pet asc",
        "pet:string\ncat\ndog\nnewt",
    );
}

#[test]
fn joins_match_nulls_and_fill_strings() {
    let join = |kind: &str| {
        format!(
            "datatable(k:long, l:string)[1, \"a\", 1, \"b\", long(null), \"n\", 3, \"c\"] | join {kind} \
             (datatable(k:long, r:string)[1, \"x\", long(null), \"y\"]) on k | sort by l asc"
        )
    };
    check(
        &join(""),
        "k:long, l:string, k1:long, r:string\n1 | a | 1 | x\nnull | n | null | y",
    );
    check(
        &join("kind=leftouter"),
        "k:long, l:string, k1:long, r:string\n1 | a | 1 | x\n1 | b | 1 | x\n3 | c | null | \nnull | n | null | y",
    );
    check(&join("kind=leftanti"), "k:long, l:string\n3 | c");
    check(
        "datatable(k:long)[1, 2] | lookup (datatable(k:long, v:string)[2, \"two\"]) on k | sort by k asc",
        "k:long, v:string\n1 | \n2 | two",
    );
}

#[test]
fn union_matches_columns_by_name_and_splits_types() {
    check(
        "union withsource=src (print x = 1, t = \"a\"), (print x = 2.5, t = \"b\") | sort by src asc",
        "src:string, x_long:long, x_real:real, t:string\nunion_arg0 | 1 | null | a\nunion_arg1 | null | 2.5 | b",
    );
}

#[test]
fn lists_expand_side_by_side() {
    check(
        "print a = dynamic([1, 2]), b = dynamic([\"x\"]) | mv-expand with_itemindex=i a to typeof(long), b",
        "a:long, b:dynamic, i:long\n1 | x | 0\n2 | null | 1",
    );
    check("print a = dynamic([]) | mv-expand a", "a:dynamic");
    check(
        "print a = dynamic({\"k\": 1}) | mv-expand kind=array a",
        "a:dynamic\n[\"k\",1]",
    );
    check(
        "datatable(r:long, a:dynamic)[1, dynamic([5, 9, 7]), 2, dynamic([4])] | \
         mv-apply v = a to typeof(long) on (top 2 by v | summarize best = make_list(v)) | project r, best | sort by r asc",
        "r:long, best:dynamic\n1 | [9,7]\n2 | [4]",
    );
    check("print s = \"x\" | mv-expand s", "error SEM0447");
}

#[test]
fn window_functions_read_the_order() {
    check(
        "range x from 1 to 3 step 1 | extend n = row_number(), before = prev(x), sum = row_cumsum(x), after = next(x, 1, 0)",
        "x:long, n:long, before:long, sum:long, after:long\n1 | 1 | null | 1 | 2\n2 | 2 | 1 | 3 | 3\n3 | 3 | 2 | 6 | 0",
    );
    pets("extend n = row_number()", "error SEM0001");
    pets(
        "sort by pet asc, age asc | extend n = row_number(1, pet != prev(pet)) | project pet, n",
        "pet:string, n:long\ncat | 1\ncat | 2\ndog | 1\nnewt | 1",
    );
}

#[test]
fn partitions_run_separately() {
    pets(
        "partition by pet (top 1 by age | project pet, age) | sort by pet asc",
        "pet:string, age:long\ncat | 3\ndog | 7\nnewt | null",
    );
}

#[test]
fn parse_takes_all_or_nothing() {
    let parse = |text: &str, pattern: &str| {
        format!("print s = \"{text}\" | parse {pattern} | project rest, id")
    };
    check(
        &parse("id=7 ok", "s with \"id=\" id:long \" \" rest"),
        "rest:string, id:long\nok | 7",
    );
    check(
        &parse("id=x ok", "s with \"id=\" id:long \" \" rest"),
        "rest:string, id:long\n | null",
    );
    check(
        &parse("id=x ok", "kind=relaxed s with \"id=\" id:long \" \" rest"),
        "rest:string, id:long\nok | null",
    );
}

#[test]
fn series_fill_their_gaps() {
    check(
        "datatable(t:long, v:long)[0, 5, 2, 7, 2, 1] | make-series sum(v) on t from 0 to 4 step 1",
        "sum_v:dynamic, t:dynamic\n[5,0,8,0] | [0,1,2,3]",
    );
}

#[test]
fn search_tests_every_column() {
    pets(
        "search \"dog\" | project-away weight",
        "$table:string, pet:string, age:long\nsearch_arg0 | dog | 7",
    );
}

#[test]
fn what_would_never_end_is_an_error() {
    for query in [
        "range x from 1 to 5 step 0",
        "range x from 1.0 to 5.0 step 0.0",
        "print repeat(1, 2000000)",
    ] {
        let answer = crate::testing::answer(query);
        assert!(answer.starts_with("failed"), "{query}: {answer}");
    }
}

/// As one expression they would take minutes to plan, because DataFusion expands every subexpression.
#[test]
fn long_chains_of_computed_columns_are_not_merged_completely() {
    let steps = " | extend x = x + 1".repeat(300);
    check(
        &format!("range x from 1 to 2 step 1{steps} | where x > 301"),
        "x:long\n302",
    );
    let parsed = hindsight_kql_syntax::parse(&format!("requests | extend x = duration{steps}"));
    let bound = crate::bind(
        &parsed.query,
        &crate::testing::TestCatalog,
        &crate::BindOptions::default(),
    );
    let result = bound.expect("it binds").results.pop().expect("a result");
    let optimised = crate::session::context()
        .expect("DataFusion has the rules")
        .state()
        .optimize(&result.plan);
    let text = optimised
        .expect("it is optimised")
        .display_indent()
        .to_string();
    let longest = text.lines().map(str::len).max();
    assert!(longest < Some(3000), "{longest:?}");
    assert!(text.lines().count() > 8, "{text}");
}

#[test]
fn bags_of_all_columns_have_the_visible_columns() {
    check(
        "print a = 1, l = dynamic([7]) | mv-apply l on (project p = tostring(pack_all()))",
        "a:long, p:string\n1 | {\"a\":1,\"l\":7}",
    );
    check(
        "print a = 1, k = 'x' | partition by k (project p = tostring(pack_all()))",
        "p:string\n{\"a\":1,\"k\":\"x\"}",
    );
    check(
        "print a = 1, k = 'x' | partition by k (as all | project p = tostring(column_names_of(all)))",
        "p:string\n[\"a\",\"k\"]",
    );
}
