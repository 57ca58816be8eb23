//! `evaluate`: the plug-ins (`semantics.md §24`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{EvaluateOperator, TypeOf};

use super::support::{self, Output, missing, pass};
use crate::bind::{BindResult, Binder, convert};
use crate::plugins::{
    activity, bag_unpack, dcount_intersect, ip_lookup, narrow, pivot, rows_near, schema_merge,
    windows,
};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &EvaluateOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    support::refuse_groups(&input, binder, span)?;
    let call = &node.plugin;
    let schema = node.schema.as_ref();
    let before = input.columns.clone();
    let result = match call.function.text.as_str() {
        "active_users_count" => activity::users_count(call, input, binder, span)?,
        "activity_counts_metrics" => activity::counts_metrics(call, input, binder, span)?,
        "activity_engagement" => activity::engagement(call, input, binder, span)?,
        "activity_metrics" => activity::metrics(call, input, binder, span)?,
        "new_activity_metrics" => activity::new_metrics(call, input, binder, span)?,
        "bag_unpack" => return bag_unpack::bind(call, schema, input, binder, span),
        "dcount_intersect" => dcount_intersect::bind(call, input, binder, span)?,
        "pivot" => pivot::bind(call, input, binder, span)?,
        "narrow" => narrow::bind(call, input, binder, span)?,
        "rows_near" => rows_near::bind(call, input, binder, span)?,
        "ipv4_lookup" => ip_lookup::bind(ip_lookup::Family::V4, call, input, binder, span)?,
        "ipv6_lookup" => ip_lookup::bind(ip_lookup::Family::V6, call, input, binder, span)?,
        "schema_merge" => schema_merge::bind(call, input, binder, span)?,
        "sliding_window_counts" => windows::counts(call, input, binder, span)?,
        "rolling_percentile" => windows::percentile(call, input, binder, span)?,
        other => {
            return Err(binder.unsupported(format_args!("the plug-in '{other}'"), span));
        }
    };
    match schema {
        None => Ok(result),
        Some(TypeOf::Scalar(_)) => {
            Err(binder.error("SEM0001", "a schema of columns is expected", span))
        }
        Some(TypeOf::Row { star, columns }) => {
            let mut outputs: Vec<Output> = result
                .columns
                .iter()
                .filter(|c| *star && before.iter().any(|b| b.name == c.name))
                .map(pass)
                .collect();
            for column in columns {
                let name = column.name.text.clone();
                let expr = match result.column(&name) {
                    Some(own) => convert(own.scalar(), column.kind).expr,
                    None => missing(column.kind),
                };
                outputs.retain(|o| o.0 != name);
                outputs.push((name, column.kind, expr));
            }
            support::project(result, outputs, span)
        }
    }
}
