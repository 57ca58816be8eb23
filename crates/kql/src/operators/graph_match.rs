//! `graph-match`: a row for each match of patterns in a graph (`docs/semantics.md §25`).

use hindsight_kql_syntax::ast::GraphMatchOperator;
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph_pattern::pattern::Cycles;
use crate::graph_pattern::plan::{BoundClauses, Clauses};
use crate::plan::parameter;

impl TabularOperator for GraphMatchOperator {
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
        let cycles = cycles(self, binder)?;
        let clauses = Clauses {
            patterns: &self.patterns,
            predicate: self.predicate.as_ref(),
            columns: &self.columns,
        };
        input.graph_to_rows(|graph| {
            let clauses = BoundClauses::bind(&clauses, graph, binder, span)?;
            let matches = clauses.matches(cycles, binder, span)?;
            clauses.projected(matches, binder, span)
        })
    }
}

fn cycles(node: &GraphMatchOperator, binder: &mut dyn BindContext) -> BindResult<Cycles> {
    let Some(value) = parameter(&node.parameters, &["cycles"]) else {
        return Ok(Cycles::UniqueEdges);
    };
    match binder.constant_word(value)?.as_str() {
        "all" => Ok(Cycles::All),
        "none" => Ok(Cycles::None),
        "unique_edges" => Ok(Cycles::UniqueEdges),
        other => {
            let message = format!("unknown cycles '{other}': they are all, none or unique_edges");
            Err(binder.error(Code::Semantics, message, value.span))
        }
    }
}
