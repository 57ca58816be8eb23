//! `format_datetime` (`docs/semantics.md §10.7`): there are no names of days or months, and the set of delimiters is fixed.

use hindsight_kql_syntax::Code;
use hindsight_kql_types::Civil;

use super::pattern::{Letters, Piece, write_fraction, write_padded};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["format_datetime(date: datetime, format: literal string) -> string"],
    aliases: &[],
    summary: "A datetime formatted by a pattern of d, M, y, h, H, m, s, t, f and F.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example(
            "print s = format_datetime(datetime(2020-05-06 17:08:09), 'dd/MM/yy h:mm tt')",
            "s:string\n06/05/20 5:08 PM",
        ),
        example(
            "print s = format_datetime(datetime(2020-05-06 17:08:09.25), 'HH:mm:ss.fff')",
            "s:string\n17:08:09.250",
        ),
    ],
    eval: Eval::Rewrite(bind),
};

const LETTERS: Letters = Letters(&[
    ('d', 2),
    ('M', 2),
    ('y', 4),
    ('h', 2),
    ('H', 2),
    ('m', 2),
    ('s', 2),
    ('t', 2),
    ('f', 7),
    ('F', 7),
]);

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let pattern = constant_text(call, 1).unwrap_or_default();
    if pattern.is_empty() {
        return Err(refuse(
            call,
            Code::EmptyLiteral,
            "format_datetime(): the format must not be empty",
        ));
    }
    match parse(&pattern) {
        Ok(_) => Ok(call_kernel(call, &KERNEL)),
        Err(unknown) => Err(refuse(
            call,
            Code::FormatElement,
            format!("format_datetime(): '{unknown}' is not a format specifier"),
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("format_datetime", kernel);

fn parse(pattern: &str) -> Result<Vec<Piece>, char> {
    let pieces = LETTERS.parse(pattern)?;
    let last = pieces.len().saturating_sub(1);
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Token('t', 1) => return Err('t'),
            // `yyy` is allowed only at the very end of the pattern, where it reads as `yy` and `y`.
            Piece::Token('y', 3) if index != last => return Err('y'),
            _ => {}
        }
    }
    Ok(pieces)
}

// A null datetime has the empty text, because strings are never null.
fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let (time, pattern) = (args.longs(0)?, args.strings(1)?);
    let pieces = parse(pattern.get(0)).unwrap_or_default();
    let mut text = String::new();
    Ok(args.collect_strings(|row| {
        let civil = Civil::from_ticks(time.get(row)?);
        text.clear();
        for piece in &pieces {
            write(&civil, *piece, &mut text);
        }
        Some(Cow::Owned(text.clone()))
    }))
}

fn write(civil: &Civil, piece: Piece, out: &mut String) {
    let (letter, count) = match piece {
        Piece::Literal(delimiter) => return out.push(delimiter),
        Piece::Token(letter, count) => (letter, count),
    };
    let padded = |number: u32, out: &mut String| write_padded(u64::from(number), count, out);
    let year = civil.year.unsigned_abs();
    match letter {
        'd' => padded(civil.day, out),
        'M' => padded(civil.month, out),
        'y' if count == 3 => {
            write_padded(u64::from(year % 100), 2, out);
            write_padded(u64::from(year % 100), 1, out);
        }
        'y' if count == 4 => padded(year, out),
        'y' => padded(year % 100, out),
        'h' => padded((civil.hour + 11) % 12 + 1, out),
        'H' => padded(civil.hour, out),
        'm' => padded(civil.minute, out),
        's' => padded(civil.second, out),
        't' => out.push_str(if civil.hour < 12 { "AM" } else { "PM" }),
        _ => write_fraction(civil.tick_of_second, letter, count, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(ticks: i64, pattern: &str) -> Option<String> {
        let mut out = String::new();
        for piece in parse(pattern).ok()? {
            write(&Civil::from_ticks(ticks), piece, &mut out);
        }
        Some(out)
    }

    #[test]
    fn patterns_are_read_greedily() {
        let time = hindsight_kql_types::datetime::parse("2009-06-05 04:03:02").unwrap_or(0);
        let check = |pattern: &str, expected: Option<&str>| {
            assert_eq!(format(time, pattern).as_deref(), expected, "{pattern}");
        };
        check("ddd dddd MMM", Some("055 0505 066"));
        check("yyyyy y", Some("20099 9"));
        check("tttt", Some("AMAM"));
        check("ss.FFF|", None);
        check("ss.FFF", Some("02."));
        check("ss.fff", Some("02.000"));
        check("yyyy-MM-ddTHH", None);
        check("K", None);
    }
}
