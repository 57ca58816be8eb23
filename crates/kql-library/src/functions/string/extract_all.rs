//! `extract_all`.

use ::regex::Regex;
use hindsight_kql_syntax::Code;
use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::Kind;

use crate::functions::prelude::*;
use crate::regular_expression::compile;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "extract_all(regex: const string, source: string) -> dynamic",
        "extract_all(regex: const string, captureGroups: dynamic, source: string) -> dynamic",
    ],
    aliases: &["extractall"],
    summary: "The groups of all matches of a regular expression: flat for one group, arrays for several.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            r"print d = extract_all(@'(\d+)', 'a1 b22')",
            "d:dynamic\n[\"1\",\"22\"]",
        ),
        example(
            r"print d = extract_all(@'([a-z])(\d)', 'a1 b2')",
            "d:dynamic\n[[\"a\",\"1\"],[\"b\",\"2\"]]",
        ),
        example(
            r"print d = extract_all(@'([a-z])(\d)', dynamic([2]), 'a1 b2')",
            "d:dynamic\n[\"1\",\"2\"]",
        ),
        example(r"print d = extract_all(@'(x)', 'a1 b2')", "d:dynamic\nnull"),
    ],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let pattern = constant_text(call, 0).unwrap_or_default();
    let Ok(regex) = compile(&pattern) else {
        return Err(refuse(
            call,
            Code::RegularExpression,
            format!("Regex pattern is ill-formed: '{pattern}'"),
        ));
    };
    match regex.captures_len() {
        2..=17 => Ok(call_kernel(call, &KERNEL)),
        _ => Err(refuse(
            call,
            Code::GroupCount,
            "extract_all(): the regular expression must have 1 to 16 capture groups",
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("extract_all", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let pattern = args.strings(0)?;
    let Ok(regex) = compile(pattern.get(0)) else {
        return Err(KernelError::Failed("Regex pattern is ill-formed".into()));
    };
    let selection = if args.len() > 2 {
        Some(args.dynamics(1)?)
    } else {
        None
    };
    let text = args.texts(args.len().saturating_sub(1))?;
    let every: Vec<usize> = (1..regex.captures_len()).collect();
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        let selected = selection
            .as_ref()
            .and_then(|s| s.get(row))
            .map(|s| groups(&regex, s));
        let selected = selected.filter(|groups| !groups.is_empty());
        let selected = selected.as_deref().unwrap_or(&every);
        let mut found = false;
        encoder.begin_array();
        for captures in regex.captures_iter(text.get(row)) {
            found = true;
            if !args.limits().should_continue() {
                break;
            }
            let group = |index: &usize| captures.get(*index).map_or("", |m| m.as_str());
            match selected {
                [only] => encoder.string(group(only)),
                several => {
                    encoder.begin_array();
                    for index in several {
                        encoder.string(group(index));
                    }
                    encoder.end();
                }
            }
        }
        encoder.end();
        encoder.finish_into(out);
        found
    }))
}

/// The groups that an array selects by number or name; invalid selectors are dropped.
fn groups(regex: &Regex, selection: &[u8]) -> Vec<usize> {
    let group = |item: DynamicRef<'_>| match item.kind() {
        Kind::String => {
            let name = item.as_str()?;
            regex.capture_names().position(|n| n == Some(name))
        }
        _ => {
            let index = usize::try_from(item.to_long()?).ok()?;
            (index >= 1 && index < regex.captures_len()).then_some(index)
        }
    };
    DynamicRef::new(selection)
        .iter_array()
        .filter_map(group)
        .collect()
}
