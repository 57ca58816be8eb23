//! Expressions as text, with the parentheses that precedence requires.

use std::fmt::{self, Display, Formatter};

use super::{Commas, write_bracketed};
use crate::ast::precedence::{COMPARISON, PIPE, POSTFIX, UNARY};
use crate::ast::{BinaryOp, Call, Expr, ExprKind, Name, SEARCH_COLUMN_TERM, UnaryOp};
use crate::lexer::{is_bare_name, is_name_part};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, self, PIPE)
    }
}

/// The precedence of the outermost form of an expression.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Pipe(_) | ExprKind::Source(_) => PIPE,
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::InList { .. } | ExprKind::Between { .. } | ExprKind::AnyColumn { .. } => {
            COMPARISON
        }
        ExprKind::Call(call) if call.function.text == SEARCH_COLUMN_TERM => COMPARISON,
        ExprKind::Unary { .. } => UNARY,
        _ => POSTFIX,
    }
}

/// Writes an expression, in parentheses if its precedence is lower than `weakest`.
pub(crate) fn write_expr(f: &mut Formatter<'_>, expr: &Expr, weakest: u8) -> fmt::Result {
    if strength(expr) < weakest {
        f.write_str("(")?;
        write_kind(f, &expr.kind)?;
        return f.write_str(")");
    }
    write_kind(f, &expr.kind)
}

fn write_kind(f: &mut Formatter<'_>, kind: &ExprKind) -> fmt::Result {
    match kind {
        ExprKind::Literal(literal) => literal.fmt(f),
        ExprKind::Name(name) => name.fmt(f),
        ExprKind::Wildcard(pattern) => f.write_str(pattern),
        ExprKind::Call(call) => write_call(f, call),
        ExprKind::Member { value, member } => write_member(f, value, member),
        ExprKind::MemberCall { value, call } => {
            write_expr(f, value, POSTFIX)?;
            f.write_str(".")?;
            call.fmt(f)
        }
        ExprKind::Index { value, index } => {
            write_expr(f, value, POSTFIX)?;
            f.write_str("[")?;
            write_expr(f, index, PIPE + 1)?;
            f.write_str("]")
        }
        ExprKind::Unary { op, value } => {
            f.write_str(match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
            })?;
            write_expr(f, value, UNARY)
        }
        ExprKind::Binary { op, left, right } => write_chain(f, *op, left, right),
        ExprKind::InList { op, value, list } => {
            write_expr(f, value, COMPARISON + 1)?;
            write!(f, " {} ({})", op.spelling(), Commas(list))
        }
        ExprKind::Between {
            negated,
            value,
            low,
            high,
        } => {
            write_expr(f, value, COMPARISON + 1)?;
            f.write_str(if *negated {
                " !between ("
            } else {
                " between ("
            })?;
            write_expr(f, low, PIPE + 1)?;
            f.write_str(" .. ")?;
            write_expr(f, high, PIPE + 1)?;
            f.write_str(")")
        }
        ExprKind::AnyColumn { op, right } => {
            write!(f, "* {} ", op.spelling())?;
            write_expr(f, right, COMPARISON + 1)
        }
        ExprKind::Pipe(pipeline) => pipeline.fmt(f),
        ExprKind::DataTable(table) => table.fmt(f),
        ExprKind::ExternalData(data) => data.fmt(f),
        ExprKind::Source(operator) => operator.fmt(f),
        ExprKind::TypeOf(kind) => write!(f, "typeof{kind}"),
        ExprKind::Parenthesised(inner) => {
            f.write_str("(")?;
            write_expr(f, inner, PIPE)?;
            f.write_str(")")
        }
        // A tree with errors prints without the missing expressions.
        ExprKind::Missing => Ok(()),
    }
}

fn write_call(f: &mut Formatter<'_>, call: &Call) -> fmt::Result {
    if let (SEARCH_COLUMN_TERM, [column, term]) =
        (call.function.text.as_str(), call.arguments.as_slice())
    {
        write_expr(f, &column.value, COMPARISON + 1)?;
        f.write_str(":")?;
        return write_expr(f, &term.value, COMPARISON + 1);
    }
    call.fmt(f)
}

/// A dotted name is bare or a pattern; any other text is a key.
fn write_member(f: &mut Formatter<'_>, value: &Expr, member: &Name) -> fmt::Result {
    write_expr(f, value, POSTFIX)?;
    let in_pattern = |b| is_name_part(b) || b == b'*' || b == b'$';
    let pattern = member.text.bytes().all(in_pattern);
    if is_bare_name(&member.text) || (pattern && member.text.contains('*')) {
        return write!(f, ".{}", member.text);
    }
    write_bracketed(f, &member.text)
}

/// Writes a chain such as `a or b or c` without recursion, because the tree of a long chain is deep on its left.
fn write_chain(f: &mut Formatter<'_>, op: BinaryOp, left: &Expr, right: &Expr) -> fmt::Result {
    let mut links = vec![(op, right)];
    let mut first = left;
    let mut outer = op;
    loop {
        let weakest = outer.precedence() + u8::from(outer.precedence() == COMPARISON);
        match &first.kind {
            ExprKind::Binary { op, left, right } if op.precedence() >= weakest => {
                links.push((*op, right));
                first = left;
                outer = *op;
            }
            _ => {
                write_expr(f, first, weakest)?;
                break;
            }
        }
    }
    for (op, right) in links.into_iter().rev() {
        write!(f, " {} ", op.spelling())?;
        write_expr(f, right, op.precedence() + 1)?;
    }
    Ok(())
}
