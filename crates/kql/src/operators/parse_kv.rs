//! `parse-kv`: columns from a text of keys and values (`semantics.md §20.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ParseKvOperator;
use hindsight_kql_types::{ScalarType, Value};

use super::extend::add_columns;
use super::support::{Output, parameter};
use super::{kv_text, window};
use crate::bind::{BindResult, Binder, convert};
use crate::functions::kernel_call;
use crate::relation::{Relation, Scalar};

pub(crate) fn bind(
    node: &ParseKvOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    if parameter(&node.properties, &["regex"]).is_some() {
        return Err(binder.unsupported("the property 'regex'", span));
    }
    for property in &node.properties {
        let known = [
            "pair_delimiter",
            "kv_delimiter",
            "quote",
            "escape",
            "greedy",
        ];
        if !known.contains(&property.name.text.as_str()) {
            let message = format!("unknown property '{}'", property.name.text);
            return Err(binder.error("SEM0001", message, span));
        }
    }
    let text = |name: &str, binder: &mut Binder<'_>| match parameter(&node.properties, &[name]) {
        Some(expr) => binder.constant_string(expr),
        None => Ok(String::new()),
    };
    let (pair, separator) = (
        text("pair_delimiter", binder)?,
        text("kv_delimiter", binder)?,
    );
    if pair.is_empty() || separator.is_empty() {
        return Err(binder.unsupported("guessing the delimiters", span));
    }
    let quote = text("quote", binder)?;
    let escape = text("escape", binder)?;
    let greedy = match parameter(&node.properties, &["greedy"]) {
        Some(expr) => binder.constant_bool(expr)?,
        None => false,
    };
    let source = convert(
        binder.bind_scalar(&node.source, &input)?,
        ScalarType::String,
    );
    let input = window::absorb(binder, input, span)?;
    let mut new: Vec<Output> = Vec::new();
    for column in &node.columns {
        let name = &column.name.text;
        if new.iter().any(|n| n.0 == *name) {
            let message = format!("duplicate column name '{name}'");
            return Err(binder.error("SEM0034", message, column.name.span()));
        }
        let constant = |text: &str| Scalar::constant(Value::String(text.to_owned())).expr;
        let greedy = if greedy { "greedy" } else { "" };
        let mut args = vec![source.expr.clone()];
        args.extend(
            [name, pair.as_str(), &separator, &quote, &escape, greedy]
                .into_iter()
                .map(constant),
        );
        let kinds = vec![ScalarType::String; args.len()];
        let value = kernel_call(
            "$parse_kv",
            kv_text::value_of_key,
            args,
            kinds,
            ScalarType::String,
            false,
        );
        let value = convert(Scalar::new(value, ScalarType::String), column.kind);
        new.push((name.clone(), column.kind, value.expr));
    }
    add_columns(input, new, span)
}
