//! `graph-mark-components`: adds the number of its component to every node (`docs/semantics.md §25`).

mod components;
mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::ast::GraphMarkComponentsOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use self::rows::{Kind, MarkComponents};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph::{Graph, node_field};
use crate::plan::{parameter, transform};
use crate::relation::Column;

impl TabularOperator for GraphMarkComponentsOperator {
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
        input.map_graph(|graph| bind(self, graph, binder, span))
    }
}

fn bind(
    node: &GraphMarkComponentsOperator,
    mut graph: Graph,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Graph> {
    let kind = match parameter(&node.parameters, &["kind"]) {
        None => Kind::Weak,
        Some(value) => match binder.constant_word(value)?.as_str() {
            "weak" => Kind::Weak,
            "strong" => Kind::Strong,
            other => {
                let message = format!("unknown kind '{other}': it is weak or strong");
                return Err(binder.error(Code::Semantics, message, value.span));
            }
        },
    };
    let name = match parameter(&node.parameters, &["with_component_id"]) {
        None => "ComponentId".to_owned(),
        Some(value) => binder.constant_word(value)?,
    };
    if graph.nodes.iter().any(|property| property.name == name) {
        let message = format!("the nodes have a property '{name}' already");
        return Err(binder.error(Code::DuplicateColumn, message, span));
    }
    let property = Column {
        field: node_field(&name),
        ..Column::visible(name, ScalarType::Long)
    };
    let work = MarkComponents {
        kind,
        field: property.field.clone(),
    };
    graph.nodes.push(property);
    let fields = graph.all_rows().columns;
    let rows = transform(Arc::new(work), graph.plan.clone(), fields, false, span)?;
    Ok(graph.with_plan(rows.plan))
}
