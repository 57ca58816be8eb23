//! `extract_json`: extracts one value from JSON text by a path.

use hindsight_kql_syntax::Code;
use hindsight_kql_types::dynamic::{DynamicRef, encode_json};

use crate::functions::prelude::*;
use crate::kernel::MAX_TEXT;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "extract_json(jsonPath: const string, jsonText: string, [typeLiteral: type]) -> string",
    ],
    aliases: &["extractjson"],
    summary: "The text of the value at a path such as `$.a[0].b` of JSON text; empty if there is no such value.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print s = extract_json('$.a[1].b', '{\"a\":[0,{\"b\":\"x\"}]}')",
            "s:string\nx",
        ),
        example(
            "print s = extract_json(\"$['a b']\", '{\"a b\":2.5}')",
            "s:string\n2.5",
        ),
    ],
    eval: Eval::Rewrite(bind),
};

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
}

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let path = constant_text(call, 0).unwrap_or_default();
    match steps(&path) {
        Some(_) => Ok(call_kernel(call, &KERNEL)),
        None => Err(refuse(
            call,
            Code::Semantics,
            format!("extract_json(): '{path}' is not a path"),
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("extract_json", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (path, text) = (args.strings(0)?, args.texts(1)?);
    let path = steps(path.get(0)).unwrap_or_default();
    let mut encoder = encoder();
    let mut bytes = Vec::new();
    Ok(args.collect_strings(|row| {
        encoder.clear();
        encode_json(text.get(row), &mut encoder)?;
        bytes.clear();
        encoder.finish_into(&mut bytes);
        if bytes.is_empty() {
            args.limits().no_value();
            return None;
        }
        let found = path
            .iter()
            .try_fold(DynamicRef::new(&bytes), |value, step| match step {
                Step::Key(key) => value.get_key(key),
                Step::Index(index) => value.get_index(*index),
            })?;
        let mut out = String::new();
        found.to_text_within(MAX_TEXT, &mut out);
        Some(Cow::Owned(out))
    }))
}

/// The steps of a path such as `$.key['key'][0]`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (key, after) = name.split_at_checked(end)?;
            if key.is_empty() {
                return None;
            }
            steps.push(Step::Key(key.to_owned()));
            rest = after;
            continue;
        }
        let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
        let quoted = |quote| inside.strip_prefix(quote)?.strip_suffix(quote);
        steps.push(match quoted('\'').or_else(|| quoted('"')) {
            Some(key) => Step::Key(key.to_owned()),
            None => Step::Index(i64::from(inside.parse::<u32>().ok()?)),
        });
        rest = after;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_keys_and_indexes() {
        let key = |key: &str| Step::Key(key.to_owned());
        let check =
            |path: &str, expected: Option<Vec<Step>>| assert_eq!(steps(path), expected, "{path}");
        check("$", Some(vec![]));
        check("$.a.b[2]", Some(vec![key("a"), key("b"), Step::Index(2)]));
        check("$['x y'].z", Some(vec![key("x y"), key("z")]));
        check("a.b", None);
        check("$.a[", None);
        check("$..a", None);
        check("$.a[*]", None);
    }
}
