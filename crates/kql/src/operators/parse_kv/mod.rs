//! `parse-kv`: extracts columns from a text of keys and values (`docs/semantics.md §20.3`).

mod text;

use std::collections::HashMap;

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{OperatorParameter, ParseKvOperator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::call::{InnerKernel, kernel_call};
use crate::context::{BindContext, Bound};
use crate::convert::convert;
use crate::error::BindResult;
use crate::operators::extend::add_columns;
use crate::plan::Output;
use crate::regular_expression::compile;
use crate::relation::{Relation, Scalar};
use crate::window;

impl TabularOperator for ParseKvOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &ParseKvOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let rules = Rules::read(&node.properties, binder, span)?;
    let source = convert(
        binder.bind_scalar(&node.source, &input)?,
        ScalarType::String,
    );
    let input = window::absorb(binder, input, span)?;
    let mut new: Vec<Output> = Vec::new();
    for column in &node.columns {
        let name = &column.name.text;
        if new.iter().any(|n| n.name == *name) {
            let message = format!("duplicate column name '{name}'");
            return Err(binder.error(Code::DuplicateColumn, message, column.name.span()));
        }
        let value = rules.value(source.expr.clone(), name);
        let value = convert(Scalar::new(value, ScalarType::String), column.kind);
        new.push(Output::visible(name, column.kind, value.expr));
    }
    add_columns(input, new, span)
}

/// The parsing rules of the text.
struct Rules {
    kernel: &'static InnerKernel,
    /// The arguments of the kernel after the text and the key.
    arguments: Vec<String>,
}

pub(crate) static BY_REGEX: InnerKernel = InnerKernel::new("$parse_kv_regex", text::value_by_regex);
pub(crate) static AFTER_KEY: InnerKernel = InnerKernel::new("$parse_kv_words", text::value_after);
pub(crate) static BETWEEN_DELIMITERS: InnerKernel =
    InnerKernel::new("$parse_kv", text::value_between);

impl Rules {
    fn read(
        properties: &[OperatorParameter],
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Rules> {
        let mut found: HashMap<&str, Vec<String>> = HashMap::new();
        for property in properties {
            let name = property.name.text.as_str();
            let value = match name {
                "greedy" => {
                    if binder.constant_bool(&property.value)? {
                        "greedy".to_owned()
                    } else {
                        String::new()
                    }
                }
                "pair_delimiter" | "kv_delimiter" | "quote" | "escape" | "regex" => {
                    binder.constant_string(&property.value)?
                }
                _ => {
                    let message = format!(
                        "unknown property '{name}'; the properties are pair_delimiter, kv_delimiter, quote, escape, regex and greedy"
                    );
                    return Err(binder.error(Code::Semantics, message, property.name.span()));
                }
            };
            found.entry(name).or_default().push(value);
        }
        let one = |name: &str| found.get(name).and_then(|all| all.last()).cloned();
        let all = |name: &str| found.get(name).cloned().unwrap_or_default();
        let refuse = |message: &str| Err(binder.error(Code::Semantics, message, span));
        if let Some(pattern) = one("regex") {
            if found.len() > 1 {
                return refuse("'regex' cannot be combined with other properties");
            }
            return match compile(&pattern) {
                Err(_) => {
                    let message = format!("Regex pattern is ill-formed: '{pattern}'");
                    Err(binder.error(Code::RegularExpression, message, span))
                }
                Ok(regex) if regex.captures_len() != 3 => {
                    refuse("'regex' must have two capture groups, for the key and the value")
                }
                Ok(_) => Ok(Rules {
                    kernel: &BY_REGEX,
                    arguments: vec![pattern],
                }),
            };
        }
        let mut quotes = String::new();
        for quote in all("quote") {
            match quote.chars().collect::<Vec<char>>().as_slice() {
                [both] => quotes.extend([*both, *both]),
                [open, close] => quotes.extend([*open, *close]),
                _ => return refuse("'quote' must have one or two characters"),
            }
        }
        let escapes = all("escape").concat();
        let greedy = one("greedy").unwrap_or_default();
        match (one("pair_delimiter"), one("kv_delimiter")) {
            (None, None) if greedy.is_empty() => Ok(Rules {
                kernel: &AFTER_KEY,
                arguments: vec![quotes, escapes],
            }),
            (Some(pair), Some(separator)) if !pair.is_empty() && !separator.is_empty() => {
                Ok(Rules {
                    kernel: &BETWEEN_DELIMITERS,
                    arguments: vec![pair, separator, quotes, escapes, greedy],
                })
            }
            _ => refuse(
                "'pair_delimiter' and 'kv_delimiter' must be given together and must not be empty",
            ),
        }
    }

    /// The text of the value of `key`; empty if the key is missing.
    fn value(&self, source: PlanExpr, key: &str) -> PlanExpr {
        let constant = |text: &str| Scalar::constant(Value::String(text.to_owned())).expr;
        let mut args = vec![source, constant(key)];
        args.extend(self.arguments.iter().map(|text| constant(text)));
        let kinds = vec![ScalarType::String; args.len()];
        kernel_call(self.kernel, args, kinds, ScalarType::String)
    }
}
