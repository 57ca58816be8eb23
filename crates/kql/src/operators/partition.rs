//! `partition`: a pipeline over each group of rows, their results together (`semantics.md §23.1`).

use datafusion::common::ScalarValue;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{PartitionBody, PartitionOperator, Statement};
use hindsight_kql_types::ScalarType;

use super::fork::run;
use super::macro_expand::statements;
use super::support::{self, Output, groups, hidden_name, pass};
use super::union_plan::{Leg, union_plan};
use crate::bind::{BindResult, Binder, Entry, value_from_scalar};
use crate::relation::{Relation, Scalar};

/// How many values the key of a query in braces may have.
const MAX_QUERIES: usize = 64;

pub(crate) fn bind(
    node: &PartitionOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    support::refuse_groups(&input, binder, span)?;
    let operators = match &node.body {
        PartitionBody::Pipe(operators) => operators,
        PartitionBody::Query(body) => return with_query(node, body, input, binder, span),
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

/// `by key { query }`: the query runs once for each value of the key, which it reads with `toscalar(key)`.
fn with_query(
    node: &PartitionOperator,
    body: &[Statement],
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let key = support::column_named(&node.by, &input, binder)?.clone();
    let keys = input.project(vec![pass(&key)], span)?;
    let (_, rows) = binder.discover(super::distinct::distinct(keys), span)?;
    let mut values = Vec::new();
    for batch in rows.batches() {
        for row in 0..batch.num_rows() {
            let value = ScalarValue::try_from_array(batch.column(0), row)
                .ok()
                .and_then(|scalar| value_from_scalar(&scalar, key.kind));
            values.extend(value);
        }
    }
    if values.len() > MAX_QUERIES {
        let message = format!("the key has more than {MAX_QUERIES} values");
        return Err(binder.error("SEM0001", message, span));
    }
    let before = (binder.env.clone(), binder.operator.take());
    let mut legs = Vec::new();
    for value in values {
        let entry = Entry::Value {
            scalar: Scalar::constant(value),
            level: binder.level,
        };
        binder.env = before.0.block().with(&key.name, entry).block();
        let relation = statements(body, binder, span);
        if relation.is_err() {
            binder.env = before.0.clone();
        }
        legs.push(Leg {
            label: String::new(),
            relation: relation?,
        });
    }
    (binder.env, binder.operator) = before;
    match legs.is_empty() {
        true => Err(binder.unsupported("a query in braces over no rows", span)),
        false => union_plan(legs, None, false, span),
    }
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
