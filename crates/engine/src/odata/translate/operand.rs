//! Translated values and their kinds.

use hindsight_kql_syntax::ast::{BinaryOp, Expr, Literal};
use hindsight_kql_types::ScalarType;

/// What a value is, for comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A truth value.
    Bool,
    /// Any number.
    Number,
    /// Text. Absent text is empty.
    Text,
    /// Text that stands for a truth value: `True` or `1`, `False` or `0`. Compares with text and with bools.
    Flag,
    /// Text whose meaning its author knows: a dimension. Beside a number, time or bool it is read as one; with `eq`, `ne`
    /// and `in` a whole number is compared as text, so `'500'` and `500` say the same.
    Loose,
    /// A date and time.
    Moment,
    /// A duration.
    Span,
    /// A bag.
    Bag,
    /// A list, whose members a lambda looks at.
    List,
    /// `null` as it is written.
    Null,
}

impl Kind {
    /// The kind of a column.
    pub(crate) fn of(scalar: ScalarType) -> Kind {
        match scalar {
            ScalarType::Bool => Kind::Bool,
            ScalarType::Int | ScalarType::Long | ScalarType::Real | ScalarType::Decimal => {
                Kind::Number
            }
            ScalarType::String | ScalarType::Guid => Kind::Text,
            ScalarType::DateTime => Kind::Moment,
            ScalarType::TimeSpan => Kind::Span,
            ScalarType::Dynamic => Kind::Bag,
        }
    }

    /// Its name in messages.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Kind::Bool => "a truth value",
            Kind::Number => "a number",
            Kind::Text | Kind::Flag | Kind::Loose => "text",
            Kind::Moment => "a date and time",
            Kind::Span => "a duration",
            Kind::Bag | Kind::List => "a collection",
            Kind::Null => "null",
        }
    }

    /// Is text in KQL.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Kind::Text | Kind::Flag | Kind::Loose)
    }
}

/// What a path stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resolved {
    /// Its KQL.
    pub(crate) expr: Expr,
    /// How it compares.
    pub(crate) kind: Kind,
}

/// Tells what a path stands for, or says in a sentence why it stands for nothing.
pub(crate) type Resolver<'a> = dyn Fn(&str) -> Result<Resolved, String> + 'a;

/// A translated value.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    /// Its KQL.
    pub(super) expr: Expr,
    /// How it compares.
    pub(super) kind: Kind,
    /// Whether it may be null in KQL.
    pub(super) nullable: bool,
    /// Where it is written, in characters from 0.
    pub(super) at: usize,
}

/// The truth value with null made false.
pub(super) fn definite(operand: Operand) -> Operand {
    if !operand.nullable {
        return operand;
    }
    let expr = Expr::call(
        "coalesce",
        vec![operand.expr, Expr::literal(Literal::Bool(false))],
    );
    Operand {
        expr,
        nullable: false,
        ..operand
    }
}

/// `a op b op c`, as a tree whose depth is the logarithm of the number of terms. False, or true for `and`, without terms.
pub(crate) fn balanced(op: BinaryOp, mut terms: Vec<Expr>) -> Expr {
    if terms.len() < 2 {
        return terms
            .pop()
            .unwrap_or_else(|| Expr::literal(Literal::Bool(op == BinaryOp::And)));
    }
    let right = terms.split_off(terms.len().div_ceil(2));
    Expr::binary(op, balanced(op, terms), balanced(op, right))
}
