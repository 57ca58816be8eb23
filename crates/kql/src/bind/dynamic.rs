//! Paths into dynamic values (`docs/semantics.md §9.3`).

use arrow::array::ArrayRef;
use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{DynamicRef, ScalarType, Value};

use super::binder::Binder;
use crate::call::{InnerKernel, kernel_call};
use crate::convert::convert;
use crate::error::BindResult;
use crate::fold::fold;
use crate::kernel::{KernelArgs, KernelError};
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// `value.member`
    pub(crate) fn bind_member(
        &mut self,
        value: &Expr,
        member: &str,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let key = Scalar::constant(Value::String(member.to_owned()));
        let base = self.bind_scalar(value, input)?;
        self.access(base, key, span)
    }

    /// `value[index]`
    pub(crate) fn bind_index(
        &mut self,
        value: &Expr,
        index: &Expr,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        if let Some(column) = self.bind_column_of_call(value, index, input)? {
            return Ok(column);
        }
        let base = self.bind_scalar(value, input)?;
        let index = self.bind_scalar(index, input)?;
        self.access(base, index, span)
    }

    /// `base.step` for bound operands.
    pub(crate) fn access(&self, base: Scalar, step: Scalar, span: Span) -> BindResult<Scalar> {
        if base.kind != ScalarType::Dynamic {
            let message = format!("a path needs a dynamic value and got {}", base.kind);
            return Err(self.error(Code::Semantics, message, span));
        }
        let constant = base.constant.is_some() && step.constant.is_some();
        let step = match step.kind {
            ScalarType::String | ScalarType::Long => step,
            ScalarType::Int => convert(step, ScalarType::Long),
            ScalarType::Dynamic => step,
            other => {
                let message = format!("a path's step must be a string or a long and is {other}");
                return Err(self.error(Code::Semantics, message, span));
            }
        };
        let kinds = vec![base.kind, step.kind];
        let kernel = match step.kind {
            ScalarType::String => &MEMBER,
            ScalarType::Long => &ELEMENT,
            _ => &STEP,
        };
        let args = vec![base.expr, step.expr];
        let expr = kernel_call(kernel, args, kinds, ScalarType::Dynamic);
        Ok(fold(Scalar::new(expr, ScalarType::Dynamic), constant))
    }
}

/// Element `index` of a dynamic array as a value of type `kind`. Results of functions with several columns are split this
/// way.
pub(crate) fn element_of(array: Scalar, index: i64, kind: ScalarType) -> Scalar {
    let position = Scalar::constant(Value::Long(index));
    let expr = kernel_call(
        &ELEMENT,
        vec![array.expr, position.expr],
        vec![ScalarType::Dynamic, ScalarType::Long],
        ScalarType::Dynamic,
    );
    convert(Scalar::new(expr, ScalarType::Dynamic), kind)
}

/// `bag['key']` and `bag.key`.
pub(crate) static MEMBER: InnerKernel = InnerKernel::new("$member", member);

pub(crate) static ELEMENT: InnerKernel = InnerKernel::new("$element", element);

pub(crate) static STEP: InnerKernel = InnerKernel::new("$step", step_by_value);

fn member(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (values, keys) = (args.dynamics(0)?, args.strings(1)?);
    Ok(args.collect_dynamics(|row, out| {
        let found = values
            .get(row)
            .and_then(|v| DynamicRef::new(v).get_key(keys.get(row)));
        write(found, out)
    }))
}

fn element(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (values, positions) = (args.dynamics(0)?, args.longs(1)?);
    Ok(args.collect_dynamics(|row, out| {
        let found = values
            .get(row)
            .zip(positions.get(row))
            .and_then(|(v, position)| DynamicRef::new(v).get_index(position));
        write(found, out)
    }))
}

/// A step of type dynamic: a string is a key, a long an index.
fn step_by_value(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (values, steps) = (args.dynamics(0)?, args.dynamics(1)?);
    Ok(args.collect_dynamics(|row, out| {
        let found = values.get(row).zip(steps.get(row)).and_then(|(v, step)| {
            let (value, step) = (DynamicRef::new(v), DynamicRef::new(step));
            match step.as_str() {
                Some(key) => value.get_key(key),
                None => value.get_index(step.as_i64()?),
            }
        });
        write(found, out)
    }))
}

fn write(value: Option<DynamicRef<'_>>, out: &mut Vec<u8>) -> bool {
    match value.filter(|v| !v.is_null()) {
        Some(value) => {
            value.to_encoded(out);
            true
        }
        None => false,
    }
}
