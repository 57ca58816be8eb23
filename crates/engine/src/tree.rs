//! Small constructors of KQL syntax trees, for the translators of metrics and events.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{
    Argument, BinaryOp, Call, Expr, ExprKind, Literal, Name, NamedExpr, Operator, OperatorKind,
    Pipeline, Query, Statement, WhereOperator,
};

/// A name.
pub(crate) fn name(text: &str) -> Expr {
    Expr::synthetic(ExprKind::Name(Name::synthetic(text)))
}

/// A literal.
pub(crate) fn literal(value: Literal) -> Expr {
    Expr::synthetic(ExprKind::Literal(value))
}

/// A string literal.
pub(crate) fn string(text: &str) -> Expr {
    literal(Literal::String(text.to_owned()))
}

/// A long literal; a negative one is `long(-5)`.
pub(crate) fn long(value: i64) -> Expr {
    literal(Literal::Long(value))
}

/// A datetime literal from ticks.
pub(crate) fn datetime(ticks: i64) -> Expr {
    literal(Literal::DateTime(ticks))
}

/// `f(args)`
pub(crate) fn call(function: &str, args: Vec<Expr>) -> Expr {
    let arguments = args
        .into_iter()
        .map(|value| Argument { name: None, value })
        .collect();
    Expr::synthetic(ExprKind::Call(Call {
        function: Name::synthetic(function),
        arguments,
    }))
}

/// `left op right`
pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::synthetic(ExprKind::Binary {
        op,
        left: Box::new(left),
        right: Box::new(right),
    })
}

/// `value['key']`
pub(crate) fn key(value: Expr, key: &str) -> Expr {
    Expr::synthetic(ExprKind::Index {
        value: Box::new(value),
        index: Box::new(string(key)),
    })
}

/// All of them; `true` where there are none.
pub(crate) fn all(terms: Vec<Expr>) -> Expr {
    terms
        .into_iter()
        .reduce(|a, b| binary(BinaryOp::And, a, b))
        .unwrap_or_else(|| literal(Literal::Bool(true)))
}

/// `Name = expr`
pub(crate) fn named(column: &str, expr: Expr) -> NamedExpr {
    NamedExpr {
        names: vec![Name::synthetic(column)],
        tuple: false,
        expr,
    }
}

/// An operator.
pub(crate) fn operator(kind: OperatorKind) -> Operator {
    Operator {
        kind,
        span: Span::default(),
    }
}

/// `where predicate`
pub(crate) fn filter(predicate: Expr) -> Operator {
    operator(OperatorKind::Where(WhereOperator {
        parameters: Vec::new(),
        predicate,
    }))
}

/// `source | operators`; the source alone where there are none.
pub(crate) fn pipe(source: Expr, operators: Vec<Operator>) -> Expr {
    if operators.is_empty() {
        return source;
    }
    Expr::synthetic(ExprKind::Pipe(Box::new(Pipeline { source, operators })))
}

/// A request of one tabular expression.
pub(crate) fn query(expr: Expr) -> Query {
    Query {
        statements: vec![Statement::Expression(expr)],
    }
}

/// `start <= timestamp < end`
pub(crate) fn within(range: crate::request::TimeRange) -> Expr {
    all(vec![
        binary(
            BinaryOp::GreaterOrEqual,
            name("timestamp"),
            datetime(range.start),
        ),
        binary(BinaryOp::Less, name("timestamp"), datetime(range.end)),
    ])
}
