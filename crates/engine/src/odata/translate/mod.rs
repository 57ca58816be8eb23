//! OData trees become KQL trees, with types checked on the way.
//!
//! OData has two truth values where KQL has three: a comparison with an absent value is false there (only `ne` is true) and
//! null here. The difference shows under `not` and where comparisons are compared, so those places make a null false first.

mod compare;
mod convert;
mod functions;
mod lambda;
mod operand;
mod translator;

use std::cell::RefCell;

use hindsight_kql_syntax::ast::{
    BinaryOp, Expr, ExprKind, Literal, Operator, OperatorKind, ProjectAwayOperator, UnaryOp,
};

use super::Fault;
use super::ast::{Arithmetic, Node, NodeKind};
pub(crate) use operand::{Kind, Resolved, Resolver, balanced};
use operand::{Operand, definite};
use translator::Translator;

/// How deep the sides of `mod` may be.
const MAX_MODULO_DEPTH: usize = 3;

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
        Kind::Null => Err(Fault::new(node.at, "null is not a value of a property.")),
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
