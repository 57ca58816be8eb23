//! Literals (`docs/semantics.md §1.3, §9.1`).

use hindsight_kql_syntax::ast::{DynamicLiteral, Literal};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{Encoder, Value, decimal};

use super::binder::Binder;
use crate::error::BindResult;

impl Binder<'_> {
    /// The value of a literal.
    pub(crate) fn literal_value(&self, literal: &Literal, span: Span) -> BindResult<Value> {
        Ok(match literal {
            Literal::Bool(v) => Value::Bool(*v),
            Literal::Int(v) => Value::Int(*v),
            Literal::Long(v) => Value::Long(*v),
            Literal::Real(v) => Value::Real(*v),
            Literal::Decimal(text) => match decimal::parse(text) {
                Some(v) => Value::Decimal(v),
                None => {
                    let message =
                        format!("'{text}' could not be parsed as a literal of type decimal");
                    return Err(self.error(Code::Syntax, message, span));
                }
            },
            Literal::String(v) => Value::String(v.clone()),
            Literal::DateTime(v) => Value::DateTime(*v),
            Literal::DateTimeNow => Value::DateTime(self.request.now_ticks()),
            Literal::TimeSpan(v) => Value::TimeSpan(*v),
            Literal::Guid(v) => Value::Guid(*v.as_bytes()),
            Literal::Dynamic(v) => dynamic_value(v),
            Literal::Null(kind) => Value::null(*kind),
        })
    }
}

fn dynamic_value(literal: &DynamicLiteral) -> Value {
    if matches!(literal, DynamicLiteral::Null) {
        return Value::Null(hindsight_kql_types::ScalarType::Dynamic);
    }
    let mut encoder = Encoder::new();
    encode(literal, &mut encoder);
    Value::Dynamic(encoder.finish())
}

/// The parser limits the depth.
fn encode(literal: &DynamicLiteral, encoder: &mut Encoder) {
    match literal {
        DynamicLiteral::Null => encoder.null(),
        DynamicLiteral::Bool(v) => encoder.bool(*v),
        DynamicLiteral::Long(v) => encoder.long(*v),
        DynamicLiteral::Real(v) => encoder.real(*v),
        DynamicLiteral::String(v) => encoder.string(v),
        DynamicLiteral::DateTime(v) => encoder.datetime(*v),
        DynamicLiteral::Array(items) => {
            encoder.begin_array();
            items.iter().for_each(|item| encode(item, encoder));
            encoder.end();
        }
        DynamicLiteral::Bag(pairs) => {
            encoder.begin_bag();
            for (key, value) in pairs {
                encoder.key(key);
                encode(value, encoder);
            }
            encoder.end();
        }
    }
}
