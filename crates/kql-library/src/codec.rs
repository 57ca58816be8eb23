//! Functions as messages: kernels, large values and aggregates travel between processes of this program by name.
//!
//! A kernel travels as its name with the KQL types of its arguments and result, an aggregate as its constants
//! (`states/description.rs`), a function of DataFusion as its name. What is none of them is refused by name.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use datafusion::common::ScalarValue;
use datafusion::functions::core::{coalesce, get_field};
use datafusion::functions::math::sqrt;
use datafusion::functions_aggregate::bit_and_or_xor::{bit_and_udaf, bit_or_udaf, bit_xor_udaf};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::covariance::{covar_pop_udaf, covar_samp_udaf};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::functions_aggregate::variance::{var_pop_udaf, var_samp_udaf};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use hindsight_kql_types::ScalarType;
use prost::Message;

use crate::aggregates::described;
use crate::call::{InnerKernel, KernelId, kernel_function, kernel_of};
use crate::functions::registry;
use crate::inner_kernels::inner_kernels;
use crate::large::{large_function, large_value};
use crate::states::description::Description;
use crate::states::groups::description_of;

/// The version of the messages. A process refuses messages of other versions.
pub const VERSION: u32 = 1;

/// Why something cannot be serialized, or why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The message has another version.
    #[error("the message of a plan has version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The bytes are no message of this kind, or it lacks a part.
    #[error("the message of a plan cannot be read: {0}")]
    Malformed(String),
    /// The message names something that this program does not have.
    #[error("the message of a plan names the {kind} '{name}', which this program does not have")]
    Unknown {
        /// What is named.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The message cannot be written, because a part of the plan has no message.
    #[error("the {kind} '{name}' cannot be serialized: {reason}")]
    Unsupported {
        /// What cannot be serialized.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Why.
        reason: &'static str,
    },
}

impl CodecError {
    /// The error of a message that lacks a part.
    pub fn lacks(part: &str) -> CodecError {
        CodecError::Malformed(format!("it lacks {part}"))
    }

    fn unknown(kind: &'static str, name: &str) -> CodecError {
        CodecError::Unknown {
            kind,
            name: name.to_owned(),
        }
    }
}

/// Reads a message whose first field is its version.
///
/// # Errors
/// The bytes are no such message.
pub fn read<M: Message + Default>(
    bytes: &[u8],
    version: impl Fn(&M) -> u32,
) -> Result<M, CodecError> {
    let message = M::decode(bytes).map_err(|error| CodecError::Malformed(error.to_string()))?;
    match version(&message) {
        VERSION => Ok(message),
        other => Err(CodecError::Version(other)),
    }
}

/// The KQL type of this name.
///
/// # Errors
/// There is no such type.
pub fn kind_named(name: &str) -> Result<ScalarType, CodecError> {
    ScalarType::parse(name).ok_or_else(|| CodecError::unknown("type", name))
}

#[derive(Clone, PartialEq, Message)]
struct FunctionMessage {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(oneof = "Function", tags = "2, 3, 4, 5, 6")]
    function: Option<Function>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Function {
    /// The kernel of a function of the language.
    #[prost(message, tag = "2")]
    Language(Call),
    /// An inner kernel.
    #[prost(message, tag = "3")]
    Inner(Call),
    /// The function that returns this large string.
    #[prost(string, tag = "4")]
    LargeString(String),
    /// The function that returns this large dynamic value.
    #[prost(bytes, tag = "5")]
    LargeDynamic(Vec<u8>),
    /// A function of DataFusion.
    #[prost(string, tag = "6")]
    DataFusion(String),
}

/// A kernel with the KQL types of its arguments and result.
#[derive(Clone, PartialEq, Message)]
struct Call {
    #[prost(string, tag = "1")]
    kernel: String,
    #[prost(string, repeated, tag = "2")]
    kinds: Vec<String>,
    #[prost(string, tag = "3")]
    result: String,
}

#[derive(Clone, PartialEq, Message)]
struct AggregateMessage {
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(oneof = "Description", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")]
    description: Option<Description>,
    /// A function of DataFusion, if there is no description.
    #[prost(string, tag = "20")]
    datafusion: String,
}

/// The functions of DataFusion that plans of KQL have. A list of all of them would keep each in the program.
static DATAFUSION_FUNCTIONS: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    let functions = [coalesce(), get_field(), sqrt()].into_iter();
    functions
        .map(|function| (function.name().to_owned(), function))
        .collect()
});

/// The aggregates of DataFusion that plans of KQL have.
static DATAFUSION_AGGREGATES: LazyLock<HashMap<String, Arc<AggregateUDF>>> = LazyLock::new(|| {
    let aggregates = [
        bit_and_udaf(),
        bit_or_udaf(),
        bit_xor_udaf(),
        count_udaf(),
        covar_pop_udaf(),
        covar_samp_udaf(),
        first_value_udaf(),
        max_udaf(),
        min_udaf(),
        sum_udaf(),
        var_pop_udaf(),
        var_samp_udaf(),
    ];
    aggregates
        .into_iter()
        .map(|aggregate| (aggregate.name().to_owned(), aggregate))
        .collect()
});

/// Writes and reads functions of plans.
#[derive(Debug)]
pub struct FunctionCodec {
    inner: HashMap<&'static str, &'static InnerKernel>,
}

impl FunctionCodec {
    /// A codec that knows the inner kernels of this library and `more`.
    pub fn new(more: impl Iterator<Item = &'static InnerKernel>) -> FunctionCodec {
        let kernels = inner_kernels().chain(more);
        FunctionCodec {
            inner: kernels
                .map(|kernel| (KernelId::Inner(kernel).name(), kernel))
                .collect(),
        }
    }

    /// The message of a scalar function.
    ///
    /// # Errors
    /// The function is neither one of this program nor one of DataFusion that plans have.
    pub fn encode(&self, function: &ScalarUDF) -> Result<Vec<u8>, CodecError> {
        let message = FunctionMessage {
            version: VERSION,
            function: Some(self.message(function)?),
        };
        Ok(message.encode_to_vec())
    }

    fn message(&self, function: &ScalarUDF) -> Result<Function, CodecError> {
        let unsupported = |reason| CodecError::Unsupported {
            kind: "function",
            name: function.name().to_owned(),
            reason,
        };
        if let Some((id, kinds, result)) = kernel_of(function) {
            if self.find(&id) != Some(id) {
                return Err(unsupported("its kernel is in no list of inner kernels"));
            }
            let call = Call {
                kernel: id.name().to_owned(),
                kinds: kinds.iter().map(ScalarType::to_string).collect(),
                result: result.to_string(),
            };
            return Ok(match id {
                KernelId::Function(_) => Function::Language(call),
                KernelId::Inner(_) => Function::Inner(call),
            });
        }
        match large_value(function) {
            Some(ScalarValue::Utf8View(Some(text))) => {
                return Ok(Function::LargeString(text.clone()));
            }
            Some(ScalarValue::BinaryView(Some(bytes))) => {
                return Ok(Function::LargeDynamic(bytes.clone()));
            }
            Some(_) => return Err(unsupported("its value is neither a string nor a dynamic")),
            None => {}
        }
        match DATAFUSION_FUNCTIONS.get(function.name()) {
            Some(own) if own.as_ref() == function => {
                Ok(Function::DataFusion(function.name().to_owned()))
            }
            _ => Err(unsupported("it is no function of this program")),
        }
    }

    /// The kernel of the same kind and name.
    fn find(&self, id: &KernelId) -> Option<KernelId> {
        match id {
            KernelId::Function(function) => language(function.name()),
            KernelId::Inner(_) => self.inner.get(id.name()).copied().map(KernelId::Inner),
        }
    }

    /// The scalar function of a message.
    ///
    /// # Errors
    /// The bytes are no message of a function that this program has.
    pub fn decode(&self, bytes: &[u8]) -> Result<ScalarUDF, CodecError> {
        let message = read(bytes, |message: &FunctionMessage| message.version)?;
        let function = message.function;
        match function.ok_or_else(|| CodecError::lacks("the function"))? {
            Function::Language(call) => {
                let id = language(&call.kernel);
                kernel(
                    id.ok_or_else(|| CodecError::unknown("function", &call.kernel))?,
                    &call,
                )
            }
            Function::Inner(call) => {
                let inner = self.inner.get(call.kernel.as_str()).copied();
                let inner = inner.ok_or_else(|| CodecError::unknown("kernel", &call.kernel))?;
                kernel(KernelId::Inner(inner), &call)
            }
            Function::LargeString(text) => Ok(large_function(ScalarValue::Utf8View(Some(text)))),
            Function::LargeDynamic(bytes) => {
                Ok(large_function(ScalarValue::BinaryView(Some(bytes))))
            }
            Function::DataFusion(name) => {
                let own = DATAFUSION_FUNCTIONS.get(&name);
                let own = own.ok_or_else(|| CodecError::unknown("function", &name))?;
                Ok(own.as_ref().clone())
            }
        }
    }
}

fn language(name: &str) -> Option<KernelId> {
    let (function, _) = registry().find(name)?;
    Some(KernelId::Function(function))
}

fn kernel(id: KernelId, call: &Call) -> Result<ScalarUDF, CodecError> {
    let kinds = call.kinds.iter().map(|kind| kind_named(kind));
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    let function = kernel_function(id, kinds, kind_named(&call.result)?);
    function.ok_or_else(|| CodecError::unknown("kernel", &call.kernel))
}

/// The message of an aggregate function.
///
/// # Errors
/// The function is neither one of this program nor one of DataFusion that plans have.
pub fn encode_aggregate(function: &AggregateUDF) -> Result<Vec<u8>, CodecError> {
    let description = description_of(function).cloned();
    let datafusion = match &description {
        Some(_) => String::new(),
        None => match DATAFUSION_AGGREGATES.get(function.name()) {
            Some(own) if own.as_ref() == function => function.name().to_owned(),
            _ => {
                return Err(CodecError::Unsupported {
                    kind: "aggregate",
                    name: function.name().to_owned(),
                    reason: "it is no aggregate of this program",
                });
            }
        },
    };
    let message = AggregateMessage {
        version: VERSION,
        description,
        datafusion,
    };
    Ok(message.encode_to_vec())
}

/// The aggregate function of a message.
///
/// # Errors
/// The bytes are no message of an aggregate that this program has.
pub fn decode_aggregate(bytes: &[u8]) -> Result<AggregateUDF, CodecError> {
    let message = read(bytes, |message: &AggregateMessage| message.version)?;
    let name = &message.datafusion;
    match &message.description {
        Some(description) => described(description)
            .map(|aggregate| aggregate.function())
            .ok_or_else(|| CodecError::Malformed(format!("{description:?} is no aggregate"))),
        None => match DATAFUSION_AGGREGATES.get(name) {
            Some(own) => Ok(own.as_ref().clone()),
            None => Err(CodecError::unknown("aggregate", name)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::call::KernelId;

    fn codec() -> FunctionCodec {
        FunctionCodec::new(std::iter::empty())
    }

    #[test]
    fn inner_kernels_have_different_names() {
        let names: Vec<&str> = inner_kernels().map(|k| KernelId::Inner(k).name()).collect();
        let different: HashSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), different.len(), "{names:?}");
    }

    #[test]
    fn every_kernel_travels() {
        let codec = codec();
        let functions = registry().all().iter().copied().map(KernelId::Function);
        let all = functions.chain(inner_kernels().map(KernelId::Inner));
        let mut travelled = 0;
        for id in all {
            let kinds = vec![ScalarType::Dynamic, ScalarType::DateTime];
            let Some(function) = kernel_function(id, kinds, ScalarType::TimeSpan) else {
                continue;
            };
            let bytes = codec.encode(&function).expect("it is listed");
            assert_eq!(codec.decode(&bytes), Ok(function), "{}", id.name());
            travelled += 1;
        }
        assert!(travelled > 200, "only {travelled} kernels");
    }

    #[test]
    fn an_unlisted_kernel_is_refused_by_name() {
        static UNLISTED: InnerKernel = InnerKernel::new("$unlisted", |args| args.full(0));
        let function = kernel_function(KernelId::Inner(&UNLISTED), vec![], ScalarType::Long);
        let error = codec().encode(&function.expect("a kernel")).err();
        let text = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(text.contains("$unlisted"), "{text}");
    }

    #[test]
    fn large_values_travel() {
        for value in [
            ScalarValue::Utf8View(Some("a".repeat(9000))),
            ScalarValue::BinaryView(Some(vec![1; 9000])),
        ] {
            let function = large_function(value);
            let bytes = codec().encode(&function).expect("it travels");
            assert_eq!(codec().decode(&bytes), Ok(function));
        }
    }

    #[test]
    fn messages_of_other_versions_are_refused() {
        let message = FunctionMessage {
            version: VERSION + 1,
            function: Some(Function::DataFusion("coalesce".to_owned())),
        };
        assert_eq!(
            codec().decode(&message.encode_to_vec()),
            Err(CodecError::Version(VERSION + 1))
        );
        assert_eq!(decode_aggregate(&[]), Err(CodecError::Version(0)));
    }

    /// Every bit of messages of functions is changed. Such a message is another one or is refused.
    #[test]
    fn damaged_messages_are_read_or_refused() {
        let descriptions = [
            Description::RealExtreme(true),
            Description::AverageTicks(()),
            Description::DistinctCount(14),
            Description::Hll(18),
            Description::MakeBag(7),
        ];
        let codec = codec();
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for description in descriptions {
            let function = described(&description).expect("an aggregate").function();
            let bytes = encode_aggregate(&function).expect("it travels");
            assert_eq!(decode_aggregate(&bytes), Ok(function));
            messages.push(bytes);
        }
        for kernel in inner_kernels() {
            let kinds = vec![ScalarType::String];
            let function = kernel_function(KernelId::Inner(kernel), kinds, ScalarType::Bool);
            let function = function.expect("a kernel");
            messages.push(codec.encode(&function).expect("it is listed"));
        }
        let mut refused = 0;
        for message in &messages {
            for bit in 0..message.len() * 8 {
                let mut changed = message.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                refused += usize::from(codec.decode(&changed).is_err());
                refused += usize::from(decode_aggregate(&changed).is_err());
            }
        }
        assert!(refused > messages.len());
    }
}
