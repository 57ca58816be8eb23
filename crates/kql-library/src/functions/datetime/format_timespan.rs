//! `format_timespan` (`docs/semantics.md §10.8`).

use hindsight_kql_syntax::Code;
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

use super::pattern::{Letters, Piece, write_fraction, write_padded};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["format_timespan(timespan: timespan, format: const string) -> string"],
    aliases: &[],
    summary: "A timespan formatted by a pattern of d, h, H, m, s, f and F.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example(
            "print s = format_timespan(time(1.02:03:04.5), 'd.hh:mm:ss.ff')",
            "s:string\n1.02:03:04.50",
        ),
        example(
            "print s = format_timespan(-90s, 'mm:ss')",
            "s:string\n-01:30",
        ),
    ],
    eval: Eval::Rewrite(bind),
};

const LETTERS: Letters = Letters(&[
    ('d', 8),
    ('h', 2),
    ('H', 2),
    ('m', 2),
    ('s', 2),
    ('f', 7),
    ('F', 7),
]);

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let pattern = constant_text(call, 1).unwrap_or_default();
    if pattern.is_empty() {
        return Err(refuse(
            call,
            Code::EmptyLiteral,
            "format_timespan(): the format must not be empty",
        ));
    }
    match LETTERS.parse(&pattern) {
        Ok(_) => Ok(call_kernel(call, &KERNEL)),
        Err(unknown) => Err(refuse(
            call,
            Code::FormatElement,
            format!("format_timespan(): '{unknown}' is not a format specifier"),
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("format_timespan", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (span, pattern) = (args.longs(0)?, args.strings(1)?);
    let pieces = LETTERS.parse(pattern.get(0)).unwrap_or_default();
    let mut text = String::new();
    Ok(args.collect_strings(|row| {
        let span = span.get(row)?;
        text.clear();
        if span < 0 {
            text.push('-');
        }
        for piece in &pieces {
            write(span.unsigned_abs(), *piece, &mut text);
        }
        Some(Cow::Owned(text.clone()))
    }))
}

fn write(span: u64, piece: Piece, out: &mut String) {
    let (letter, count) = match piece {
        Piece::Literal(delimiter) => return out.push(delimiter),
        Piece::Token(letter, count) => (letter, count),
    };
    let part = |unit: i64, of: i64| span % of.unsigned_abs() / unit.unsigned_abs();
    match letter {
        'd' => write_padded(span / TICKS_PER_DAY.unsigned_abs(), count, out),
        'h' | 'H' => write_padded(part(TICKS_PER_HOUR, TICKS_PER_DAY), count, out),
        'm' => write_padded(part(TICKS_PER_MINUTE, TICKS_PER_HOUR), count, out),
        's' => write_padded(part(TICKS_PER_SECOND, TICKS_PER_MINUTE), count, out),
        _ => write_fraction(part(1, TICKS_PER_SECOND) as u32, letter, count, out),
    }
}
