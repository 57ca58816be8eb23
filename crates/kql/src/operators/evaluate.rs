//! `evaluate`: the plug-ins (`semantics.md §24`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{EvaluateOperator, TypeOf};

use crate::bind::{BindResult, Binder, convert};
use crate::plan::{self, Output, missing, pass};
use crate::plugins::{self, Bind};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &EvaluateOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    plan::refuse_groups(&input, binder, span)?;
    let call = &node.plugin;
    let schema = node.schema.as_ref();
    let before = input.columns.clone();
    let name = call.function.text.as_str();
    let Some(plugin) = plugins::find(name) else {
        return Err(binder.unsupported(format_args!("the plug-in '{name}'"), span));
    };
    let result = match plugin.bind {
        Bind::Schema(bind) => return bind(call, schema, input, binder, span),
        Bind::Columns(bind) => bind(call, input, binder, span)?,
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
            plan::project(result, outputs, span)
        }
    }
}
