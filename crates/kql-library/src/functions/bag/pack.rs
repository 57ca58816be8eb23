//! Functions that build bags from other values.

use hindsight_kql_syntax::Code;
use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::ArrayElements;

use crate::Scalar;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static BAG_PACK: ScalarFunction = ScalarFunction {
    signatures: &["bag_pack(key: string, value: any, [key_or_value: any...]) -> dynamic"],
    aliases: &["pack", "pack_dictionary"],
    summary: "A bag of alternating keys and values; null values are kept.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print b = bag_pack('id', 7, 'at', 1h, 'none', long(null))",
        "b:dynamic\n{\"id\":7,\"at\":\"01:00:00\",\"none\":null}",
    )],
    eval: Eval::Rewrite(bag_pack),
};

/// Each key is a string and has a value.
fn bag_pack(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    if !call.args.len().is_multiple_of(2) {
        return Err(refuse(
            call,
            Code::ArgumentCount,
            "bag_pack(): function expects an even number of argument(s).",
        ));
    }
    for (index, key) in call.args.iter().enumerate().step_by(2) {
        if !matches!(key.kind, ScalarType::String | ScalarType::Dynamic) {
            let message = format!(
                "bag_pack(): argument {} is {} and must be string",
                index + 1,
                key.kind
            );
            return Err(refuse(call, Code::ArgumentType, message));
        }
    }
    Ok(call_kernel(call, &BAG_PACK_KERNEL))
}

pub(super) static BAG_PACK_KERNEL: InnerKernel =
    InnerKernel::new("bag_pack", pack_names_and_values);

pub(crate) static BAG_ZIP: ScalarFunction = function(
    &["bag_zip(keys: dynamic, values: dynamic) -> dynamic"],
    "A bag of an array of keys and an array of values; keys that are not strings are skipped.",
    ResultName::None,
    &[example(
        "print b = bag_zip(dynamic(['a', 1, 'c']), dynamic([10, 20]))",
        "b:dynamic\n{\"a\":10,\"c\":null}",
    )],
    |args| {
        each(args, |row, encoder| {
            let keys = row.elements(0)?;
            let values = row.elements(1).unwrap_or(ArrayElements::EMPTY);
            encoder.begin_bag();
            for (index, key) in keys.into_iter().enumerate() {
                if let Some(key) = key.as_str() {
                    encoder.key(key);
                    encoder.dynamic(values.get(index).unwrap_or(DynamicRef::NULL));
                }
            }
            encoder.end();
            Some(())
        })
    },
);

/// A bag of columns keyed by their names: `bag_pack_columns` and `pack_all`.
pub fn pack_columns(columns: impl Iterator<Item = (String, Scalar)>, skip_empty: bool) -> Scalar {
    let pairs = columns.flat_map(|(name, column)| [Scalar::constant(Value::String(name)), column]);
    let (args, kinds) = pairs.map(|scalar| (scalar.expr, scalar.kind)).unzip();
    let kernel = if skip_empty { &PACK_NON_EMPTY } else { &PACK };
    let expr = kernel_call(kernel, args, kinds, ScalarType::Dynamic);
    Scalar::new(expr, ScalarType::Dynamic)
}

pub(super) static PACK: InnerKernel = InnerKernel::new("pack_columns", pack_names_and_values);

pub(super) static PACK_NON_EMPTY: InnerKernel =
    InnerKernel::new("pack_all_but_empty", pack_non_empty);

/// A bag of alternating names and values; the kernel of `bag_pack`, `bag_pack_columns` and `pack_all`.
fn pack_names_and_values(args: &KernelArgs<'_>) -> KernelResult {
    pack(args, false)
}

/// Like [`pack_names_and_values`], without the properties that are null or `""`: `pack_all(true)`.
fn pack_non_empty(args: &KernelArgs<'_>) -> KernelResult {
    pack(args, true)
}

fn pack(args: &KernelArgs<'_>, skip_empty: bool) -> KernelResult {
    let names = (0..args.len())
        .step_by(2)
        .map(|index| args.texts(index))
        .collect::<Result<Vec<_>, _>>()?;
    let mut at = 0;
    each(args, |row, encoder| {
        encoder.begin_bag();
        for (index, name) in names.iter().enumerate() {
            let value = row.cells().nth(2 * index + 1);
            let empty = value.is_none_or(|(cells, row)| cells.is_empty(row));
            if !(skip_empty && empty) {
                encoder.key(name.get(at));
                row.pack(2 * index + 1, encoder);
            }
        }
        encoder.end();
        at += 1;
        Some(())
    })
}
