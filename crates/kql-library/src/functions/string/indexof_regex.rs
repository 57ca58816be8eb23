//! `indexof_regex`.

use super::indexof::{Window, byte_of};
use super::regex::{Patterns, check};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "indexof_regex(string: text, match: string, [start: long], [length: long], [occurrence: long]) -> long",
    ],
    aliases: &[],
    summary: "The 0-based position in code points of the first match of a regular expression; -1 if there is none.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = indexof_regex('abcabc', 'b.')", "n:long\n1"),
        example(
            "print n = indexof_regex('abcabc', 'b.', 0, -1, 2)",
            "n:long\n4",
        ),
        example(
            "print n = indexof_regex('abcabc', 'b.', -1)",
            "n:long\nnull",
        ),
    ],
    eval: Eval::Rewrite(|call| {
        check(call, 1)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("indexof_regex", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    let mut patterns = Patterns::open(args, 1)?;
    let window = Window::open(args)?;
    Ok(args.collect_longs(|row| {
        let text = text.get(row);
        let (start, length, occurrence) = window.get(row)?;
        let start = usize::try_from(start).ok()?;
        if length < -1 || occurrence < 1 {
            return None;
        }
        let Some(from) = byte_of(text, start) else {
            return Some(-1);
        };
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| byte_of(text, start.saturating_add(length)));
        let range = text.get(from..end.unwrap_or(text.len()))?;
        let nth = usize::try_from(occurrence - 1).ok()?;
        let found = patterns.get(row)?.find_iter(range).nth(nth);
        Some(match found {
            Some(found) => text.get(..from + found.start())?.chars().count() as i64,
            None => -1,
        })
    }))
}
