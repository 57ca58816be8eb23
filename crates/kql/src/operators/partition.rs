//! `partition`: a pipeline over each group of rows, their results together (`semantics.md §23.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{PartitionBody, PartitionOperator};
use hindsight_kql_types::ScalarType;

use super::fork::run;
use super::support::{self, Output, groups, hidden_name, pass};
use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &PartitionOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    support::refuse_groups(&input, binder, span)?;
    let operators = match &node.body {
        PartitionBody::Pipe(operators) => operators,
        PartitionBody::Query(_) => {
            return Err(binder.unsupported("'partition' with a query in braces", span));
        }
    };
    let key = support::column_named(&node.by, &input, binder)?.clone();
    if key.kind == ScalarType::Dynamic {
        return Err(binder.error("SEM0001", "the key cannot be dynamic", node.by.span));
    }
    let mut columns: Vec<Output> = vec![(hidden_name("partition"), key.kind, key.expr())];
    columns.extend(input.columns.iter().map(pass));
    let (relation, _) = run(operators, input.project(columns, span)?, binder)?;
    without_group_columns(relation, span)
}

/// The relation as one table again: the columns that told subtables apart go.
pub(crate) fn without_group_columns(relation: Relation, span: Span) -> BindResult<Relation> {
    if groups(&relation).is_empty() {
        return Ok(relation);
    }
    let columns = support::visible(&relation).map(pass).collect();
    let relation = relation.project(columns, span)?;
    Ok(Relation {
        serialized: false,
        ..relation
    })
}
