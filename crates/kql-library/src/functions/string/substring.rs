//! `substring`.

use super::indexof::byte_of;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["substring(source: text, start: long, [length: long]) -> string"],
    aliases: &[],
    summary: "A part of a text by code points from 0; a negative start counts from the end.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print s = substring('abcdef', 2, 3)", "s:string\ncde"),
        example("print s = substring('abcdef', -2)", "s:string\nef"),
        example("print s = substring('abc', -5, 2)", "s:string\n"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (text, start) = (args.texts(0)?, args.longs(1)?);
    let length = if args.len() > 2 {
        Some(args.longs(2)?)
    } else {
        None
    };
    Ok(args.collect_strings(|row| {
        let length = match &length {
            Some(length) => length.get(row)?,
            None => i64::MAX,
        };
        Some(Cow::Borrowed(part(text.get(row), start.get(row)?, length)))
    }))
}

fn part(text: &str, start: i64, length: i64) -> &str {
    let start = match usize::try_from(start) {
        Ok(start) => start,
        // A start before the beginning is not moved to the beginning: the result is empty.
        Err(_) => match text
            .chars()
            .count()
            .checked_sub(start.unsigned_abs() as usize)
        {
            Some(start) => start,
            None => return "",
        },
    };
    let Ok(length) = usize::try_from(length) else {
        return "";
    };
    let rest = byte_of(text, start)
        .and_then(|at| text.get(at..))
        .unwrap_or("");
    match byte_of(rest, length) {
        Some(end) => rest.get(..end).unwrap_or(""),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_are_counted_in_code_points() {
        let check = |text: &str, start: i64, length: i64, expected: &str| {
            assert_eq!(
                part(text, start, length),
                expected,
                "{text} {start} {length}"
            );
        };
        check("añb😀c", 1, 3, "ñb😀");
        check("añb😀c", -2, 1, "😀");
        check("abc", 3, 1, "");
        check("abc", 1, 0, "");
        check("abc", 1, -1, "");
        check("abc", -4, 2, "");
        check("abc", i64::MIN, 2, "");
        check("abc", i64::MAX, i64::MAX, "");
        check("ab", -2, 5, "ab");
    }
}
