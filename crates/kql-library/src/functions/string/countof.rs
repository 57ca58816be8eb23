//! `countof`.

use hindsight_kql_syntax::Code;

use super::regex::{Patterns, check};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["countof(source: string, search: const string, [kind: const string]) -> long"],
    aliases: &[],
    summary: "The number of occurrences of a text, including overlapping ones, or of matches of a regular expression.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = countof('banana', 'ana')", "n:long\n2"),
        example("print n = countof('banana', 'ana', 'regex')", "n:long\n1"),
    ],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    match constant_text(call, 2).as_deref() {
        None | Some("normal") => Ok(call_kernel(call, &COUNTOF_KERNEL)),
        Some("regex") => {
            check(call, 1)?;
            Ok(call_kernel(call, &COUNTOF_REGEX_KERNEL))
        }
        Some(other) => Err(refuse(
            call,
            Code::Semantics,
            format!("countof(): unknown kind '{other}'; the kinds are 'normal' and 'regex'"),
        )),
    }
}

pub(super) static COUNTOF_REGEX_KERNEL: InnerKernel = InnerKernel::new("countof_regex", regex);

pub(super) static COUNTOF_KERNEL: InnerKernel = InnerKernel::new("countof", normal);

fn normal(args: &KernelArgs<'_>) -> KernelResult {
    let (text, search) = (args.texts(0)?, args.texts(1)?);
    let search = search.get(0);
    let step = search.chars().next().map_or(1, char::len_utf8);
    Ok(args.collect_longs(|row| {
        let mut rest = text.get(row);
        let mut count = 0;
        while let Some(at) = rest.find(search).filter(|_| !search.is_empty()) {
            count += 1;
            rest = rest.get(at + step..).unwrap_or("");
        }
        Some(count)
    }))
}

fn regex(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    let mut patterns = Patterns::open(args, 1)?;
    let empty = patterns.is_empty();
    Ok(args.collect_longs(|row| {
        let matches = patterns
            .get(row)
            .map_or(0, |regex| regex.find_iter(text.get(row)).count());
        Some(if empty { 0 } else { matches as i64 })
    }))
}
