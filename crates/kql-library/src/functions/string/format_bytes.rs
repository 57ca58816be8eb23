//! `format_bytes`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["format_bytes(size: real, [precision: long], [units: string]) -> string"],
    aliases: &[],
    summary: "A number of bytes formatted in units of 1024: Bytes, KB, MB, ….",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print s = format_bytes(1000)", "s:string\n1000 Bytes"),
        example("print s = format_bytes(1536, 1)", "s:string\n1.5 KB"),
        example(
            "print s = format_bytes(3145728, 0, 'KB')",
            "s:string\n3072 KB",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

const UNITS: [&str; 7] = ["Bytes", "KB", "MB", "GB", "TB", "PB", "EB"];

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let size = args.reals(0)?;
    let precision = if args.len() > 1 {
        Some(args.longs(1)?)
    } else {
        None
    };
    let unit = if args.len() > 2 {
        Some(args.strings(2)?)
    } else {
        None
    };
    Ok(args.collect_strings(|row| {
        let precision = match &precision {
            Some(precision) => precision.get(row)?.clamp(0, 15),
            None => 0,
        };
        let unit = unit.as_ref().map_or("", |unit| unit.get(row));
        format(size.get(row)?, precision as i32, unit).map(Cow::Owned)
    }))
}

fn format(size: f64, precision: i32, unit: &str) -> Option<String> {
    let largest = UNITS.len() - 1;
    let step = match unit {
        "" => (1..=largest)
            .take_while(|step| size.abs() >= 1024f64.powi(*step as i32))
            .count(),
        unit => UNITS.iter().position(|u| *u == unit)?,
    };
    let scale = 10f64.powi(precision);
    let number = (size / 1024f64.powi(step as i32) * scale).round() / scale;
    // Trailing zeros after the decimal point are omitted: 10 KB with two digits is `10 KB`.
    Some(format!("{number} {}", UNITS.get(step)?))
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn sizes_are_counted_in_1024s() {
        let check = |size: f64, precision: i32, unit: &str, expected: Option<&str>| {
            assert_eq!(
                format(size, precision, unit).as_deref(),
                expected,
                "{size} {precision} {unit}"
            );
        };
        check(1023.0, 0, "", Some("1023 Bytes"));
        check(10332.0, 1, "", Some("10.1 KB"));
        check(20010332.0, 2, "", Some("19.08 MB"));
        check(20010332.0, 0, "KB", Some("19541 KB"));
        check(5.0, 0, "furlongs", None);
    }
}
