//! The wire form of telemetry: an envelope and the union of all base types' fields.
//!
//! `baseData` may precede `baseType`, so its fields are read before it is known what they are fields of; the nine
//! types do not use one name for two things.

use serde::Deserialize;

use super::tolerant::{Loose, Pairs, Text};

/// One item as it is sent.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Envelope<'a> {
    /// Creation time, ISO 8601.
    #[serde(borrow, default)]
    pub(crate) time: Option<Loose<'a>>,
    /// Share of items that were sent, in percent.
    #[serde(borrow, default, rename = "sampleRate")]
    pub(crate) sample_rate: Loose<'a>,
    /// The instrumentation key.
    #[serde(borrow, default, rename = "iKey")]
    pub(crate) ikey: Text<'a>,
    /// Context.
    #[serde(borrow, default)]
    pub(crate) tags: Pairs<'a>,
    /// The payload.
    #[serde(borrow, default)]
    pub(crate) data: Option<Payload<'a>>,
}

/// What the item says.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Payload<'a> {
    /// Which of the nine types.
    #[serde(borrow, default, rename = "baseType")]
    pub(crate) base_type: Text<'a>,
    /// The type's fields.
    #[serde(borrow, default, rename = "baseData")]
    pub(crate) base_data: Option<BaseData<'a>>,
}

/// The fields of all base types.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BaseData<'a> {
    /// Own properties.
    #[serde(borrow)]
    pub(crate) properties: Pairs<'a>,
    /// Own numbers.
    #[serde(borrow)]
    pub(crate) measurements: Pairs<'a>,
    /// Identity within the operation.
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    /// Name of the request, dependency, event, page or test.
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    /// Text of a trace or of a test's result.
    #[serde(borrow)]
    pub(crate) message: Text<'a>,
    /// How bad.
    #[serde(borrow)]
    pub(crate) severity_level: Loose<'a>,
    /// How long.
    #[serde(borrow)]
    pub(crate) duration: Loose<'a>,
    /// Whether it went well.
    #[serde(borrow)]
    pub(crate) success: Loose<'a>,
    /// A request's result.
    #[serde(borrow)]
    pub(crate) response_code: Text<'a>,
    /// A dependency's result.
    #[serde(borrow)]
    pub(crate) result_code: Text<'a>,
    /// Who called.
    #[serde(borrow)]
    pub(crate) source: Text<'a>,
    /// Address of a request or page.
    #[serde(borrow)]
    pub(crate) url: Text<'a>,
    /// Statement or address of a dependency call.
    #[serde(borrow)]
    pub(crate) data: Text<'a>,
    /// Host of a dependency.
    #[serde(borrow)]
    pub(crate) target: Text<'a>,
    /// Kind of a dependency.
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Text<'a>,
    /// Data points of a metric; the first one counts.
    #[serde(borrow)]
    pub(crate) metrics: Option<Vec<DataPoint<'a>>>,
    /// Exceptions, the outermost first.
    #[serde(borrow)]
    pub(crate) exceptions: Option<Vec<ExceptionDetails<'a>>>,
    /// Groups exceptions.
    #[serde(borrow)]
    pub(crate) problem_id: Text<'a>,
    /// Where an exception was handled.
    #[serde(borrow)]
    pub(crate) handled_at: Text<'a>,
    /// Browser: whole time.
    #[serde(borrow)]
    pub(crate) perf_total: Loose<'a>,
    /// Browser: connecting.
    #[serde(borrow)]
    pub(crate) network_connect: Loose<'a>,
    /// Browser: sending.
    #[serde(borrow)]
    pub(crate) sent_request: Loose<'a>,
    /// Browser: receiving.
    #[serde(borrow)]
    pub(crate) received_response: Loose<'a>,
    /// Browser: processing.
    #[serde(borrow)]
    pub(crate) dom_processing: Loose<'a>,
    /// Where a test ran from.
    #[serde(borrow)]
    pub(crate) run_location: Text<'a>,
    /// Bytes of a test's reply.
    #[serde(borrow)]
    pub(crate) size: Loose<'a>,
    /// Performance counter of old SDKs.
    #[serde(borrow)]
    pub(crate) category_name: Text<'a>,
    /// Performance counter of old SDKs.
    #[serde(borrow)]
    pub(crate) counter_name: Text<'a>,
    /// Performance counter of old SDKs.
    #[serde(borrow)]
    pub(crate) instance_name: Text<'a>,
    /// Performance counter of old SDKs.
    #[serde(borrow)]
    pub(crate) value: Loose<'a>,
}

/// One measurement or aggregate.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DataPoint<'a> {
    /// The metric's name.
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    /// Its namespace.
    #[serde(borrow)]
    pub(crate) ns: Text<'a>,
    /// Sum, or the one value.
    #[serde(borrow)]
    pub(crate) value: Loose<'a>,
    /// How many measurements.
    #[serde(borrow)]
    pub(crate) count: Loose<'a>,
    /// Smallest.
    #[serde(borrow)]
    pub(crate) min: Loose<'a>,
    /// Largest.
    #[serde(borrow)]
    pub(crate) max: Loose<'a>,
    /// Standard deviation.
    #[serde(borrow)]
    pub(crate) std_dev: Loose<'a>,
}

/// One exception of a chain.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ExceptionDetails<'a> {
    /// Identity in the chain.
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    /// The exception that wraps it.
    #[serde(borrow)]
    pub(crate) outer_id: Text<'a>,
    /// Its type.
    #[serde(borrow)]
    pub(crate) type_name: Text<'a>,
    /// Its message.
    #[serde(borrow)]
    pub(crate) message: Text<'a>,
    /// Its stack as text.
    #[serde(borrow)]
    pub(crate) stack: Text<'a>,
    /// Its stack as frames, the innermost first.
    #[serde(borrow)]
    pub(crate) parsed_stack: Option<Vec<StackFrame<'a>>>,
}

/// One frame of a stack.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackFrame<'a> {
    /// Depth.
    #[serde(borrow)]
    pub(crate) level: Loose<'a>,
    /// Method.
    #[serde(borrow)]
    pub(crate) method: Text<'a>,
    /// Assembly.
    #[serde(borrow)]
    pub(crate) assembly: Text<'a>,
    /// File.
    #[serde(borrow)]
    pub(crate) file_name: Text<'a>,
    /// Line.
    #[serde(borrow)]
    pub(crate) line: Loose<'a>,
}
