//! `indexof`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "indexof(string: text, match: text, [start: long], [length: long], [occurrence: long]) -> long",
    ],
    aliases: &[],
    summary: "The 0-based position in code points of the first occurrence of a text; -1 if there is none, null for \
    an empty text.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = indexof('banana', 'na')", "n:long\n2"),
        example("print n = indexof('banana', 'na', 3)", "n:long\n4"),
        example("print n = indexof('banana', 'x')", "n:long\n-1"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (text, needle) = (args.texts(0)?, args.texts(1)?);
    let window = Window::open(args)?;
    Ok(args.collect_longs(|row| {
        let (text, needle) = (text.get(row), needle.get(row));
        if needle.is_empty() {
            return None;
        }
        let (start, _, occurrence) = window.get(row)?;
        Some(position(text, needle, start, occurrence))
    }))
}

/// The optional arguments `start`, `length` and `occurrence`.
pub(super) struct Window {
    columns: Vec<crate::kernel::Rows<arrow::array::Int64Array>>,
}

impl Window {
    /// The arguments from the third on.
    pub(super) fn open(args: &KernelArgs<'_>) -> Result<Window, KernelError> {
        let columns = (2..args.len())
            .map(|i| args.longs(i))
            .collect::<Result<_, _>>()?;
        Ok(Window { columns })
    }

    /// The start, length (-1: to the end) and occurrence in `row`; `None` if one is null.
    pub(super) fn get(&self, row: usize) -> Option<(i64, i64, i64)> {
        let value = |index: usize, default: i64| match self.columns.get(index) {
            Some(column) => column.get(row),
            None => Some(default),
        };
        Some((value(0, 0)?, value(1, -1)?, value(2, 1)?))
    }
}

/// The byte offset of code point `index`, which may be the end of the text.
pub(super) fn byte_of(text: &str, index: usize) -> Option<usize> {
    if text.is_ascii() {
        return (index <= text.len()).then_some(index);
    }
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .nth(index)
}

// The documented limit of the search range does not hold in the measured engine (`docs/semantics.md §11`), so it is not applied.
fn position(text: &str, needle: &str, start: i64, occurrence: i64) -> i64 {
    let start = match usize::try_from(start) {
        Ok(start) => start,
        Err(_) => {
            let back = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
            text.chars().count().saturating_sub(back)
        }
    };
    let Some(mut at) = byte_of(text, start) else {
        return -1;
    };
    let mut left = occurrence.max(1);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(needle)) {
        at += found;
        left -= 1;
        if left == 0 {
            return text
                .get(..at)
                .map_or(-1, |before| before.chars().count() as i64);
        }
        at += text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8);
    }
    -1
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn finds_by_code_points() {
        let check = |text: &str, needle: &str, start: i64, occurrence: i64, expected: i64| {
            let found = position(text, needle, start, occurrence);
            assert_eq!(found, expected, "{text} {needle} {start} {occurrence}");
        };
        check("ñandú ñandú", "ñ", 1, 1, 6);
        check("abcabc", "c", 0, 2, 5);
        check("abcabc", "c", 0, 3, -1);
        check("abcdefg", "cde", -5, 1, 2);
        check("abc", "a", 9, 1, -1);
        check("abc", "a", -99, 1, 0);
    }
}
