//! One DataFusion function for every kernel: the adapter between [`Kernel`](super::kernel::Kernel) and the engine.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use hindsight_kql_types::ScalarType;

use super::kernel::{Kernel, KernelArgs, KernelError};

/// A kernel bound to the KQL types of one call.
#[derive(Debug)]
struct KernelUdf {
    name: &'static str,
    kernel: Kernel,
    kinds: Vec<ScalarType>,
    result: ScalarType,
    signature: Signature,
}

impl PartialEq for KernelUdf {
    fn eq(&self, other: &KernelUdf) -> bool {
        self.name == other.name && self.kinds == other.kinds && self.result == other.result
    }
}

impl Eq for KernelUdf {}

impl Hash for KernelUdf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, &self.kinds, self.result).hash(state);
    }
}

/// The expression that calls `kernel` on `args`, whose KQL types are `kinds`. `name` identifies the kernel: two kernels
/// never share one.
pub fn kernel_call(
    name: &'static str,
    kernel: Kernel,
    args: Vec<Expr>,
    kinds: Vec<ScalarType>,
    result: ScalarType,
    volatile: bool,
) -> Expr {
    let volatility = if volatile {
        Volatility::Volatile
    } else {
        Volatility::Immutable
    };
    let signature = match args.is_empty() {
        true => Signature::nullary(volatility),
        false => Signature::any(args.len(), volatility),
    };
    let udf = KernelUdf {
        name,
        kernel,
        kinds,
        result,
        signature,
    };
    ScalarUDF::from(udf).call(args)
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
        // A volatile call without arguments (`rand()`) makes a value for every row; anything else over constants is one.
        let constant = !args
            .args
            .iter()
            .any(|a| matches!(a, ColumnarValue::Array(_)))
            && self.signature.volatility != Volatility::Volatile;
        let rows = if constant { 1 } else { args.number_rows };
        let arrays = args
            .args
            .into_iter()
            .map(one_or_all)
            .collect::<Result<Vec<(ArrayRef, bool)>>>()?;
        let args = KernelArgs::new(&arrays, &self.kinds, rows, self.result);
        let result = (self.kernel)(&args)
            .and_then(|result| args.effort().outcome(result))
            .map_err(|error| self.failure(error))?;
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &result, 0,
            )?)),
            false => Ok(ColumnarValue::Array(result)),
        }
    }
}

impl KernelUdf {
    fn failure(&self, error: KernelError) -> DataFusionError {
        match error {
            KernelError::Memory(message) => {
                DataFusionError::ResourcesExhausted(format!("{}(): {message}", self.name))
            }
            KernelError::TooLarge(limit) => {
                DataFusionError::External(Box::new(KernelError::Failed(format!(
                    "{}(): a value would have more than {limit} bytes, the most that one value may have",
                    self.name
                ))))
            }
            other => DataFusionError::External(Box::new(other)),
        }
    }
}

fn one_or_all(value: ColumnarValue) -> Result<(ArrayRef, bool)> {
    Ok(match value {
        ColumnarValue::Array(array) => (array, false),
        ColumnarValue::Scalar(scalar) => (scalar.to_array_of_size(1)?, true),
    })
}

/// A call of a kernel, taken apart.
pub struct KernelView<'e> {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The KQL types of the arguments.
    pub kinds: &'e [ScalarType],
    /// The KQL type of the result.
    pub result: ScalarType,
    /// The arguments.
    pub args: &'e [Expr],
}

/// `expr` as the call of a kernel; `None` where it is something else.
pub fn kernel_view(expr: &Expr) -> Option<KernelView<'_>> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let udf = call.func.inner().downcast_ref::<KernelUdf>()?;
    Some(KernelView {
        name: udf.name,
        kernel: udf.kernel,
        kinds: &udf.kinds,
        result: udf.result,
        args: &call.args,
    })
}
