//! `split`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["split(source: text, delimiter: string, [requestedIndex: long]) -> dynamic"],
    aliases: &[],
    summary: "The parts of a text between delimiters, or an array of one part.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example(
            "print d = split('a,,b', ',')",
            "d:dynamic\n[\"a\",\"\",\"b\"]",
        ),
        example("print d = split('a,,b', ',', 2)", "d:dynamic\n[\"b\"]"),
        example("print d = split('a,b', ',', 2)", "d:dynamic\nnull"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (text, delimiter) = (args.texts(0)?, args.texts(1)?);
    let index = if args.len() > 2 {
        Some(args.longs(2)?)
    } else {
        None
    };
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        let (text, delimiter) = (text.get(row), delimiter.get(row));
        if delimiter.is_empty() {
            return false;
        }
        let mut parts = text.split(delimiter);
        encoder.begin_array();
        match index.as_ref().map(|index| index.get(row)) {
            None | Some(None) => parts.for_each(|part| encoder.string(part)),
            Some(Some(index)) => {
                let part = usize::try_from(index)
                    .ok()
                    .and_then(|index| parts.nth(index));
                let Some(part) = part else {
                    encoder.clear();
                    return false;
                };
                encoder.string(part);
            }
        }
        encoder.end();
        encoder.finish_into(out);
        true
    }))
}
