//! The predicate of `where`, divided by the elements that its parts read.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{BinaryOp, Expr, ExprKind};

use super::elements::Element;
use super::expressions::{Clause, Expressions, Over, PathFunction, Read, ReadValue};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::{Column, Relation};

/// The predicates that an element of a match must fulfil, over the rows of the graph.
#[derive(Debug, Default)]
pub(crate) struct ElementPredicates {
    /// Of a node, or of each edge of a step.
    pub(crate) own: BTreeMap<Element, Vec<PlanExpr>>,
    /// Of the inner nodes of a step.
    pub(crate) inner: BTreeMap<usize, Vec<PlanExpr>>,
}

/// A part of the predicate that is evaluated for each match.
pub(crate) struct Remaining {
    /// Over the columns of the matches.
    pub(crate) expr: Expr,
    /// Its columns of the matches.
    pub(crate) reads: Vec<usize>,
    /// The elements that it reads.
    pub(crate) elements: BTreeSet<Element>,
}

/// Divides a predicate. A part that reads one node or one edge, or that is `all(…)`, filters the elements of the search; the
/// other parts remain.
pub(crate) fn divided(
    predicate: Option<&Expr>,
    expressions: &mut Expressions<'_>,
    binder: &mut dyn BindContext,
) -> BindResult<(ElementPredicates, Vec<Remaining>)> {
    let mut own = ElementPredicates::default();
    let mut remaining = Vec::new();
    for part in conjuncts(predicate) {
        let expr = expressions.rewrite(part, Clause::Where, binder)?;
        let reads: Vec<Read> = expressions
            .used
            .iter()
            .filter_map(|index| expressions.reads.get(*index).cloned())
            .collect();
        if let Some((element, predicate)) = of_one_element(&expr, &reads, expressions, binder)? {
            own.own.entry(element).or_default().push(predicate);
        } else if let Some((step, over, predicate)) = of_all(&expr, &reads) {
            match over {
                Over::Edges => own
                    .own
                    .entry(Element::Step(step))
                    .or_default()
                    .push(predicate),
                Over::InnerNodes => own.inner.entry(step).or_default().push(predicate),
            }
        } else {
            let elements = reads.iter().map(|read| read.element).collect();
            remaining.push(Remaining {
                expr,
                reads: expressions.used.clone(),
                elements,
            });
        }
    }
    Ok((own, remaining))
}

/// The parts of a conjunction.
fn conjuncts(predicate: Option<&Expr>) -> Vec<&Expr> {
    let mut open: Vec<&Expr> = predicate.into_iter().collect();
    let mut parts = Vec::new();
    while let Some(expr) = open.pop() {
        match &expr.unparenthesised().kind {
            ExprKind::Binary {
                op: BinaryOp::And,
                left,
                right,
            } => open.extend([&**right, &**left]),
            _ => parts.push(expr),
        }
    }
    parts
}

/// The predicate over the rows of the graph, if it reads fields of one node or of one edge and is not volatile.
fn of_one_element(
    expr: &Expr,
    reads: &[Read],
    expressions: &Expressions<'_>,
    binder: &mut dyn BindContext,
) -> BindResult<Option<(Element, PlanExpr)>> {
    let Some(element) = reads.first().map(|read| read.element) else {
        return Ok(None);
    };
    let mut columns = Vec::with_capacity(reads.len());
    for read in reads {
        let (PlanExpr::Column(field), ReadValue::Cell) = (&read.scalar.expr, read.value) else {
            return Ok(None);
        };
        if read.element != element {
            return Ok(None);
        }
        columns.push(Column {
            field: field.name.clone(),
            ..read.column()
        });
    }
    let rows = Relation {
        plan: expressions.graph.plan.clone(),
        columns,
        serialized: false,
    };
    let predicate = binder.bind_predicate(expr, &rows)?;
    Ok((!predicate.is_volatile()).then_some((element, predicate)))
}

/// The predicate of `all(step, predicate)`, if the part consists of nothing else.
fn of_all(expr: &Expr, reads: &[Read]) -> Option<(usize, Over, PlanExpr)> {
    let [read] = reads else {
        return None;
    };
    let is_whole = expr.unparenthesised().as_name() == Some(read.name.as_str());
    match (read.value, read.element) {
        (ReadValue::Path(PathFunction::All, over), Element::Step(step))
            if is_whole && !read.scalar.expr.is_volatile() =>
        {
            Some((step, over, read.scalar.expr.clone()))
        }
        _ => None,
    }
}
