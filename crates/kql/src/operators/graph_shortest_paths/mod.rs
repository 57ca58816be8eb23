//! `graph-shortest-paths`: the shortest simple paths between two nodes of a pattern (`docs/semantics.md §25`).
//!
//! A breadth-first search answers a pattern of one path whose predicates are about single nodes and edges. For any other
//! pattern all simple paths are searched, the predicate filters them, and the shortest remain.

mod breadth_first;
mod choose;
mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::ast::GraphShortestPathsOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use self::choose::{ChooseShortest, END, START, length_field};
use self::rows::ShortestPaths;
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph::{FROM, Graph};
use crate::graph_pattern::columns::MatchColumn;
use crate::graph_pattern::elements::Element;
use crate::graph_pattern::expressions::ReadValue;
use crate::graph_pattern::pattern::Cycles;
use crate::graph_pattern::plan::{BoundClauses, Clauses};
use crate::graph_pattern::rows::MatchGraph;
use crate::plan::{parameter, transform};
use crate::relation::{Column, Relation};

impl TabularOperator for GraphShortestPathsOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Graph,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        if self.patterns.len() > 1 {
            let message = "one pattern is expected";
            return Err(binder.error(Code::SeveralSequences, message, span));
        }
        let all = returns_all(self, binder)?;
        input.graph_to_rows(|graph| bind(self, all, graph, binder, span))
    }
}

/// Whether all shortest paths are returned, and not any.
fn returns_all(
    node: &GraphShortestPathsOperator,
    binder: &mut dyn BindContext,
) -> BindResult<bool> {
    let Some(value) = parameter(&node.parameters, &["output"]) else {
        return Ok(false);
    };
    match binder.constant_word(value)?.as_str() {
        "any" => Ok(false),
        "all" => Ok(true),
        other => {
            let message = format!("unknown output '{other}': it is any or all");
            Err(binder.error(Code::Semantics, message, value.span))
        }
    }
}

fn bind(
    node: &GraphShortestPathsOperator,
    all: bool,
    graph: Graph,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let clauses = Clauses {
        patterns: &node.patterns,
        predicate: node.predicate.as_ref(),
        columns: &node.columns,
    };
    let clauses = BoundClauses::bind(&clauses, graph, binder, span)?;
    for part in &clauses.remaining {
        if part.elements.len() > 1 {
            let message = "a predicate of shortest paths cannot compare two elements";
            return Err(binder.error(Code::ComparedElements, message, part.expr.span));
        }
    }
    let one_path = match clauses.elements.steps.as_slice() {
        [step] => step.low <= 1 && step.from != step.to,
        _ => false,
    };
    let paths = if one_path && clauses.remaining.is_empty() {
        let input = clauses.search_input(span)?;
        let work = ShortestPaths {
            pattern: clauses.pattern(Cycles::None),
            fields: input.fields,
            all,
        };
        transform(Arc::new(work), input.rows.plan, input.columns, false, span)?
    } else {
        chosen(&clauses, all, binder, span)?
    };
    clauses.projected(paths, binder, span)
}

/// The shortest of all simple paths that fulfil the predicate.
fn chosen(
    clauses: &BoundClauses,
    all: bool,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let (first, last) = clauses.elements.ends();
    let mut input = clauses.search_input(span)?;
    for (name, node) in [(START, first), (END, last)] {
        input.fields.columns.push(MatchColumn {
            field: FROM.to_owned(),
            element: Element::Node(node),
            value: ReadValue::Cell,
        });
        input.columns.push(Column::scratch(name, ScalarType::Long));
    }
    let steps = clauses.elements.steps.len();
    for step in 0..steps {
        input.fields.columns.push(MatchColumn {
            field: FROM.to_owned(),
            element: Element::Step(step),
            value: ReadValue::Length,
        });
        let length = Column::scratch(length_field(step), ScalarType::Long);
        input.columns.push(length);
    }
    let work = MatchGraph {
        pattern: clauses.pattern(Cycles::None),
        fields: input.fields,
    };
    let paths = transform(Arc::new(work), input.rows.plan, input.columns, false, span)?;
    let paths = clauses.filtered(paths, binder)?;
    let work = ChooseShortest { all, steps };
    transform(Arc::new(work), paths.plan, paths.columns, false, span)
}
