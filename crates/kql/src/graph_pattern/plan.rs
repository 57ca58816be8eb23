//! Binds the clauses of `graph-match` and `graph-shortest-paths`, and plans their search.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{Expr, GraphPattern, NamedExpr};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::columns::MatchColumn;
use super::elements::{Element, Elements};
use super::expressions::{Clause, Expressions, Read, ReadValue};
use super::names::column_names;
use super::pattern::{Cycles, Pattern};
use super::predicates::{ElementPredicates, Remaining, divided};
use super::rows::{MatchGraph, SearchFields};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::graph::{FROM, Graph, TO};
use crate::plan::{Output, field, hidden_name, project, transform};
use crate::relation::{Column, Relation};

/// The clauses of an operator over a graph.
pub(crate) struct Clauses<'n> {
    pub(crate) patterns: &'n [GraphPattern],
    pub(crate) predicate: Option<&'n Expr>,
    pub(crate) columns: &'n [NamedExpr],
}

/// The bound clauses.
pub(crate) struct BoundClauses {
    pub(crate) elements: Elements,
    graph: Graph,
    /// The columns of the matches.
    reads: Vec<Read>,
    predicates: ElementPredicates,
    /// The parts of the predicate over several elements or over paths.
    pub(crate) remaining: Vec<Remaining>,
    columns: Vec<(String, Expr)>,
}

/// What the search reads: rows of the graph, with fields for the columns of the matches and for predicates.
pub(crate) struct SearchInput {
    pub(crate) rows: Relation,
    pub(crate) fields: SearchFields,
    /// The columns of the matches.
    pub(crate) columns: Vec<Column>,
}

impl BoundClauses {
    /// Binds the clauses.
    ///
    /// # Errors
    /// SEM0001 if there is no clause `project`; errors of the patterns and of the expressions.
    pub(crate) fn bind(
        clauses: &Clauses<'_>,
        graph: Graph,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<BoundClauses> {
        if clauses.columns.is_empty() {
            return Err(binder.error(Code::Semantics, "missing project clause", span));
        }
        let elements = Elements::new(clauses.patterns, binder, span)?;
        let names = column_names(clauses.columns, &elements, binder)?;
        let mut expressions = Expressions::new(&elements, graph);
        let (predicates, remaining) = divided(clauses.predicate, &mut expressions, binder)?;
        let mut needed = BTreeSet::new();
        for part in &remaining {
            needed.extend(part.reads.iter().copied());
        }
        let mut columns = Vec::with_capacity(names.len());
        for (name, item) in names.into_iter().zip(clauses.columns) {
            let expr = expressions.rewrite(&item.expr, Clause::Project, binder)?;
            needed.extend(expressions.used.iter().copied());
            columns.push((name, expr));
        }
        let Expressions { graph, reads, .. } = expressions;
        let reads = reads.into_iter().enumerate();
        let reads = reads.filter(|(index, _)| needed.contains(index));
        Ok(BoundClauses {
            graph,
            reads: reads.map(|(_, read)| read).collect(),
            elements,
            predicates,
            remaining,
            columns,
        })
    }

    /// The pattern of the search.
    pub(crate) fn pattern(&self, cycles: Cycles) -> Pattern {
        Pattern {
            nodes: self.elements.nodes(),
            steps: self.elements.steps.clone(),
            cycles,
        }
    }

    /// The rows that the search reads.
    pub(crate) fn search_input(&self, span: Span) -> BindResult<SearchInput> {
        let mut outputs = vec![
            Output::scratch(FROM, ScalarType::Long, field(FROM)),
            Output::scratch(TO, ScalarType::Long, field(TO)),
        ];
        let mut fields = SearchFields {
            columns: Vec::with_capacity(self.reads.len()),
            nodes: vec![None; self.elements.nodes()],
            steps: vec![None; self.elements.steps.len()],
            inner_nodes: vec![None; self.elements.steps.len()],
        };
        let mut columns: Vec<Column> = Vec::new();
        for read in &self.reads {
            let field = output(&mut outputs, &read.scalar.expr, read.scalar.kind);
            fields.columns.push(MatchColumn {
                field,
                element: read.element,
                value: read.value,
            });
            columns.push(read.column());
        }
        if let Some(partition) = &self.graph.partition {
            let field = output(&mut outputs, &partition.expr(), partition.kind);
            fields.columns.push(MatchColumn {
                field,
                element: Element::Node(0),
                value: ReadValue::Cell,
            });
            columns.push(partition.under_its_name());
        }
        if columns.is_empty() {
            fields.columns.push(MatchColumn {
                field: FROM.to_owned(),
                element: Element::Node(0),
                value: ReadValue::Cell,
            });
            columns.push(Column::scratch(hidden_name("match"), ScalarType::Long));
        }
        for (element, predicates) in &self.predicates.own {
            let place = match element {
                Element::Node(node) => fields.nodes.get_mut(*node),
                Element::Step(step) => fields.steps.get_mut(*step),
            };
            if let Some(place) = place {
                *place = conjunction(&mut outputs, predicates);
            }
        }
        for (step, predicates) in &self.predicates.inner {
            if let Some(place) = fields.inner_nodes.get_mut(*step) {
                *place = conjunction(&mut outputs, predicates);
            }
        }
        let rows = Relation {
            plan: self.graph.plan.clone(),
            columns: Vec::new(),
            serialized: false,
        };
        Ok(SearchInput {
            rows: rows.project(outputs, span)?,
            fields,
            columns,
        })
    }

    /// The matches of the patterns for which the whole predicate is true.
    pub(crate) fn matches(
        &self,
        cycles: Cycles,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Relation> {
        let input = self.search_input(span)?;
        let work = MatchGraph {
            pattern: self.pattern(cycles),
            fields: input.fields,
        };
        let matches = transform(Arc::new(work), input.rows.plan, input.columns, false, span)?;
        self.filtered(matches, binder)
    }

    /// The matches for which the remaining parts of the predicate are true.
    pub(crate) fn filtered(
        &self,
        mut matches: Relation,
        binder: &mut dyn BindContext,
    ) -> BindResult<Relation> {
        for part in &self.remaining {
            let predicate = binder.bind_predicate(&part.expr, &matches)?;
            matches = matches.filter(predicate, part.expr.span)?;
        }
        Ok(matches)
    }

    /// The columns of `project` over matches.
    pub(crate) fn projected(
        &self,
        matches: Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Relation> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for (name, expr) in &self.columns {
            let scalar = binder.bind_scalar(expr, &matches)?;
            columns.push(Output::visible(name, scalar.kind, scalar.expr));
        }
        project(matches, columns, span)
    }
}

/// Adds an expression to the outputs, if it is not one of them; returns its field.
fn output(outputs: &mut Vec<Output>, expr: &PlanExpr, kind: ScalarType) -> String {
    if let Some(known) = outputs.iter().find(|o| o.expr == *expr) {
        return known.name.clone();
    }
    let name = hidden_name(&format!("search.{}", outputs.len()));
    outputs.push(Output::scratch(&name, kind, expr.clone()));
    name
}

fn conjunction(outputs: &mut Vec<Output>, predicates: &[PlanExpr]) -> Option<String> {
    let all = predicates.iter().cloned().reduce(PlanExpr::and)?;
    Some(output(outputs, &all, ScalarType::Bool))
}
