//! `new_guid`.

use arrow::array::FixedSizeBinaryBuilder;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["new_guid() -> guid"],
    aliases: &[],
    summary: "A new random guid for every row.",
    result_name: ResultName::None,
    volatile: true,
    examples: &[example(
        "print n = strlen(tostring(new_guid()))",
        "n:long\n36",
    )],
    eval: Eval::Kernel(|args| {
        let mut out = FixedSizeBinaryBuilder::with_capacity(args.rows(), 16);
        for _ in 0..args.rows() {
            out.append_value(uuid::Uuid::new_v4().into_bytes())?;
        }
        Ok(Arc::new(out.finish()))
    }),
};
