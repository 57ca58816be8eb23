//! `trim`, `trim_start`, `trim_end`: the first argument is a regular expression, of which one match is removed at each end.

use hindsight_kql_syntax::Code;

use crate::functions::prelude::*;
use crate::regular_expression::compile;

pub(crate) static TRIM: ScalarFunction = ScalarFunction {
    signatures: &["trim(regex: literal string, source: string) -> string"],
    aliases: &[],
    summary: "The text without one match of a regular expression at its beginning and one at its end.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print s = trim('-', '--x--')", "s:string\n-x-"),
        example("print s = trim('-+', '--x--')", "s:string\nx"),
    ],
    eval: Eval::Rewrite(|call| {
        check(call, both)?;
        Ok(call_kernel(call, &TRIM_KERNEL))
    }),
};

pub(super) static TRIM_KERNEL: InnerKernel = InnerKernel::new("trim", |args| remove(args, both));

pub(crate) static TRIM_START: ScalarFunction = ScalarFunction {
    signatures: &["trim_start(regex: literal string, source: string) -> string"],
    aliases: &[],
    summary: "The text without one match of a regular expression at its beginning.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = trim_start('-+', '--x--')",
        "s:string\nx--",
    )],
    eval: Eval::Rewrite(|call| {
        check(call, start)?;
        Ok(call_kernel(call, &TRIM_START_KERNEL))
    }),
};

pub(super) static TRIM_START_KERNEL: InnerKernel =
    InnerKernel::new("trim_start", |args| remove(args, start));

pub(crate) static TRIM_END: ScalarFunction = ScalarFunction {
    signatures: &["trim_end(regex: literal string, source: string) -> string"],
    aliases: &[],
    summary: "The text without one match of a regular expression at its end.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = trim_end('-+', '--x--')",
        "s:string\n--x",
    )],
    eval: Eval::Rewrite(|call| {
        check(call, end)?;
        Ok(call_kernel(call, &TRIM_END_KERNEL))
    }),
};

pub(super) static TRIM_END_KERNEL: InnerKernel =
    InnerKernel::new("trim_end", |args| remove(args, end));

/// The anchored form of a pattern.
type Anchor = fn(&str) -> String;

fn both(pattern: &str) -> String {
    format!("^({pattern})|({pattern})$")
}

fn start(pattern: &str) -> String {
    format!("^({pattern})")
}

fn end(pattern: &str) -> String {
    format!("({pattern})$")
}

fn check(call: &CallArgs<'_>, anchor: Anchor) -> Result<(), Diagnostic> {
    let pattern = constant_text(call, 0).unwrap_or_default();
    if pattern.is_empty() {
        return Err(refuse(
            call,
            Code::EmptyLiteral,
            "the regular expression must not be empty",
        ));
    }
    match compile(&anchor(&pattern)) {
        Ok(_) => Ok(()),
        Err(_) => Err(refuse(
            call,
            Code::RegularExpression,
            format!("Regex pattern is ill-formed: '{pattern}'"),
        )),
    }
}

fn remove(args: &KernelArgs<'_>, anchor: Anchor) -> KernelResult {
    let (pattern, text) = (args.strings(0)?, args.texts(1)?);
    let regex = compile(&anchor(pattern.get(0))).ok();
    Ok(args.collect_strings(|row| {
        let text = text.get(row);
        Some(match &regex {
            Some(regex) => regex.replace_all(text, ""),
            None => Cow::Borrowed(text),
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_one_match_at_each_end() {
        let check = |pattern: &str, text: &str, expected: &str| {
            let regex = compile(&both(pattern)).expect("a pattern");
            assert_eq!(regex.replace_all(text, ""), expected, "{pattern} {text}");
        };
        check("x", "xxabcxx", "xabcx");
        check("x", "xxx", "x");
        check("y", "y", "");
        check(r"\s+", "  a  ", "a");
        check(r"[\sx]", "trim\tme\t", "trim\tme");
    }
}
