//! `unicode_codepoints_from_string` and `unicode_codepoints_to_string`.

use arrow::array::{BinaryViewArray, Int64Array};
use hindsight_kql_syntax::Code;
use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::Kind;

use crate::functions::prelude::*;
use crate::kernel::Rows;

pub(crate) static FROM_STRING: ScalarFunction = function(
    &["unicode_codepoints_from_string(value: text) -> dynamic"],
    "The numbers of a text's code points.",
    ResultName::None,
    &[example(
        "print d = unicode_codepoints_from_string('añ')",
        "d:dynamic\n[97,241]",
    )],
    |args| {
        let text = args.texts(0)?;
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            encoder.begin_array();
            text.get(row)
                .chars()
                .for_each(|c| encoder.long(i64::from(u32::from(c))));
            encoder.end();
            encoder.finish_into(out);
            true
        }))
    },
)
.with_aliases(&["to_utf8"]);

pub(crate) static TO_STRING: ScalarFunction = ScalarFunction {
    signatures: &["unicode_codepoints_to_string(value: any...) -> string"],
    aliases: &["make_string"],
    summary: "The text of code points, given as numbers or arrays of them.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = unicode_codepoints_to_string(dynamic([72, 101]), 106)",
        "s:string\nHej",
    )],
    eval: Eval::Rewrite(|call| {
        let wrong = call
            .args
            .iter()
            .find(|arg| !arg.kind.is_integer() && arg.kind != ScalarType::Dynamic);
        match wrong {
            None => Ok(call_kernel(call, &KERNEL)),
            Some(arg) => Err(refuse(
                call,
                Code::ArgumentType,
                format!(
                    "unicode_codepoints_to_string(): an argument is {} and must be an integer or an array of integers",
                    arg.kind
                ),
            )),
        }
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("unicode_codepoints_to_string", to_string);

/// An argument: numbers, or arrays of numbers.
enum Points {
    Numbers(Rows<Int64Array>),
    Arrays(Rows<BinaryViewArray>),
}

fn to_string(args: &KernelArgs<'_>) -> KernelResult {
    let columns = (0..args.len())
        .map(|index| match args.kind(index) {
            ScalarType::Dynamic => args.dynamics(index).map(Points::Arrays),
            _ => args.longs(index).map(Points::Numbers),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(args.collect_strings(|row| {
        let mut out = String::new();
        // A value that is not a code point makes the result empty.
        columns
            .iter()
            .all(|column| match column {
                Points::Numbers(numbers) => numbers.get(row).is_some_and(|n| point(n, &mut out)),
                Points::Arrays(arrays) => arrays
                    .get(row)
                    .is_some_and(|bytes| points(DynamicRef::new(bytes), &mut out)),
            })
            .then_some(Cow::Owned(out))
    }))
}

fn points(value: DynamicRef<'_>, out: &mut String) -> bool {
    match value.kind() {
        Kind::Array => value
            .iter_array()
            .all(|item| item.to_long().is_some_and(|number| point(number, out))),
        _ => value.to_long().is_some_and(|number| point(number, out)),
    }
}

fn point(number: i64, out: &mut String) -> bool {
    match u32::try_from(number).ok().and_then(char::from_u32) {
        Some(character) => {
            out.push(character);
            true
        }
        None => false,
    }
}
