//! `partition`: a pipeline over each group of rows, their results together (`semantics.md §23.1`).

use datafusion::common::ScalarValue;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{PartitionBody, PartitionOperator, Statement};
use hindsight_kql_types::{ScalarType, Value};

use super::fork::run_in_subtables;
use super::macro_expand::statements;
use crate::bind::{BindResult, Binder, Entry, value_from_scalar};
use crate::functions::real_key::as_key;
use crate::plan::union::{Leg, union_plan};
use crate::plan::{self, Output, groups, hidden_name, is_hidden, pass};
use crate::relation::{Relation, Scalar};

/// How many values the key of a query in braces may have.
const MAX_QUERIES: usize = 64;

pub(crate) fn bind(
    node: &PartitionOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let operators = match &node.body {
        PartitionBody::Pipe(operators) => operators,
        PartitionBody::Query(body) => {
            plan::refuse_groups(&input, binder, span)?;
            return with_query(node, body, input, binder, span);
        }
    };
    let key = plan::column_named(&node.by, &input, binder)?.clone();
    if key.kind == ScalarType::Dynamic {
        return Err(binder.error("SEM0001", "the key cannot be dynamic", node.by.span));
    }
    let outer = groups(&input);
    let own = hidden_name(&format!("partition{}", outer.len()));
    let mut columns: Vec<Output> = vec![(own.clone(), key.kind, as_key(key.expr(), key.kind))];
    columns.extend(input.columns.iter().map(pass));
    let relation = run_in_subtables(operators, input.project(columns, span)?, binder, span)?;
    let columns = relation
        .columns
        .iter()
        .filter(|c| !is_hidden(c) || outer.iter().any(|o| o.name == c.name))
        .map(pass)
        .collect();
    Ok(Relation {
        serialized: false,
        ..relation.project(columns, span)?
    })
}

/// `by key { query }`: the query runs once for each value of the key, which it reads with `toscalar(key)`.
fn with_query(
    node: &PartitionOperator,
    body: &[Statement],
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let key = plan::column_named(&node.by, &input, binder)?.clone();
    let value = as_key(key.expr(), key.kind);
    let keys = input.project(vec![(key.field.clone(), key.kind, value)], span)?;
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
    // Over no rows the query still says which columns there are.
    let nothing = values.is_empty();
    if nothing {
        values.push(Value::null(key.kind));
    }
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
    let rows = union_plan(legs, None, false, span)?;
    match nothing {
        true => Ok(plan::limit(rows, 0)),
        false => Ok(rows),
    }
}
