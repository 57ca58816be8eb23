//! OData trees become KQL trees, with types checked on the way.
//!
//! OData has two truth values where KQL has three: a comparison with an absent value is false there (only `ne` is true) and
//! null here. The difference shows under `not` and where comparisons are compared, so those places make a null false first.

mod compare;
mod convert;
mod functions;
mod lambda;

use std::cell::RefCell;

use hindsight_kql_syntax::ast::{
    BinaryOp, Expr, ExprKind, Literal, Operator, OperatorKind, ProjectAwayOperator, UnaryOp,
};
use hindsight_kql_types::ScalarType;

use super::Fault;
use super::ast::{Arithmetic, Node, NodeKind};

/// How deep the sides of `mod` may be.
const MAX_MODULO_DEPTH: usize = 3;

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
    fn describe(self) -> &'static str {
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
struct Operand {
    expr: Expr,
    kind: Kind,
    /// May be null in KQL.
    nullable: bool,
    at: usize,
}

/// A predicate's KQL.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predicate {
    /// What adds the columns that its lambdas need.
    pub(crate) before: Vec<Operator>,
    /// Those columns.
    pub(crate) added: Vec<String>,
    /// The condition.
    pub(crate) expr: Expr,
}

/// The KQL of a predicate.
pub(crate) fn predicate(node: &Node, resolver: &Resolver<'_>) -> Result<Predicate, Fault> {
    let translator = Translator {
        resolver,
        lambdas: Some(RefCell::default()),
    };
    let expr = translator.truth(node)?.expr;
    let lambdas = translator.lambdas.unwrap_or_default().into_inner();
    let (added, before) = lambdas.into_iter().unzip();
    Ok(Predicate {
        before,
        added,
        expr,
    })
}

/// The operators that keep the rows which meet all of `predicates`.
pub(crate) fn filters(predicates: Vec<Predicate>) -> Vec<Operator> {
    let (mut operators, mut terms, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for predicate in predicates {
        operators.extend(predicate.before);
        added.extend(predicate.added);
        terms.push(predicate.expr);
    }
    if !terms.is_empty() {
        operators.push(Operator::filter(balanced(BinaryOp::And, terms)));
    }
    if !added.is_empty() {
        let columns = added.iter().map(Expr::name).collect();
        operators.push(Operator::synthetic(OperatorKind::ProjectAway(
            ProjectAwayOperator { columns },
        )));
    }
    operators
}

/// The KQL of a sort key.
pub(crate) fn sort_key(node: &Node, resolver: &Resolver<'_>) -> Result<Expr, Fault> {
    let operand = Translator::plain(resolver).value(node)?;
    match operand.kind {
        Kind::Bag | Kind::List => Err(Fault::new(
            node.at,
            "A collection has no order; name one of its properties.",
        )),
        Kind::Null => Err(Fault::new(node.at, "null has no order.")),
        _ => Ok(operand.expr),
    }
}

/// A value that becomes a property: its KQL and what it is.
pub(crate) fn computed(node: &Node, resolver: &Resolver<'_>) -> Result<Resolved, Fault> {
    let operand = Translator::plain(resolver).value(node)?;
    match operand.kind {
        Kind::Bag | Kind::List => Err(Fault::new(
            node.at,
            "A collection cannot become a property; name one of its properties.",
        )),
        Kind::Null => Err(Fault::new(node.at, "null is no value of a property.")),
        Kind::Bool => {
            let Operand { expr, kind, .. } = definite(operand);
            Ok(Resolved { expr, kind })
        }
        kind => Ok(Resolved {
            expr: operand.expr,
            kind,
        }),
    }
}

/// A value to be added up: a number or a duration. A dimension is read as a number.
pub(crate) fn measure(node: &Node, resolver: &Resolver<'_>) -> Result<Resolved, Fault> {
    let operand = convert::loosened(Translator::plain(resolver).value(node)?, Kind::Number);
    match operand.kind {
        kind @ (Kind::Number | Kind::Span) => Ok(Resolved {
            expr: operand.expr,
            kind,
        }),
        other => Err(Fault::new(
            node.at,
            format!(
                "A number or a duration is expected here, and this is {}.",
                other.describe()
            ),
        )),
    }
}

struct Translator<'a> {
    resolver: &'a Resolver<'a>,
    /// The columns that lambdas need and the operators that add them; none where there can be no lambda.
    lambdas: Option<RefCell<Vec<(String, Operator)>>>,
}

impl<'a> Translator<'a> {
    /// For what is no condition of a filter.
    fn plain(resolver: &'a Resolver<'a>) -> Translator<'a> {
        Translator {
            resolver,
            lambdas: None,
        }
    }
}

impl Translator<'_> {
    /// A value that is true or false.
    fn truth(&self, node: &Node) -> Result<Operand, Fault> {
        let operand = self.value(node)?;
        match operand.kind {
            Kind::Bool => Ok(operand),
            Kind::Flag => Ok(convert::flag_to_bool(operand)),
            other => Err(Fault::new(
                node.at,
                format!(
                    "A condition is expected here, such as a comparison, and this is {}.",
                    other.describe()
                ),
            )),
        }
    }

    fn value(&self, node: &Node) -> Result<Operand, Fault> {
        let at = node.at;
        let constant = |value: Literal, kind: Kind| {
            Ok(Operand {
                expr: Expr::literal(value),
                kind,
                nullable: false,
                at,
            })
        };
        match &node.kind {
            NodeKind::Null => Ok(Operand {
                expr: Expr::literal(Literal::Dynamic(
                    hindsight_kql_syntax::ast::DynamicLiteral::Null,
                )),
                kind: Kind::Null,
                nullable: true,
                at,
            }),
            NodeKind::Bool(b) => constant(Literal::Bool(*b), Kind::Bool),
            NodeKind::Whole(n) => constant(Literal::Long(*n), Kind::Number),
            NodeKind::Real(n) => constant(Literal::Real(*n), Kind::Number),
            NodeKind::Text(text) => constant(Literal::String(text.clone()), Kind::Text),
            NodeKind::Moment(ticks) => constant(Literal::DateTime(*ticks), Kind::Moment),
            NodeKind::Span(ticks) => constant(Literal::TimeSpan(*ticks), Kind::Span),
            NodeKind::Path(path) => {
                let Resolved { expr, kind } =
                    (self.resolver)(path).map_err(|message| Fault::new(at, message))?;
                Ok(Operand {
                    expr,
                    kind,
                    nullable: !kind.is_text(),
                    at,
                })
            }
            NodeKind::Not(inner) => {
                let inner = definite(self.truth(inner)?);
                Ok(Operand {
                    expr: Expr::call("not", vec![inner.expr]),
                    ..inner
                })
            }
            NodeKind::Minus(inner) => self.minus(at, inner),
            NodeKind::Junction { and, parts } => self.junction(at, *and, parts),
            NodeKind::Compare { op, left, right } => compare::compare(self, *op, left, right, at),
            NodeKind::Arithmetic { op, left, right } => self.arithmetic(*op, left, right, at),
            NodeKind::In { value, list } => compare::in_list(self, value, list, at),
            NodeKind::Call { name, arguments } => functions::call_of(self, name, arguments, at),
            NodeKind::Lambda {
                path,
                all,
                variable,
                condition,
            } => lambda::translate(self, path, *all, variable, condition.as_deref(), at),
        }
    }

    fn minus(&self, at: usize, inner: &Node) -> Result<Operand, Fault> {
        let inner = self.value(inner)?;
        if !matches!(inner.kind, Kind::Number | Kind::Span) {
            return Err(Fault::new(
                at,
                format!(
                    "'-' needs a number or a duration, and this is {}.",
                    inner.kind.describe()
                ),
            ));
        }
        let expr = Expr::synthetic(ExprKind::Unary {
            op: UnaryOp::Minus,
            value: Box::new(inner.expr),
        });
        Ok(Operand { expr, ..inner })
    }

    fn junction(&self, at: usize, and: bool, parts: &[Node]) -> Result<Operand, Fault> {
        let parts = parts
            .iter()
            .map(|part| self.truth(part))
            .collect::<Result<Vec<_>, _>>()?;
        let nullable = parts.iter().any(|part| part.nullable);
        let op = if and { BinaryOp::And } else { BinaryOp::Or };
        let expr = balanced(op, parts.into_iter().map(|part| part.expr).collect());
        Ok(Operand {
            expr,
            kind: Kind::Bool,
            nullable,
            at,
        })
    }

    fn arithmetic(
        &self,
        op: Arithmetic,
        left: &Node,
        right: &Node,
        at: usize,
    ) -> Result<Operand, Fault> {
        let deepest = left.depth.max(right.depth);
        let (left, right) = (self.value(left)?, self.value(right)?);
        let (left, right) = convert::loose_numbers(left, right);
        let kind = match (left.kind, op, right.kind) {
            (Kind::Number, _, Kind::Number) => Kind::Number,
            (Kind::Moment, Arithmetic::Add | Arithmetic::Subtract, Kind::Span) => Kind::Moment,
            (Kind::Span, Arithmetic::Add, Kind::Moment) => Kind::Moment,
            (Kind::Moment, Arithmetic::Subtract, Kind::Moment) => Kind::Span,
            (Kind::Span, Arithmetic::Add | Arithmetic::Subtract, Kind::Span) => Kind::Span,
            (Kind::Span, Arithmetic::Multiply | Arithmetic::Divide, Kind::Number) => Kind::Span,
            (Kind::Number, Arithmetic::Multiply, Kind::Span) => Kind::Span,
            (a, _, b) => {
                let (a, b) = (a.describe(), b.describe());
                return Err(Fault::new(
                    at,
                    format!("This operator does not work on {a} and {b}."),
                ));
            }
        };
        if op == Arithmetic::Modulo && deepest > MAX_MODULO_DEPTH {
            return Err(Fault::new(
                at,
                format!("The sides of 'mod' may be nested up to {MAX_MODULO_DEPTH} levels deep."),
            ));
        }
        let nullable = left.nullable || right.nullable;
        let expr = match op {
            Arithmetic::Add => Expr::binary(BinaryOp::Add, left.expr, right.expr),
            Arithmetic::Subtract => Expr::binary(BinaryOp::Subtract, left.expr, right.expr),
            Arithmetic::Multiply => Expr::binary(BinaryOp::Multiply, left.expr, right.expr),
            Arithmetic::Divide => Expr::binary(BinaryOp::Divide, left.expr, right.expr),
            Arithmetic::DivideBy => Expr::binary(
                BinaryOp::Divide,
                Expr::call("todouble", vec![left.expr]),
                right.expr,
            ),
            Arithmetic::Modulo => remainder(left.expr, right.expr),
        };
        // A division by zero has no value.
        let divides = matches!(
            op,
            Arithmetic::Divide | Arithmetic::DivideBy | Arithmetic::Modulo
        );
        Ok(Operand {
            expr,
            kind,
            nullable: nullable || divides,
            at,
        })
    }
}

/// `left mod right` with the sign of the left side, as OData has it; KQL's `%` is never negative. Both sides are written
/// more than once, hence [`MAX_MODULO_DEPTH`].
fn remainder(left: Expr, right: Expr) -> Expr {
    let plain = Expr::binary(BinaryOp::Modulo, left.clone(), right.clone());
    let negative = Expr::binary(BinaryOp::Less, left, Expr::long(0));
    let uneven = Expr::binary(BinaryOp::NotEqual, plain.clone(), Expr::long(0));
    let below = Expr::binary(
        BinaryOp::Subtract,
        plain.clone(),
        Expr::call("abs", vec![right]),
    );
    Expr::call(
        "iff",
        vec![Expr::binary(BinaryOp::And, negative, uneven), below, plain],
    )
}

/// The truth value with null made false.
fn definite(operand: Operand) -> Operand {
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
