//! The wire form of telemetry: an envelope and the union of all base types' fields.
//!
//! `baseData` may precede `baseType`, so its fields are read before it is known what they are fields of; the nine
//! types do not use one name for two things.

use serde::Deserialize;

use crate::in_place::{self, members};
use crate::tolerant::{Loose, Pairs, Text};

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
    #[serde(
        borrow,
        default,
        rename = "baseData",
        deserialize_with = "in_place::boxed"
    )]
    pub(crate) base_data: Option<Box<BaseData<'a>>>,
}

/// The fields of all base types.
#[derive(Debug, Default)]
pub(crate) struct BaseData<'a> {
    /// Own properties.
    pub(crate) properties: Pairs<'a>,
    /// Own numbers.
    pub(crate) measurements: Pairs<'a>,
    /// Identity within the operation.
    pub(crate) id: Text<'a>,
    /// Name of the request, dependency, event, page or test.
    pub(crate) name: Text<'a>,
    /// Text of a trace or of a test's result.
    pub(crate) message: Text<'a>,
    /// How bad.
    pub(crate) severity_level: Loose<'a>,
    /// How long.
    pub(crate) duration: Loose<'a>,
    /// Whether it went well.
    pub(crate) success: Loose<'a>,
    /// A request's result.
    pub(crate) response_code: Text<'a>,
    /// A dependency's result.
    pub(crate) result_code: Text<'a>,
    /// Who called.
    pub(crate) source: Text<'a>,
    /// Address of a request or page.
    pub(crate) url: Text<'a>,
    /// Statement or address of a dependency call.
    pub(crate) data: Text<'a>,
    /// Host of a dependency.
    pub(crate) target: Text<'a>,
    /// Kind of a dependency.
    pub(crate) kind: Text<'a>,
    /// Data points of a metric; the first one counts.
    pub(crate) metrics: Option<Vec<DataPoint<'a>>>,
    /// Exceptions, the outermost first.
    pub(crate) exceptions: Option<Vec<ExceptionDetails<'a>>>,
    /// Groups exceptions.
    pub(crate) problem_id: Text<'a>,
    /// Where an exception was handled.
    pub(crate) handled_at: Text<'a>,
    /// Browser: whole time.
    pub(crate) perf_total: Loose<'a>,
    /// Browser: connecting.
    pub(crate) network_connect: Loose<'a>,
    /// Browser: sending.
    pub(crate) sent_request: Loose<'a>,
    /// Browser: receiving.
    pub(crate) received_response: Loose<'a>,
    /// Browser: processing.
    pub(crate) dom_processing: Loose<'a>,
    /// Where a test ran from.
    pub(crate) run_location: Text<'a>,
    /// Bytes of a test's reply.
    pub(crate) size: Loose<'a>,
    /// Performance counter of old SDKs.
    pub(crate) category_name: Text<'a>,
    /// Performance counter of old SDKs.
    pub(crate) counter_name: Text<'a>,
    /// Performance counter of old SDKs.
    pub(crate) instance_name: Text<'a>,
    /// Performance counter of old SDKs.
    pub(crate) value: Loose<'a>,
}

members!(BaseData {
    "properties" => properties,
    "measurements" => measurements,
    "id" => id,
    "name" => name,
    "message" => message,
    "severityLevel" => severity_level,
    "duration" => duration,
    "success" => success,
    "responseCode" => response_code,
    "resultCode" => result_code,
    "source" => source,
    "url" => url,
    "data" => data,
    "target" => target,
    "type" => kind,
    "metrics" => metrics,
    "exceptions" => exceptions,
    "problemId" => problem_id,
    "handledAt" => handled_at,
    "perfTotal" => perf_total,
    "networkConnect" => network_connect,
    "sentRequest" => sent_request,
    "receivedResponse" => received_response,
    "domProcessing" => dom_processing,
    "runLocation" => run_location,
    "size" => size,
    "categoryName" => category_name,
    "counterName" => counter_name,
    "instanceName" => instance_name,
    "value" => value,
});

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
