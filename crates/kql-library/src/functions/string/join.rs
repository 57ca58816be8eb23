//! `strcat`, `strcat_delim`, `strrep`: concatenation of the arguments' texts.

use crate::functions::prelude::*;

pub(crate) static STRCAT: ScalarFunction = function(
    &["strcat(arg: text...64) -> string"],
    "The concatenated texts of the arguments.",
    ResultName::None,
    &[example(
        "print s = strcat('a', 1, true)",
        "s:string\na1True",
    )],
    |args| join(args, 0),
);

pub(crate) static STRCAT_DELIM: ScalarFunction = function(
    &["strcat_delim(delimiter: text, arg1: text, arg: text...) -> string"],
    "The texts of the arguments with a delimiter between them.",
    ResultName::None,
    &[example(
        "print s = strcat_delim('-', 'a', int(null), 'b')",
        "s:string\na--b",
    )],
    |args| join(args, 1),
);

pub(crate) static STRREP: ScalarFunction = function(
    &["strrep(value: text, multiplier: long, [delimiter: text]) -> string"],
    "The text repeated a number of times, with an optional delimiter between.",
    ResultName::None,
    &[
        example("print s = strrep('ab', 3)", "s:string\nababab"),
        example("print s = strrep(1.5, 2, '/')", "s:string\n1.5/1.5"),
    ],
    repeat,
);

fn join(args: &KernelArgs<'_>, first: usize) -> KernelResult {
    let columns = (0..args.len())
        .map(|i| args.texts(i))
        .collect::<Result<Vec<_>, _>>()?;
    let (delimiter, columns) = columns.split_at(first.min(columns.len()));
    let mut text = String::new();
    Ok(args.collect_strings(|row| {
        text.clear();
        let delimiter = delimiter.first().map_or("", |column| column.get(row));
        let parts: usize = columns.iter().map(|column| column.get(row).len()).sum();
        if !args
            .limits()
            .allows_length(parts + columns.len() * delimiter.len())
        {
            return None;
        }
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                text.push_str(delimiter);
            }
            text.push_str(column.get(row));
        }
        Some(Cow::Owned(text.clone()))
    }))
}

fn repeat(args: &KernelArgs<'_>) -> KernelResult {
    let (value, times) = (args.texts(0)?, args.longs(1)?);
    let delimiter = if args.len() > 2 {
        Some(args.texts(2)?)
    } else {
        None
    };
    Ok(args.collect_strings(|row| {
        let times = usize::try_from(times.get(row)?).unwrap_or(0);
        let delimiter = delimiter.as_ref().map_or("", |column| column.get(row));
        let size = value.get(row).len() + delimiter.len();
        if !args.limits().allows_length(size.saturating_mul(times)) {
            return None;
        }
        Some(Cow::Owned(match delimiter {
            "" => value.get(row).repeat(times),
            delimiter => vec![value.get(row); times].join(delimiter),
        }))
    }))
}
