//! `partition`: runs a pipeline over each group of rows and returns the union of the results (`docs/semantics.md §23.1`).

use datafusion::common::ScalarValue;
use hindsight_kql_syntax::ast::{PartitionBody, PartitionOperator, Statement};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::rereads_rows;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::union::{Leg, union_plan};
use crate::plan::{self, Output, groups, hidden_name, pass};
use crate::real_key::as_key;
use crate::relation::{ColumnRole, Relation, Scalar};
use crate::subtables::pipeline::run_in_subtables;
use crate::value::value_from_scalar;

/// The maximum number of key values of a query in braces.
const MAX_QUERIES: usize = 64;

impl TabularOperator for PartitionOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: match &self.body {
                PartitionBody::Pipe(operators) => rereads_rows(operators),
                PartitionBody::Query(_) => true,
            },
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &PartitionOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let operators = match &node.body {
        PartitionBody::Pipe(operators) => operators,
        PartitionBody::Query(body) => {
            plan::refuse_groups(&input.relation, binder, span)?;
            return with_query(node, body, input, binder, span);
        }
    };
    let key = plan::column_named(&node.by, &input.relation, binder)?.clone();
    if key.kind == ScalarType::Dynamic {
        return Err(binder.error(Code::Semantics, "the key cannot be dynamic", node.by.span));
    }
    let outer = groups(&input.relation);
    let own = hidden_name(&format!("partition{}", outer.len()));
    let mut columns = vec![Output {
        role: ColumnRole::SubtableKey,
        ..Output::visible(own, key.kind, as_key(key.expr(), key.kind))
    }];
    columns.extend(input.relation.columns.iter().map(pass));
    let rows = input.map(|rows| rows.project(columns, span))?;
    let bound = run_in_subtables(operators, rows, binder, span)?;
    bound.map(|relation| {
        let columns = relation
            .columns
            .iter()
            .filter(|c| c.role == ColumnRole::Visible || outer.iter().any(|o| o.name == c.name))
            .map(pass)
            .collect::<Vec<Output>>();
        Ok(Relation {
            serialized: false,
            ..relation.project(columns, span)?
        })
    })
}

/// `by key { query }`: runs the query once for each value of the key. The query reads the value with `toscalar(key)`.
fn with_query(
    node: &PartitionOperator,
    body: &[Statement],
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let key = plan::column_named(&node.by, &input.relation, binder)?.clone();
    let value = as_key(key.expr(), key.kind);
    let keys = vec![(key.field.clone(), key.kind, value)];
    let keys = input.relation.clone().project(keys, span)?;
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
        return Err(binder.error(Code::Semantics, message, span));
    }
    // The query is bound without key values to determine its columns.
    let nothing = values.is_empty();
    if nothing {
        values.push(Value::null(key.kind));
    }
    let outside = binder.frame().outside_operators();
    let mut bound = input;
    let mut legs = Vec::new();
    for value in values {
        let entry = outside.value(Scalar::constant(value));
        let frame = outside.with_name(&key.name, entry);
        let rows = binder.within(frame, |binder| binder.bind_statements(body, span))?;
        legs.push(Leg {
            label: String::new(),
            relation: rows.relation.clone(),
        });
        bound = rows.behind(bound);
    }
    let rows = union_plan(legs, None, false, span)?;
    bound.map(|_| {
        if nothing {
            Ok(plan::limit(rows, 0))
        } else {
            Ok(rows)
        }
    })
}
