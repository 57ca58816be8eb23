//! The common imports and helpers of the function files.

pub(crate) use std::borrow::Cow;
pub(crate) use std::sync::Arc;

pub(crate) use arrow::array::{Array, ArrayRef};
pub(crate) use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Code;
pub(crate) use hindsight_kql_syntax::Diagnostic;
pub(crate) use hindsight_kql_types::{ScalarType, Value};

pub(crate) use crate::call::{InnerKernel, kernel_call};
pub(crate) use crate::definition::{CallArgs, Eval, Example, ResultName, ScalarFunction, example};
pub(crate) use crate::encoder::encoder;
pub(crate) use crate::kernel::{Kernel, KernelArgs, KernelError};

/// The result of a kernel.
pub(crate) type KernelResult = Result<ArrayRef, KernelError>;

/// Builds a function with one kernel, for families whose members differ only in their kernel.
pub(crate) const fn function(
    signatures: &'static [&'static str],
    summary: &'static str,
    result_name: ResultName,
    examples: &'static [Example],
    kernel: Kernel,
) -> ScalarFunction {
    ScalarFunction {
        signatures,
        aliases: &[],
        summary,
        result_name,
        volatile: false,
        examples,
        eval: Eval::Kernel(kernel),
    }
}

impl ScalarFunction {
    /// The same function with aliases.
    pub(crate) const fn with_aliases(mut self, aliases: &'static [&'static str]) -> ScalarFunction {
        self.aliases = aliases;
        self
    }
}

/// An expression that calls `kernel` on the arguments of a call that the binder has checked.
pub(crate) fn call_kernel(call: &CallArgs<'_>, kernel: &'static InnerKernel) -> Expr {
    kernel_call(
        kernel,
        call.args.iter().map(|arg| arg.expr.clone()).collect(),
        call.args.iter().map(|arg| arg.kind).collect(),
        call.result,
    )
}

/// The text of a constant string argument.
pub(crate) fn constant_text(call: &CallArgs<'_>, index: usize) -> Option<String> {
    match call.args.get(index)?.constant.as_ref()? {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// The diagnostic for a rejected call.
pub(crate) fn refuse(call: &CallArgs<'_>, code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message, call.span)
}
