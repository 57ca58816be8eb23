//! Tests of scalar operators: types, nulls, text, lists.

use crate::testing::check;

/// The value of an expression in `print`, with its type.
#[track_caller]
fn value(expr: &str, kind: &str, expected: &str) {
    check(
        &format!("print v = {expr}"),
        &format!("v:{kind}\n{expected}"),
    );
}

/// The value of an expression over a row, in which constants are not folded.
#[track_caller]
fn row(schema: &str, values: &str, expr: &str, expected: &str) {
    check(
        &format!("datatable({schema})[{values}] | project v = {expr}"),
        expected,
    );
}

#[test]
fn integers_are_longs_that_wrap() {
    value("int(2147483640) + int(10)", "long", "2147483650");
    value("9223372036854775807 + 2", "long", "-9223372036854775807");
    value("-int(7)", "int", "-7");
    row("i:int", "int(-2147483648)", "-i", "v:long\n2147483648");
}

#[test]
fn division_truncates_and_modulo_is_never_negative() {
    value("-9 / 4", "long", "-2");
    value("-9 % 4", "long", "3");
    value("9 % -4", "long", "1");
    value("5 / 0", "long", "null");
    value("5.0 / 0", "real", "inf");
    value("-7.5 % 2", "real", "0.5");
    row("a:long, b:long", "9, 0", "a % b", "v:long\nnull");
}

#[test]
fn decimals_stay_exact() {
    value(
        "decimal(0.1) + decimal(0.7) == decimal(0.8)",
        "bool",
        "true",
    );
    value("decimal(1) / 4", "decimal", "0.25");
    value("decimal(1.5) * 3", "decimal", "4.5");
}

#[test]
fn times_add_up_within_their_range() {
    value(
        "datetime(2024-03-01) - datetime(2024-02-28)",
        "timespan",
        "2.00:00:00",
    );
    value("2 * 1d", "timespan", "2.00:00:00");
    value("1d * 1.5", "timespan", "1.12:00:00");
    value("1d / 8h", "real", "3.0");
    value("1d % 7h", "timespan", "03:00:00");
    value("datetime(9999-12-31) + 2d", "datetime", "null");
}

#[test]
fn equality_with_one_null_is_false_and_with_two_is_null() {
    row("a:long", "long(null)", "a == 3", "v:bool\nfalse");
    row("a:long", "long(null)", "a != 3", "v:bool\ntrue");
    row("a:long", "long(null)", "a == a", "v:bool\nnull");
    row("a:long", "long(null)", "a > 3", "v:bool\nnull");
    row("a:long", "long(null)", "a between (1 .. 3)", "v:bool\nnull");
    row("a:long", "long(null)", "not(a == 3)", "v:bool\ntrue");
}

#[test]
fn nan_is_unequal_to_everything() {
    let nan = "a:real";
    row(nan, "real(nan)", "a == a", "v:bool\nfalse");
    row(nan, "real(nan)", "a != 1.0", "v:bool\ntrue");
    row(nan, "real(nan)", "a > 1.0", "v:bool\nfalse");
    check(
        "datatable(a:real)[real(nan), 7.0, 1.0] | where a > 5",
        "a:real\n7.0",
    );
    check(
        "datatable(a:real)[-0.0, 3.0] | where a >= 0 and a < 1",
        "a:real\n-0.0",
    );
}

#[test]
fn text_converts_to_the_type_it_is_compared_with() {
    value("datetime(2024-01-01) == '2024-01-01'", "bool", "true");
    value("5 == '5'", "bool", "true");
    check(
        "datatable(a:long, b:string)[1, 'x', 2, '2'] | where a == b",
        "a:long, b:string\n2 | 2",
    );
    check("print dynamic(1) == dynamic(1)", "error SEM0001");
    value("dynamic({'a':'x'}).a == 'x'", "bool", "true");
    value("dynamic([1.5])[0] == 1", "bool", "false");
}

#[test]
fn filters_keep_only_rows_that_are_true() {
    check(
        "datatable(a:long)[1, long(null), 3] | where a != 3",
        "a:long\n1\nnull",
    );
    check(
        "datatable(a:long)[1, long(null), 3] | where not(a > 2)",
        "a:long\n1",
    );
    check(
        "datatable(a:long)[1, 2, 3] | where 2 <= a or a == 1",
        "a:long\n1\n2\n3",
    );
    check("datatable(a:long)[1, 2] | where a", "error SEM0001");
}

#[test]
fn lists_are_sets_of_values() {
    value("2 in (1, 2)", "bool", "true");
    value("2 in (dynamic([1, 2]))", "bool", "true");
    value("2 in (2.0)", "bool", "true");
    value("'B' in~ ('a', 'b')", "bool", "true");
    value("3 !in (1, 2)", "bool", "true");
    row("a:long", "long(null)", "a !in (1, 2)", "v:bool\ntrue");
    value("'red fox' has_any ('cat', 'FOX')", "bool", "true");
    value("'red fox' has_all ('red', 'cat')", "bool", "false");
    value("'x' has_all (dynamic([]))", "bool", "true");
    check(
        "datatable(a:long, b:long)[1, 1, 1, 2] | where a in (b)",
        "a:long, b:long\n1 | 1",
    );
    check(
        "range x from 1 to 4 step 1 | where x in (range y from 3 to 9 step 1)",
        "x:long\n3\n4",
    );
}

#[test]
fn text_operators_ignore_case_unless_they_are_case_sensitive() {
    value("'Ärger' startswith 'ä'", "bool", "true");
    value("'abc' contains_cs 'B'", "bool", "false");
    value("'a_b' has 'B'", "bool", "true");
    value("'abc' !endswith 'C'", "bool", "false");
    value("'abc' matches regex 'b.$'", "bool", "true");
    check("print 5 contains '5'", "error SEM0709");
    check("print 'x' matches regex '(?=x)'", "error SEM0420");
}

#[test]
fn spans_end_a_between() {
    value(
        "datetime(2024-01-03) between (datetime(2024-01-01) .. 2d)",
        "bool",
        "true",
    );
    value("5 !between (1 .. 4)", "bool", "true");
    check("print 'b' between ('a' .. 'c')", "error SEM0208");
    check("print 5 between (1 .. 1d)", "error SEM0234");
}

#[test]
fn paths_never_fail() {
    value("dynamic({'a':[10,20]}).a[-1]", "dynamic", "20");
    value("dynamic({'a':1}).b.c[3]", "dynamic", "null");
    value("dynamic([1,2])['x']", "dynamic", "null");
    row(
        "d:dynamic, k:string",
        "dynamic({'x':7}), 'x'",
        "d[k] + 1",
        "v:long\n8",
    );
}

#[test]
fn long_chains_do_not_nest() {
    let chain = (0..400)
        .map(|i| format!("a == {i}"))
        .collect::<Vec<_>>()
        .join(" or ");
    check(
        &format!("datatable(a:long)[5, 5000] | where {chain}"),
        "a:long\n5",
    );
}
