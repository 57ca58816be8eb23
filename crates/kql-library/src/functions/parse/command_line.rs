//! `parse_command_line`; `windows` is the only supported parser.

use hindsight_kql_syntax::Code;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["parse_command_line(command: text, parser: const string) -> dynamic"],
    aliases: &[],
    summary: "The arguments of a Windows command line.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print d = parse_command_line('copy \"my file\" b', 'windows')",
        "d:dynamic\n[\"copy\",\"my file\",\"b\"]",
    )],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    match constant_text(call, 1) {
        Some(parser) if parser.eq_ignore_ascii_case("windows") => Ok(call_kernel(call, &KERNEL)),
        _ => Err(refuse(
            call,
            Code::Semantics,
            "parse_command_line(): the only parser is 'windows'",
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("parse_command_line", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.texts(0)?;
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        let text = text.get(row);
        if text.trim().is_empty() {
            return false;
        }
        encoder.begin_array();
        arguments(text)
            .iter()
            .for_each(|argument| encoder.string(argument));
        encoder.end();
        encoder.finish_into(out);
        true
    }))
}

/// The rules of the C runtime: backslashes are special only before a quote, where two stand for one.
fn arguments(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut current: Option<String> = None;
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' if !quoted => all.extend(current.take()),
            '"' => {
                let argument = current.get_or_insert_with(String::new);
                if quoted && characters.next_if_eq(&'"').is_some() {
                    argument.push('"')
                } else {
                    quoted = !quoted
                }
            }
            '\\' => {
                let mut count = 1;
                while characters.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let argument = current.get_or_insert_with(String::new);
                if characters.peek() != Some(&'"') {
                    argument.extend(std::iter::repeat_n('\\', count));
                    continue;
                }
                argument.extend(std::iter::repeat_n('\\', count / 2));
                if count % 2 == 1 && characters.next().is_some() {
                    argument.push('"');
                }
            }
            other => current.get_or_insert_with(String::new).push(other),
        }
    }
    all.extend(current);
    all
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn quotes_and_backslashes_follow_the_c_runtime() {
        let check = |text: &str, expected: &[&str]| assert_eq!(arguments(text), expected, "{text}");
        check(r#"echo "hello world!""#, &["echo", "hello world!"]);
        check(r#"a\\b d"e f"g h"#, &[r"a\\b", "de fg", "h"]);
        check(r#"a\\\"b c d"#, &[r#"a\"b"#, "c", "d"]);
        check(r#"a\\\\"b c" d e"#, &[r"a\\b c", "d", "e"]);
        check(r#""" x"#, &["", "x"]);
    }
}
