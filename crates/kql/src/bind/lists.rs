//! `in`, `in~`, `has_any`, `has_all` and their negations (`docs/semantics.md §6.3`).

use datafusion::logical_expr::{Expr as PlanExpr, expr::InList, lit};
use hindsight_kql_syntax::ast::{BinaryOp, Expr, ListOp};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType, Value};

use super::binder::Binder;
use super::comparison::Comparison;
use super::logic::balanced;
use crate::call::{InnerKernel, kernel_call};
use crate::convert::convert;
use crate::error::BindResult;
use crate::fold::fold;
use crate::list_match::{HAS_ALL, HAS_ANY, IN, IN_FOLDED};
use crate::relation::{Relation, Scalar};
use crate::value::value_to_scalar;

/// The right side of a list operator.
enum List {
    /// Constants; arrays are flattened.
    Constants(Vec<Value>),
    /// One dynamic array that is known only during execution. It may be of the row.
    Array(Scalar),
    /// The first column of a table, of this type, as one dynamic array.
    Column(Scalar, ScalarType),
    /// Items of which at least one is known only during execution: `toscalar`, or an expression over the row.
    Scalars(Vec<Scalar>),
}

impl Binder<'_> {
    /// `value op (list)`
    pub(crate) fn bind_list(
        &mut self,
        op: ListOp,
        value: &Expr,
        list: &[Expr],
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let (value, list) = self.both(
            |binder| binder.bind_scalar(value, input),
            |binder| binder.bind_list_items(list, input),
        )?;
        if let (ListOp::In | ListOp::NotIn, List::Constants(constants)) = (op, &list)
            && let Some(scalar) = self.membership_of_listed_texts(&value, constants, input)
        {
            return Ok(match op {
                ListOp::NotIn => negation(scalar),
                _ => scalar,
            });
        }
        let scalar = match op {
            ListOp::In | ListOp::NotIn => self.membership(value, list, span)?,
            _ => self.text_list(op, value, list, span)?,
        };
        let negated = matches!(op, ListOp::NotIn | ListOp::NotInIgnoreCase);
        Ok(if negated { negation(scalar) } else { scalar })
    }

    fn bind_list_items(&mut self, list: &[Expr], input: &Relation) -> BindResult<List> {
        if let [only] = list
            && self.is_tabular(only, Some(input))
        {
            let (array, kind) = self.bind_list_subquery(only)?;
            return Ok(List::Column(array, kind));
        }
        let mut constants = Vec::new();
        let mut scalars = Vec::new();
        for scalar in self.bind_scalars(list, input)? {
            match &scalar.constant {
                Some(value) => flatten(value, &mut constants),
                None => scalars.push(scalar),
            }
        }
        if scalars.is_empty() {
            return Ok(List::Constants(constants));
        }
        if let [scalar] = scalars.as_slice()
            && scalar.kind == ScalarType::Dynamic
            && constants.is_empty()
        {
            return Ok(List::Array(scalar.clone()));
        }
        scalars.extend(constants.into_iter().map(Scalar::constant));
        Ok(List::Scalars(scalars))
    }

    fn membership(&mut self, value: Scalar, list: List, span: Span) -> BindResult<Scalar> {
        match list {
            List::Array(array) => Ok(in_array(value, array)),
            List::Column(array, kind) => {
                let value = match (value.kind, kind) {
                    (_, ScalarType::String | ScalarType::Dynamic) => value,
                    (ScalarType::String, _) => convert(value, kind),
                    _ => value,
                };
                Ok(in_array(value, array))
            }
            List::Scalars(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.push(match item.kind {
                        ScalarType::Dynamic => in_array(value.clone(), item).expr,
                        _ => self.item_equals(&value, item, span)?,
                    });
                }
                Ok(Scalar::new(balanced(parts, BinaryOp::Or), ScalarType::Bool))
            }
            List::Constants(values) => self.constant_membership(value, values, span),
        }
    }

    /// Text compared with values of several types: it is converted once to each type (`D27`).
    fn text_among_types(
        &mut self,
        value: &Scalar,
        values: Vec<Value>,
        span: Span,
    ) -> BindResult<Scalar> {
        let mut by_type: Vec<(ScalarType, Vec<Value>)> = Vec::new();
        for item in values {
            match by_type.iter_mut().find(|(kind, _)| *kind == item.kind()) {
                Some((_, items)) => items.push(item),
                None => by_type.push((item.kind(), vec![item])),
            }
        }
        let constant = value.constant.is_some();
        let mut parts = Vec::with_capacity(by_type.len());
        for (kind, items) in by_type {
            let converted = convert(value.clone(), kind);
            parts.push(self.constant_membership(converted, items, span)?.expr);
        }
        let any = Scalar::new(balanced(parts, BinaryOp::Or), ScalarType::Bool);
        Ok(fold(any, constant))
    }

    /// A list of constants: a plain `IN` if the types permit it, because `IN` supports pruning.
    fn constant_membership(
        &mut self,
        value: Scalar,
        values: Vec<Value>,
        span: Span,
    ) -> BindResult<Scalar> {
        let constant = value.constant.is_some();
        let values: Vec<Value> = values.into_iter().filter(|v| !v.is_null()).collect();
        let is_text = |v: &Value| v.kind() == ScalarType::String;
        let converts = |v: &Value| !matches!(v, Value::String(_) | Value::Dynamic(_));
        if value.kind == ScalarType::String
            && values.iter().any(converts)
            && values.iter().all(|v| is_text(v) || converts(v))
        {
            return self.text_among_types(&value, values, span);
        }
        let by_value = matches!(
            value.kind,
            ScalarType::Real | ScalarType::Decimal | ScalarType::Dynamic
        ) || values.iter().any(|v| !fits(v, value.kind));
        if by_value {
            if value.kind == ScalarType::Dynamic
                && values.iter().all(|v| matches!(v, Value::String(_)))
            {
                return Ok(fold(list_call(&IN, value, array_of(&values)), constant));
            }
            let mut parts = Vec::with_capacity(values.len());
            for item in values {
                let item = Scalar::constant(item);
                parts.push(match (value.kind, item.kind) {
                    (ScalarType::Dynamic, ScalarType::Dynamic) => {
                        in_array(value.clone(), item).expr
                    }
                    _ => self.item_equals(&value, item, span)?,
                });
            }
            if parts.is_empty() {
                return Ok(Scalar::constant(Value::Bool(false)));
            }
            return Ok(fold(
                Scalar::new(balanced(parts, BinaryOp::Or), ScalarType::Bool),
                constant,
            ));
        }
        if values.is_empty() {
            return Ok(Scalar::constant(Value::Bool(false)));
        }
        let literals = values
            .iter()
            .map(|v| lit(value_to_scalar(&v.convert(value.kind))))
            .collect();
        let test = PlanExpr::InList(InList::new(Box::new(value.expr), literals, false));
        let expr = match value.kind {
            ScalarType::String => test,
            _ => PlanExpr::IsTrue(Box::new(test)),
        };
        Ok(fold(Scalar::new(expr, ScalarType::Bool), constant))
    }

    fn item_equals(&self, value: &Scalar, item: Scalar, span: Span) -> BindResult<PlanExpr> {
        let equal = self.compare(Comparison::Equal, value.clone(), item, span)?;
        Ok(PlanExpr::IsTrue(Box::new(equal.expr)))
    }

    /// A text operator with a list of texts on the right.
    fn text_list(&self, op: ListOp, value: Scalar, list: List, span: Span) -> BindResult<Scalar> {
        let (kernel, code, combination) = match op {
            ListOp::HasAll => (&HAS_ALL, Code::NotText, BinaryOp::And),
            ListOp::HasAny => (&HAS_ANY, Code::NotText, BinaryOp::Or),
            _ => (&IN_FOLDED, Code::TextEqualityOfOtherType, BinaryOp::Or),
        };
        if !matches!(value.kind, ScalarType::String | ScalarType::Dynamic) {
            let message = format!(
                "the operator '{}' needs string operands and the left one is {}",
                op.spelling(),
                value.kind
            );
            return Err(self.error(code, message, span));
        }
        let constant = value.constant.is_some();
        match list {
            List::Constants(values) => {
                Ok(fold(list_call(kernel, value, array_of(&values)), constant))
            }
            List::Array(array) | List::Column(array, _) => Ok(list_call(kernel, value, array)),
            List::Scalars(items) => {
                let parts = items.into_iter().map(|item| {
                    let item = convert(item, ScalarType::Dynamic);
                    list_call(kernel, value.clone(), item).expr
                });
                Ok(Scalar::new(
                    balanced(parts.collect(), combination),
                    ScalarType::Bool,
                ))
            }
        }
    }
}

fn negation(scalar: Scalar) -> Scalar {
    let constant = scalar.constant.is_some();
    let expr = PlanExpr::Not(Box::new(scalar.expr));
    fold(Scalar::new(expr, ScalarType::Bool), constant)
}

/// Whether `value` is an element of the dynamic `array`, or is that dynamic if it is no array. A dynamic holds no decimal: its numbers
/// are longs and reals.
fn in_array(value: Scalar, array: Scalar) -> Scalar {
    let value = match value.kind {
        ScalarType::Decimal => convert(value, ScalarType::Real),
        _ => value,
    };
    list_call(&IN, value, array)
}

fn list_call(kernel: &'static InnerKernel, value: Scalar, list: Scalar) -> Scalar {
    let kinds = vec![value.kind, ScalarType::Dynamic];
    let args = vec![value.expr, list.expr];
    let expr = kernel_call(kernel, args, kinds, ScalarType::Bool);
    Scalar::new(expr, ScalarType::Bool)
}

/// Collects the values into one dynamic array.
fn array_of(values: &[Value]) -> Scalar {
    let mut encoder = Encoder::new();
    encoder.begin_array();
    values.iter().for_each(|value| value.pack(&mut encoder));
    encoder.end();
    Scalar::constant(Value::Dynamic(encoder.finish()))
}

/// Replaces arrays by their elements.
fn flatten(value: &Value, out: &mut Vec<Value>) {
    let Value::Dynamic(bytes) = value else {
        out.push(value.clone());
        return;
    };
    let dynamic = DynamicRef::new(bytes);
    match dynamic.type_name() {
        "array" => out.extend(dynamic.iter_array().map(element)),
        _ => out.push(element(dynamic)),
    }
}

fn element(item: DynamicRef<'_>) -> Value {
    if item.is_null() {
        return Value::Null(ScalarType::Dynamic);
    }
    if let Some(v) = item.as_bool() {
        return Value::Bool(v);
    }
    if let Some(v) = item.as_i64() {
        return Value::Long(v);
    }
    if let Some(v) = item.as_f64() {
        return Value::Real(v);
    }
    if let Some(v) = item.as_str() {
        return Value::String(v.to_owned());
    }
    let mut bytes = Vec::new();
    item.to_encoded(&mut bytes);
    Value::Dynamic(bytes)
}

/// Whether a value can be converted to `kind` without a change of its equality.
fn fits(value: &Value, kind: ScalarType) -> bool {
    match (value, kind) {
        _ if value.kind() == kind => true,
        (Value::Int(_), ScalarType::Long) => true,
        (Value::Long(v), ScalarType::Int) => i32::try_from(*v).is_ok(),
        (Value::String(_), _) => !value.convert(kind).is_null(),
        _ => false,
    }
}
