//! Values of one kind read as another.

use hindsight_kql_syntax::ast::{BinaryOp, Expr, ExprKind, ListOp};

use super::{Kind, Operand};
use crate::odata::Fault;

/// How the tables write a truth value as text: availability results have numbers.
const TRUE: &[&str] = &["True", "1"];
const FALSE: &[&str] = &["False", "0"];
/// How authors of dimensions write it.
const LOOSE_TRUE: &[&str] = &["True", "true"];
const LOOSE_FALSE: &[&str] = &["False", "false"];

/// `value in ('True', '1')`
pub(super) fn flag_to_bool(flag: Operand) -> Operand {
    Operand {
        expr: is_flag(flag.expr, Kind::Flag, true, false),
        kind: Kind::Bool,
        ..flag
    }
}

/// Whether text of `kind` says `wanted`, or does not.
pub(super) fn is_flag(text: Expr, kind: Kind, wanted: bool, negated: bool) -> Expr {
    let spellings = match (kind, wanted) {
        (Kind::Loose, true) => LOOSE_TRUE,
        (Kind::Loose, false) => LOOSE_FALSE,
        (_, true) => TRUE,
        (_, false) => FALSE,
    };
    let op = if negated { ListOp::NotIn } else { ListOp::In };
    list(
        op,
        text,
        spellings.iter().map(|s| Expr::string(*s)).collect(),
    )
}

/// `value in (list)`
pub(super) fn list(op: ListOp, value: Expr, list: Vec<Expr>) -> Expr {
    Expr::synthetic(ExprKind::InList {
        op,
        value: Box::new(value),
        list,
    })
}

/// The operand as a `wanted`, where its kind says that it can be read as one.
pub(super) fn loosened(operand: Operand, wanted: Kind) -> Operand {
    let function = match (operand.kind, wanted) {
        (Kind::Loose, Kind::Number) => "todouble",
        (Kind::Loose, Kind::Moment) => "todatetime",
        (Kind::Loose, Kind::Span) => "totimespan",
        (Kind::Loose, Kind::Bool) => {
            let expr = is_flag(operand.expr, Kind::Loose, true, false);
            return Operand {
                expr,
                kind: Kind::Bool,
                nullable: false,
                at: operand.at,
            };
        }
        (Kind::Flag, Kind::Bool) => return flag_to_bool(operand),
        (Kind::Bag | Kind::List, Kind::Text | Kind::Flag | Kind::Loose) => {
            return Operand {
                expr: Expr::call("tostring", vec![operand.expr]),
                kind: Kind::Text,
                nullable: false,
                at: operand.at,
            };
        }
        _ => return operand,
    };
    Operand {
        expr: Expr::call(function, vec![operand.expr]),
        kind: wanted,
        nullable: true,
        at: operand.at,
    }
}

/// Both sides of arithmetic: a dimension beside a number or a time is read as its kind of operand.
pub(super) fn loose_numbers(left: Operand, right: Operand) -> (Operand, Operand) {
    let beside = |other: Kind| {
        if other == Kind::Span {
            Kind::Span
        } else {
            Kind::Number
        }
    };
    let (left_kind, right_kind) = (left.kind, right.kind);
    (
        loosened(left, beside(right_kind)),
        loosened(right, beside(left_kind)),
    )
}

/// An argument that is text.
pub(super) fn text(operand: Operand, function: &str) -> Result<Expr, Fault> {
    match operand.kind {
        kind if kind.is_text() => Ok(operand.expr),
        Kind::Bag | Kind::List => Ok(Expr::call("tostring", vec![operand.expr])),
        kind => Err(wrong(operand.at, function, "text", kind)),
    }
}

/// An argument of another kind than text.
pub(super) fn of_kind(operand: Operand, wanted: Kind, function: &str) -> Result<Operand, Fault> {
    let operand = loosened(operand, wanted);
    if operand.kind == wanted {
        Ok(operand)
    } else {
        Err(wrong(operand.at, function, wanted.describe(), operand.kind))
    }
}

fn wrong(at: usize, function: &str, wanted: &str, kind: Kind) -> Fault {
    Fault::new(
        at,
        format!(
            "'{function}' needs {wanted} here, and this is {}.",
            kind.describe()
        ),
    )
}

/// The KQL operator between sides of one kind.
pub(super) fn kql(op: crate::odata::ast::Comparison) -> BinaryOp {
    use crate::odata::ast::Comparison;
    match op {
        Comparison::Equal => BinaryOp::Equal,
        Comparison::NotEqual => BinaryOp::NotEqual,
        Comparison::Greater => BinaryOp::Greater,
        Comparison::GreaterOrEqual => BinaryOp::GreaterOrEqual,
        Comparison::Less => BinaryOp::Less,
        Comparison::LessOrEqual => BinaryOp::LessOrEqual,
    }
}
