//! Kernel calls: [`KernelId`] identifies a kernel, and one DataFusion function type runs all of them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use hindsight_kql_types::ScalarType;

use crate::definition::{Eval, ScalarFunction};
use crate::kernel::{Kernel, KernelArgs, SMALL_RESULT};

/// A kernel that is not a function of the language: an operator's kernel, or an internal kernel of functions and aggregates.
///
/// It is declared as a `static`; two references denote the same kernel if they point to the same static.
#[derive(Debug)]
pub struct InnerKernel {
    /// Its name in plans and messages. The name must be unique, because DataFusion treats columns with equal names as equal.
    name: &'static str,
    kernel: Kernel,
    reads_text: bool,
}

impl InnerKernel {
    /// A kernel with its own name.
    pub const fn new(name: &'static str, kernel: Kernel) -> InnerKernel {
        InnerKernel {
            name,
            kernel,
            reads_text: false,
        }
    }

    /// The same kernel, but its first argument is converted to text regardless of the argument's type.
    pub const fn reading_text(mut self) -> InnerKernel {
        self.reads_text = true;
        self
    }
}

/// The identity of a kernel. Two ids are equal if they point to the same static.
#[derive(Debug, Clone, Copy)]
pub enum KernelId {
    /// The kernel of a function of the language.
    Function(&'static ScalarFunction),
    /// An internal kernel.
    Inner(&'static InnerKernel),
}

impl KernelId {
    /// The name of the kernel in plans and messages.
    pub fn name(self) -> &'static str {
        match self {
            KernelId::Function(function) => function.name(),
            KernelId::Inner(kernel) => kernel.name,
        }
    }

    /// Whether the first argument is converted to text regardless of its type.
    pub fn reads_text(self) -> bool {
        match self {
            KernelId::Function(_) => false,
            KernelId::Inner(kernel) => kernel.reads_text,
        }
    }

    /// The code of the kernel; `None` for a function that has none of its own.
    fn kernel(self) -> Option<Kernel> {
        match self {
            KernelId::Function(function) => match function.eval {
                Eval::Kernel(kernel) => Some(kernel),
                Eval::Rewrite(_) | Eval::Typed(_) | Eval::Binder => None,
            },
            KernelId::Inner(kernel) => Some(kernel.kernel),
        }
    }

    fn is_volatile(self) -> bool {
        match self {
            KernelId::Function(function) => function.volatile,
            KernelId::Inner(_) => false,
        }
    }

    fn address(self) -> *const () {
        match self {
            KernelId::Function(function) => std::ptr::from_ref(function).cast(),
            KernelId::Inner(kernel) => std::ptr::from_ref(kernel).cast(),
        }
    }
}

impl PartialEq for KernelId {
    fn eq(&self, other: &KernelId) -> bool {
        self.address() == other.address()
    }
}

impl Eq for KernelId {}

impl Hash for KernelId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

/// A kernel bound to the KQL types of one call.
#[derive(Debug)]
struct KernelUdf {
    id: KernelId,
    kernel: Kernel,
    /// The cached [`KernelId::name`], because plans read it often.
    name: &'static str,
    kinds: Vec<ScalarType>,
    result: ScalarType,
    signature: Signature,
}

impl PartialEq for KernelUdf {
    fn eq(&self, other: &KernelUdf) -> bool {
        self.id == other.id && self.kinds == other.kinds && self.result == other.result
    }
}

impl Eq for KernelUdf {}

impl Hash for KernelUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.id, &self.kinds, self.result).hash(state);
    }
}

/// An expression that calls `kernel` on `args`, whose KQL types are `kinds`.
pub fn kernel_call(
    kernel: &'static InnerKernel,
    args: Vec<Expr>,
    kinds: Vec<ScalarType>,
    result: ScalarType,
) -> Expr {
    call(KernelId::Inner(kernel), kernel.kernel, args, kinds, result)
}

/// An expression that calls `kernel`, the kernel of `function`, on `args`, whose KQL types are `kinds`.
pub fn function_call(
    function: &'static ScalarFunction,
    kernel: Kernel,
    args: Vec<Expr>,
    kinds: Vec<ScalarType>,
    result: ScalarType,
) -> Expr {
    call(KernelId::Function(function), kernel, args, kinds, result)
}

fn call(
    id: KernelId,
    kernel: Kernel,
    args: Vec<Expr>,
    kinds: Vec<ScalarType>,
    result: ScalarType,
) -> Expr {
    udf(id, kernel, args.len(), kinds, result).call(args)
}

fn udf(
    id: KernelId,
    kernel: Kernel,
    arguments: usize,
    kinds: Vec<ScalarType>,
    result: ScalarType,
) -> ScalarUDF {
    let volatility = if id.is_volatile() {
        Volatility::Volatile
    } else {
        Volatility::Immutable
    };
    let signature = if arguments == 0 {
        Signature::nullary(volatility)
    } else {
        Signature::any(arguments, volatility)
    };
    ScalarUDF::from(KernelUdf {
        id,
        kernel,
        name: id.name(),
        kinds,
        result,
        signature,
    })
}

/// The DataFusion function of calls of a kernel with arguments and a result of these KQL types; `None` if the function has no kernel.
pub(crate) fn kernel_function(
    id: KernelId,
    kinds: Vec<ScalarType>,
    result: ScalarType,
) -> Option<ScalarUDF> {
    Some(udf(id, id.kernel()?, kinds.len(), kinds, result))
}

/// The kernel of a DataFusion function, and the KQL types of its arguments and result; `None` if it is no kernel.
pub(crate) fn kernel_of(function: &ScalarUDF) -> Option<(KernelId, &[ScalarType], ScalarType)> {
    let udf = function.inner().downcast_ref::<KernelUdf>()?;
    Some((udf.id, &udf.kinds, udf.result))
}

impl ScalarUDFImpl for KernelUdf {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.name, self.result.arrow(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // A volatile call without arguments (`rand()`) returns one value per row; any other call over constants returns a
        // scalar.
        let constant = !args
            .args
            .iter()
            .any(|a| matches!(a, ColumnarValue::Array(_)))
            && self.signature.volatility != Volatility::Volatile;
        let plan_rows = args.number_rows;
        let rows = if constant { 1 } else { plan_rows };
        let arrays = args
            .args
            .into_iter()
            .map(one_or_all)
            .collect::<Result<Vec<(ArrayRef, bool)>>>()?;
        let args = KernelArgs::new(&arrays, &self.kinds, rows, self.result);
        let result = (self.kernel)(&args)
            .and_then(|result| args.limits().finish(result))
            .map_err(|error| error.of(&format!("{}()", self.name)))?;
        // A scalar is a copy whose memory is not reserved.
        let keep_array = plan_rows == 1 && result.get_buffer_memory_size() > SMALL_RESULT;
        if constant && !keep_array {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &result, 0,
            )?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}

fn one_or_all(value: ColumnarValue) -> Result<(ArrayRef, bool)> {
    Ok(match value {
        ColumnarValue::Array(array) => (array, false),
        ColumnarValue::Scalar(scalar) => (scalar.to_array_of_size(1)?, true),
    })
}

/// A kernel call, decomposed.
pub struct KernelView<'e> {
    /// The identity of the kernel.
    pub id: KernelId,
    kernel: Kernel,
    kinds: &'e [ScalarType],
    /// The KQL type of the result.
    pub result: ScalarType,
    /// The arguments.
    pub args: &'e [Expr],
}

impl KernelView<'_> {
    /// The same call with its first argument replaced by `expr` of type `kind`.
    pub fn with_first_argument(&self, expr: Expr, kind: ScalarType) -> Expr {
        let (mut args, mut kinds) = (self.args.to_vec(), self.kinds.to_vec());
        if let (Some(first), Some(first_kind)) = (args.first_mut(), kinds.first_mut()) {
            *first = expr;
            *first_kind = kind;
        }
        call(self.id, self.kernel, args, kinds, self.result)
    }
}

/// Decomposes `expr` if it is a kernel call; `None` otherwise.
pub fn kernel_view(expr: &Expr) -> Option<KernelView<'_>> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let udf = call.func.inner().downcast_ref::<KernelUdf>()?;
    Some(KernelView {
        id: udf.id,
        kernel: udf.kernel,
        kinds: &udf.kinds,
        result: udf.result,
        args: &call.args,
    })
}

/// Decomposes an expression of a physical plan into the kernel that it calls and the arguments; `None` if it is no kernel call.
pub fn physical_kernel_view(
    expr: &dyn PhysicalExpr,
) -> Option<(KernelId, &[Arc<dyn PhysicalExpr>])> {
    let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
    let udf = call.fun().inner().downcast_ref::<KernelUdf>()?;
    Some((udf.id, call.args()))
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::lit;

    use super::*;

    static FIRST: InnerKernel = InnerKernel::new("$first", |args| args.full(0));
    static SECOND: InnerKernel = InnerKernel::new("$second", |args| args.full(0)).reading_text();

    fn one(kernel: &'static InnerKernel) -> Expr {
        kernel_call(
            kernel,
            vec![lit(1_i64)],
            vec![ScalarType::Long],
            ScalarType::Long,
        )
    }

    #[test]
    fn calls_of_the_same_kernel_are_equal() {
        assert_eq!(one(&FIRST), one(&FIRST));
        assert_ne!(
            one(&FIRST),
            one(&SECOND),
            "the code is the same, the kernel is not"
        );
    }

    #[test]
    fn replacing_an_argument_keeps_the_kernel() {
        let expr = one(&SECOND);
        let call = kernel_view(&expr).expect("a call of a kernel");
        assert!(call.id == KernelId::Inner(&SECOND) && call.id.reads_text());
        let other = call.with_first_argument(lit("a"), ScalarType::String);
        assert_ne!(other, expr);
        assert!(kernel_view(&other).is_some_and(|other| other.id == call.id));
    }
}
