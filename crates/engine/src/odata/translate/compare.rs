//! `eq`, `ne`, `gt`, `ge`, `lt`, `le` and `in`, with the nulls of OData (4.01 part 2 §5.1.1.1).

use hindsight_kql_syntax::ast::{BinaryOp, Expr, ListOp, Literal};

use super::convert::{is_flag, kql, list, loosened};
use super::{Kind, Operand, Translator, balanced, definite};
use crate::odata::Fault;
use crate::odata::ast::{Comparison, Node, NodeKind};

/// `left op right`
pub(super) fn compare(
    t: &Translator<'_>,
    op: Comparison,
    left: &Node,
    right: &Node,
    at: usize,
) -> Result<Operand, Fault> {
    let equality = matches!(op, Comparison::Equal | Comparison::NotEqual);
    if matches!(left.kind, NodeKind::Null) || matches!(right.kind, NodeKind::Null) {
        return null_test(t, op, left, right, at);
    }
    let (l, r) = (t.value(left)?, t.value(right)?);
    if equality
        && let Some(expr) = spelled_flag(op, &l, right).or_else(|| spelled_flag(op, &r, left))
    {
        return Ok(truth(expr, false, at));
    }
    if !equality {
        return same_kind(op, l, r, at);
    }
    let (left_kind, right_kind) = (l.kind, r.kind);
    same_kind(
        op,
        written(l, left, right_kind),
        written(r, right, left_kind),
        at,
    )
}

/// A whole number beside a dimension is compared as text.
fn written(operand: Operand, node: &Node, other: Kind) -> Operand {
    match (&node.kind, other) {
        (NodeKind::Whole(n), Kind::Loose) => Operand {
            expr: Expr::string(n.to_string()),
            kind: Kind::Text,
            nullable: false,
            at: operand.at,
        },
        _ => operand,
    }
}

/// `request/success eq false`: text that stands for a truth value, beside `true` or `false`.
fn spelled_flag(op: Comparison, side: &Operand, other: &Node) -> Option<Expr> {
    match (side.kind, &other.kind) {
        (Kind::Flag | Kind::Loose, NodeKind::Bool(wanted)) => Some(is_flag(
            side.expr.clone(),
            side.kind,
            *wanted,
            op == Comparison::NotEqual,
        )),
        _ => None,
    }
}

/// Compares with `null`: only `eq` and `ne` can be true.
fn null_test(
    t: &Translator<'_>,
    op: Comparison,
    left: &Node,
    right: &Node,
    at: usize,
) -> Result<Operand, Fault> {
    let (l, r) = (t.value(left)?, t.value(right)?);
    let side = if l.kind == Kind::Null { r } else { l };
    let expr = match (op, side.kind) {
        (Comparison::Equal, Kind::Null) => Expr::literal(Literal::Bool(true)),
        (Comparison::Equal, Kind::Bool) => Expr::literal(Literal::Bool(false)),
        (Comparison::NotEqual, Kind::Bool) => Expr::literal(Literal::Bool(true)),
        (Comparison::Equal, kind) if kind.is_text() => Expr::call("isempty", vec![side.expr]),
        (Comparison::NotEqual, kind) if kind.is_text() => Expr::call("isnotempty", vec![side.expr]),
        (Comparison::Equal, _) => Expr::call("isnull", vec![side.expr]),
        (Comparison::NotEqual, kind) if kind != Kind::Null => {
            Expr::call("isnotnull", vec![side.expr])
        }
        _ => Expr::literal(Literal::Bool(false)),
    };
    Ok(truth(expr, false, at))
}

fn same_kind(op: Comparison, left: Operand, right: Operand, at: usize) -> Result<Operand, Fault> {
    let (left_kind, right_kind) = (left.kind, right.kind);
    let left = loosened(left, right_kind);
    let right = loosened(right, left_kind);
    let equality = matches!(op, Comparison::Equal | Comparison::NotEqual);
    match (left.kind, right.kind) {
        (a, b) if a.is_text() && b.is_text() => {
            Ok(truth(texts(op, left.expr, right.expr), false, at))
        }
        (Kind::Bool, Kind::Bool) if equality => Ok(truth(
            Expr::binary(kql(op), definite(left).expr, definite(right).expr),
            false,
            at,
        )),
        (Kind::Bool, Kind::Bool) => Err(Fault::new(
            at,
            "Truth values have no order; compare them with eq or ne.",
        )),
        (Kind::Bag | Kind::List, Kind::Bag | Kind::List) => Err(Fault::new(
            at,
            "Collections cannot be compared; name one of their properties.",
        )),
        (a, b) if a == b => Ok(ordered(op, left, right, at)),
        (a, b) => Err(Fault::new(at, mismatch(a, b))),
    }
}

fn mismatch(a: Kind, b: Kind) -> String {
    let hint = match (a.is_text(), b.is_text()) {
        (true, false) | (false, true) => " Text is written in single quotes, and nothing else is.",
        _ => "",
    };
    format!(
        "This compares {} with {}.{hint}",
        a.describe(),
        b.describe()
    )
}

/// Text has `==` in KQL but no `<`.
fn texts(op: Comparison, left: Expr, right: Expr) -> Expr {
    match op {
        Comparison::Equal | Comparison::NotEqual => Expr::binary(kql(op), left, right),
        _ => Expr::binary(
            kql(op),
            Expr::call("strcmp", vec![left, right]),
            Expr::long(0),
        ),
    }
}

/// Numbers, times and durations. Two absent values are equal in OData.
fn ordered(op: Comparison, left: Operand, right: Operand, at: usize) -> Operand {
    let nullable = left.nullable || right.nullable;
    let both = left.nullable && right.nullable;
    let absent = both.then(|| {
        let null = |expr: &Expr| Expr::call("isnull", vec![expr.clone()]);
        Expr::binary(BinaryOp::And, null(&left.expr), null(&right.expr))
    });
    let plain = Expr::binary(kql(op), left.expr, right.expr);
    match (op, absent) {
        (Comparison::Equal, Some(absent)) => truth(
            Expr::binary(BinaryOp::Or, definite(truth(plain, true, at)).expr, absent),
            false,
            at,
        ),
        (Comparison::NotEqual, Some(absent)) => truth(
            Expr::binary(
                BinaryOp::And,
                Expr::call("coalesce", vec![plain, Expr::literal(Literal::Bool(true))]),
                Expr::call("not", vec![absent]),
            ),
            false,
            at,
        ),
        (Comparison::Equal | Comparison::NotEqual, None) => truth(plain, false, at),
        _ => truth(plain, nullable, at),
    }
}

/// `value in (list)`: any of the list is equal.
pub(super) fn in_list(
    t: &Translator<'_>,
    value: &Node,
    items: &[Node],
    at: usize,
) -> Result<Operand, Fault> {
    let left = t.value(value)?;
    if left.kind == Kind::Bool {
        // A truth value would be translated again for each item, and nested lists so without bound.
        return Err(Fault::new(
            at,
            "'in' needs a value on its left, and this is a truth value.",
        ));
    }
    let constants = items
        .iter()
        .filter(|item| item.kind.is_constant())
        .map(|item| {
            t.value(item)
                .map(|operand| written(operand, item, left.kind))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let alike =
        |item: &Operand| item.kind == left.kind || (item.kind == Kind::Text && left.kind.is_text());
    if constants.len() == items.len() && constants.iter().all(alike) {
        let expr = list(
            ListOp::In,
            left.expr,
            constants.into_iter().map(|item| item.expr).collect(),
        );
        return Ok(truth(expr, false, at));
    }
    let tests = items
        .iter()
        .map(|item| compare(t, Comparison::Equal, value, item, item.at).map(|test| test.expr))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(truth(balanced(BinaryOp::Or, tests), false, at))
}

fn truth(expr: Expr, nullable: bool, at: usize) -> Operand {
    Operand {
        expr,
        kind: Kind::Bool,
        nullable,
        at,
    }
}
