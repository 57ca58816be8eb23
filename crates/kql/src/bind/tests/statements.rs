//! Tests of `let`, functions, parameters, sub-queries and sources.

use std::collections::HashMap;

use crate::BindOptions;
use crate::testing::{answer_with, check};

#[test]
fn names_are_bound_once_in_a_block() {
    check("let x = 1; let x = 2; print x", "error SEM0079");
    check(
        "let f = (x:long) { let x = 2; x }; print f(1)",
        "error SEM0079",
    );
    check(
        "let x = 1; let f = () { let x = 2; x }; print v = f() + x",
        "v:long\n3",
    );
}

#[test]
fn scalar_functions_take_defaults_and_names() {
    let f = "let f = (a:long, b:long = 10) { a - b };";
    check(&format!("{f} print v = f(3)"), "v:long\n-7");
    check(&format!("{f} print v = f(b = 1, a = 3)"), "v:long\n2");
    check(&format!("{f} print v = f()"), "error SEM0219");
    check(&format!("{f} print v = f('12')"), "v:long\n2");
    check(&format!("{f} print v = f('x')"), "v:long\nnull");
    check(
        &format!("{f} datatable(n:long)[5] | project v = f(n, n)"),
        "v:long\n0",
    );
}

#[test]
fn functions_capture_the_names_in_scope_at_their_definition() {
    check("let k = 1; let f = () { k }; print v = f()", "v:long\n1");
    check("let f = () { f() }; print f()", "error SEM0260");
    check(
        "let f = (n:long) { toscalar(print n) }; datatable(x:long)[1] | extend v = f(x)",
        "error CRT0018",
    );
}

#[test]
fn tabular_functions_accept_rows() {
    let f = "let f = (T:(x:long), n:long) { T | where x > n };";
    let rows = "datatable(x:long, y:string)[1, 'a', 5, 'b']";
    check(&format!("{f} f({rows}, 2)"), "x:long, y:string\n5 | b");
    check(&format!("{f} f((print y = 1), 2)"), "error SEM0252");
    check(&format!("{f} print v = f({rows}, 2)"), "error SEM0085");
    check("let v = view () { print x = 1 }; v", "x:long\n1");
}

#[test]
fn toscalar_is_evaluated_once() {
    check(
        "let m = toscalar(requests | summarize max(duration)); print v = m + 1",
        "v:real\n21.0",
    );
    check(
        "print v = toscalar(requests | where name == 'none' | project name)",
        "v:string\n",
    );
    check("let r = toscalar(rand()); print v = r == r", "v:bool\ntrue");
}

#[test]
fn materialized_rows_are_evaluated_once() {
    check(
        "let T = materialize(range x from 1 to 3 step 1 | extend r = rand()); \
         T | join kind=inner (T) on r | count",
        "Count:long\n3",
    );
}

#[test]
fn scans_are_limited_to_the_timespan() {
    let start = hindsight_kql_types::ticks::UNIX_EPOCH_TICKS;
    let hour = hindsight_kql_types::ticks::TICKS_PER_HOUR;
    let options = BindOptions {
        timespan: Some((start, start + 2 * hour)),
        ..BindOptions::default()
    };
    assert_eq!(answer_with("requests | count", &options), "Count:long\n2");
    check("requests | count", "Count:long\n3");
    check("app('shop').requests | count", "Count:long\n3");
    check("app('other').requests | count", "error SEM0056");
    check("table('requests') | count", "Count:long\n3");
}

#[test]
fn the_request_supplies_the_query_parameters() {
    let options = BindOptions {
        parameters: HashMap::from([("n".to_owned(), "41".to_owned())]),
        ..BindOptions::default()
    };
    let declare = "declare query_parameters(n:long, s:string = 'x');";
    assert_eq!(
        answer_with(&format!("{declare} print v = n + 1, w = s"), &options),
        "v:long, w:string\n42 | x"
    );
    check(&format!("{declare} print n"), "error SEM0001");
}

#[test]
fn options_override_now() {
    check(
        "set query_now = datetime(2024-05-06); print v = now(-1d)",
        "v:datetime\n2024-05-05T00:00:00Z",
    );
    check("set query_now = 5; print 1", "error SEM0020");
    check("set some_future_option; print v = 1", "v:long\n1");
}

#[test]
fn several_statements_give_several_results() {
    check("print a = 1; print b = 2", "a:long\n1\n---\nb:long\n2");
}
