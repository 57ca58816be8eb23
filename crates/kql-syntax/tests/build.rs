//! Trees made by translators print as valid text with the parentheses they need.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use hindsight_kql_syntax::ast::*;
use hindsight_kql_syntax::parse;

#[track_caller]
fn check(expr: Expr, expected: &str) {
    let printed = expr.to_string();
    assert_eq!(printed, expected);
    assert_eq!(parse(&format!("let v = {printed};")).diagnostics, []);
}

#[test]
fn parentheses_follow_precedence() {
    let (a, b) = (|| Expr::name("a"), || Expr::name("b"));
    check(a().or(b()).and(a()), "(a or b) and a");
    check(a().and(b()).or(a()), "a and b or a");
    check(
        Expr::binary(
            BinaryOp::Subtract,
            a(),
            Expr::binary(BinaryOp::Subtract, b(), a()),
        ),
        "a - (b - a)",
    );
    check(
        Expr::binary(
            BinaryOp::Equal,
            Expr::binary(BinaryOp::Less, a(), b()),
            Expr::bool(true),
        ),
        "(a < b) == true",
    );
    check(
        Expr::binary(BinaryOp::Add, a(), b()).member("c"),
        "(a + b).c",
    );
    check(
        Expr::between(a(), Expr::long(-1), Expr::real(-1.5)),
        "a between (long(-1) .. real(-1.5))",
    );
    check(
        Expr::name("x y").index(Expr::string("k\"")),
        "['x y'][\"k\\\"\"]",
    );
    check(a().member("b c"), "a['b c']");
    check(
        Expr::in_list(ListOp::NotIn, a(), vec![Expr::timespan(-1)]),
        "a !in (time(-00:00:00.0000001))",
    );
}

#[test]
fn pipelines_are_put_together() {
    let take = OperatorKind::Take(TakeOperator {
        parameters: Vec::new(),
        count: Expr::long(5),
    });
    let project = OperatorKind::Project(ProjectOperator {
        columns: vec![
            NamedExpr::bare(Expr::name("where")),
            NamedExpr::named("n", Expr::call("f", [Expr::wildcard("*")])),
        ],
    });
    check(
        Expr::name("requests").pipe(take.clone()).pipe(project),
        "requests | take 5 | project ['where'], n = f(*)",
    );
    check(
        Expr::call("toscalar", [Expr::name("T").pipe(take.clone())]),
        "toscalar(T | take 5)",
    );
    let query = Query::of(Expr::name("T").pipe(take));
    assert_eq!(parse(&query.to_string()).query, query);
}
