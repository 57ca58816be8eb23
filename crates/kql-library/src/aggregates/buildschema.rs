//! `buildschema`: the shape of the dynamic values of a group (`docs/semantics.md §16.8`).

use arrow::datatypes::DataType;

use super::{AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::description::Description;
use crate::states::groups::GroupsUdaf;
use crate::states::schema::BuildSchema;
use crate::states::sketch::sketch_udaf;

pub(crate) static LIST: &[&AggregateFunction] = &[&BUILDSCHEMA];

static BUILDSCHEMA: AggregateFunction = AggregateFunction {
    signatures: &["buildschema(expr: dynamic) -> dynamic"],
    aliases: &[],
    summary: "The smallest schema that admits all values of a dynamic expression.",
    result_name: AggregateName::Prefixed("schema"),
    star: false,
    examples: &[example(
        "datatable(d:dynamic)[dynamic({'n': 1}), dynamic({'n': 'x', 'tags': [1.5]})] | summarize buildschema(d)",
        "schema_d:dynamic\n{\"n\":[\"long\",\"string\"],\"tags\":{\"`indexer`\":\"double\"}}",
    )],
    bind: |call| call.column(schema().call(vec![call.expr(0)?])),
};

/// The schema of dynamic values.
pub(super) fn schema() -> GroupsUdaf {
    sketch_udaf(
        "buildschema",
        String::new(),
        BuildSchema,
        Description::BuildSchema(()),
        DataType::BinaryView,
        1,
    )
}
