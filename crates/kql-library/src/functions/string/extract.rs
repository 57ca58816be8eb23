//! `extract`.

use super::regex::{Patterns, check};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "extract(regex: string, captureGroup: long, source: string, [typeLiteral: type]) -> string",
    ],
    aliases: &[],
    summary: "A group of the first match of a regular expression; group 0 is the whole match.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            r"print s = extract(@'x=(\d+)', 1, 'a x=42')",
            "s:string\n42",
        ),
        example(
            r"print s = extract(@'x=(\d+)', 0, 'a x=42')",
            "s:string\nx=42",
        ),
        example(r"print s = extract(@'y=(\d+)', 1, 'a x=42')", "s:string\n"),
    ],
    eval: Eval::Rewrite(|call| {
        check(call, 0)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("extract", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (group, text) = (args.longs(1)?, args.texts(2)?);
    let mut patterns = Patterns::open(args, 0)?;
    Ok(args.collect_strings(|row| {
        let group = usize::try_from(group.get(row)?).ok()?;
        let regex = patterns.get(row)?;
        let found = match group {
            // The whole match needs no capture groups, and capturing is slow.
            0 => regex.find(text.get(row))?,
            group => regex.captures(text.get(row))?.get(group)?,
        };
        Some(Cow::Borrowed(found.as_str()))
    }))
}
