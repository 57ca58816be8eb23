//! Tests that an error restores the frame of the binder.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
use datafusion::execution::memory_pool::{MemoryPool, UnboundedMemoryPool};
use hindsight_kql_syntax::ast::{Expr, ExprKind, OperatorKind, Statement};
use hindsight_kql_syntax::{Code, Span};

use crate::bind::binder::Binder;
use crate::bind::request::Request;
use crate::operators::TabularOperator;
use crate::testing::TestCatalog;
use crate::{BindOptions, HeldRows};

fn expression(text: &str) -> Expr {
    let parsed = hindsight_kql_syntax::parse(text);
    let mut statements = parsed.query.statements.into_iter();
    match statements.next() {
        Some(Statement::Expression(expr)) => expr,
        other => panic!("no expression: {other:?}"),
    }
}

/// Options with the discovered key values of a `partition`: one value.
fn one_key() -> BindOptions {
    let pool: Arc<dyn MemoryPool> = Arc::new(UnboundedMemoryPool::default());
    let mut rows = HeldRows::new("test", &pool);
    let names: ArrayRef = Arc::new(StringViewArray::from(vec!["GET /"]));
    let batch = RecordBatch::try_from_iter([("name", names)]).expect("a batch");
    rows.push(batch).expect("memory for one row");
    BindOptions {
        discovered: vec![Arc::new(rows)],
        ..BindOptions::default()
    }
}

#[test]
fn partition_restores_the_operator_when_its_query_fails() {
    let options = one_key();
    let request = Request::new(&TestCatalog, &options);
    let mut binder = Binder::new(&request);
    let ExprKind::Pipe(pipeline) = expression("requests | partition by name { nothing }").kind
    else {
        panic!("no pipeline");
    };
    let OperatorKind::Partition(node) = &pipeline.operators[0].kind else {
        panic!("no partition");
    };
    let input = binder.bind_tabular(&pipeline.source).expect("a table");
    binder.frame.operator = Some("outer".into());
    let result = node.bind(input, &mut binder, Span::default());
    assert_eq!(
        result.expect_err("there is no such table").code,
        Code::UnresolvedName
    );
    assert_eq!(binder.frame.operator.as_deref(), Some("outer"));
}

#[test]
fn an_error_leaves_the_frame_and_the_expressions_as_they_were() {
    let options = one_key();
    let request = Request::new(&TestCatalog, &options);
    for text in [
        "requests | partition by name { nothing }",
        "requests | partition by name (where nothing == 1)",
        "requests | where toscalar(nothing | count) > 1",
        "requests | extend a = prev(nothing)",
        "requests | sort by name | extend a = prev(name), b = nothing",
        "requests | summarize sum(nothing)",
        "requests | summarize sum(max(duration))",
        "requests | join (requests | where nothing == 1) on name",
        "requests | as all | union (all | where nothing == 1)",
        "requests | fork (where duration > 1) (where nothing == 1)",
        "requests | facet by name with (where nothing == 1)",
        "requests | mv-apply e = split(name, ' ') on (where nothing == 1)",
        "requests | evaluate narrow(1)",
        "macro-expand entity_group [app('shop')] as g (g.requests | where nothing == 1)",
    ] {
        let mut binder = Binder::new(&request);
        let before = format!("{:?} {:?}", binder.frame, binder.expression);
        let expr = expression(text);
        let result = binder.with_own_expressions(|binder| binder.bind_tabular(&expr));
        let reported = binder.output.errors.first().is_some();
        assert!(result.is_err() || reported, "{text}");
        assert!(binder.output.needed.is_none(), "{text}");
        let after = format!("{:?} {:?}", binder.frame, binder.expression);
        assert_eq!(after, before, "{text}");
    }
}
