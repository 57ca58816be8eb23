//! `parse_version`.

use arrow::array::Decimal128Array;
use hindsight_kql_types::decimal;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["parse_version(version: string) -> decimal"],
    aliases: &[],
    summary: "A version of up to four numbers as a decimal that sorts in version order; null if it is not valid.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print d = parse_version('1.2.3.4')",
        "d:decimal\n1000000020000000300000004",
    )],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let text = args.strings(0)?;
    let values: Decimal128Array = (0..args.rows()).map(|row| version(text.get(row))).collect();
    Ok(Arc::new(values.with_data_type(ScalarType::Decimal.arrow())))
}

fn version(text: &str) -> Option<i128> {
    let mut parts = [0i128; 4];
    let mut slots = parts.iter_mut();
    for part in text.split('.') {
        let digits =
            !part.is_empty() && part.len() <= 8 && part.bytes().all(|b| b.is_ascii_digit());
        *slots.next()? = digits.then(|| part.parse().ok()).flatten()?;
    }
    let joined = parts
        .iter()
        .fold(0i128, |all, part| all * 100_000_000 + part);
    decimal::checked(joined.checked_mul(decimal::ONE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_eight_digits() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                version(text).map(decimal::to_text).as_deref(),
                expected,
                "{text}"
            );
        };
        check("1.2", Some("1000000020000000000000000"));
        check("0.0.0.7", Some("7"));
        check("1.2.3.4.5", None);
        check("1.x", None);
        check("", None);
    }
}
