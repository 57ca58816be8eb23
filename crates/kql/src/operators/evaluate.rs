//! `evaluate`: the plug-ins (`docs/semantics.md §24`).

use hindsight_kql_syntax::ast::{ColumnDeclaration, EvaluateOperator, TypeOf};
use hindsight_kql_syntax::suggest::with_hint;
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::convert::convert;
use crate::error::BindResult;
use crate::plan::{self, Output, missing, pass};
use crate::plugins::{self, Bind, Plugin};
use crate::reference;
use crate::relation::{Column, Relation};

impl TabularOperator for EvaluateOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

/// The diagnostic of a plug-in that is not supported, or does not exist.
fn unknown_plugin(name: &str, binder: &dyn BindContext, span: Span) -> Diagnostic {
    if reference::has_plugin(name) {
        return binder.unsupported(format_args!("the plug-in '{name}'"), span);
    }
    let message = format!("the plug-in '{name}' does not exist");
    let message = with_hint(message, name, plugins::all().iter().map(Plugin::name));
    binder.error(Code::Semantics, message, span)
}

fn bind(
    node: &EvaluateOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    plan::refuse_groups(&input.relation, binder, span)?;
    let call = &node.plugin;
    let schema = node.schema.as_ref();
    let name = call.function.text.as_str();
    let Some(plugin) = plugins::find(name) else {
        return Err(unknown_plugin(name, binder, span));
    };
    let before = input.relation.columns.clone();
    let result = match plugin.bind {
        Bind::Schema(bind) => return input.map(|rows| bind(call, schema, rows, binder, span)),
        Bind::Columns(bind) => input.map(|rows| bind(call, rows, binder, span))?,
        Bind::Results(bind) => bind(call, input, binder, span)?,
    };
    match schema {
        None => Ok(result),
        Some(TypeOf::Scalar(_)) => {
            Err(binder.error(Code::Semantics, "a schema of columns is expected", span))
        }
        Some(TypeOf::Row { star, columns }) => {
            let kept = before.iter().filter(|_| *star);
            result.map(|rows| with_schema(rows, kept, columns, span))
        }
    }
}

/// Appends the columns of a declared schema to the columns of the input that it keeps.
fn with_schema<'c>(
    rows: Relation,
    kept: impl Iterator<Item = &'c Column> + Clone,
    columns: &[ColumnDeclaration],
    span: Span,
) -> BindResult<Relation> {
    let of_input = |c: &&Column| kept.clone().any(|b| b.name == c.name);
    let mut outputs: Vec<Output> = rows.columns.iter().filter(of_input).map(pass).collect();
    for column in columns {
        let name = column.name.text.clone();
        let expr = match rows.column(&name) {
            Some(own) => convert(own.scalar(), column.kind).expr,
            None => missing(column.kind),
        };
        outputs.retain(|o| o.name != name);
        outputs.push(Output::visible(name, column.kind, expr));
    }
    plan::project(rows, outputs, span)
}
