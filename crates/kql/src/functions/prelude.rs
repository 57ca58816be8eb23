//! What the file of a function needs.

pub(crate) use std::borrow::Cow;
pub(crate) use std::sync::Arc;

pub(crate) use arrow::array::{Array, ArrayRef};
pub(crate) use hindsight_kql_types::ScalarType;

pub(crate) use super::kernel::{Kernel, KernelArgs, KernelError};
pub(crate) use super::{Eval, Example, ResultName, ScalarFunction, example};

/// What a kernel answers.
pub(crate) type Answer = Result<ArrayRef, KernelError>;

/// A function in one call, for families whose members differ in little but their kernel.
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
    /// The same function with other names.
    pub(crate) const fn with_aliases(mut self, aliases: &'static [&'static str]) -> ScalarFunction {
        self.aliases = aliases;
        self
    }
}
