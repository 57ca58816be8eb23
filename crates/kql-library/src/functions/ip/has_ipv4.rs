//! `has_ipv4`, `has_ipv4_prefix` and their `any` forms: search for an address in a text. An address is delimited by
//! characters that are neither letters nor digits.

use super::address::{Address, V4};
use super::ranges::Ranges;
use crate::functions::prelude::*;

pub(crate) static HAS_IPV4: ScalarFunction = function(
    &["has_ipv4(source: string, ip: string) -> bool"],
    "Whether an IPv4 address occurs in a text.",
    ResultName::None,
    &[example(
        "print b = has_ipv4('from 10.0.0.1:80', '10.0.0.1')",
        "b:bool\ntrue",
    )],
    |args| any(args, has_address),
);

pub(crate) static HAS_ANY_IPV4: ScalarFunction = function(
    &["has_any_ipv4(source: string, ips: string|dynamic...) -> bool"],
    "Whether any of several IPv4 addresses occurs in a text.",
    ResultName::None,
    &[example(
        "print b = has_any_ipv4('from 10.0.0.1', dynamic(['10.0.0.2', '10.0.0.1']))",
        "b:bool\ntrue",
    )],
    |args| any(args, has_address),
);

pub(crate) static HAS_IPV4_PREFIX: ScalarFunction = function(
    &["has_ipv4_prefix(source: string, ip_prefix: string) -> bool"],
    "Whether an IPv4 address with the prefix occurs in a text; the prefix ends with a dot or is a whole address.",
    ResultName::None,
    &[
        example(
            "print b = has_ipv4_prefix('from 10.0.0.1', '10.0.')",
            "b:bool\ntrue",
        ),
        example(
            "print b = has_ipv4_prefix('from 10.0.0.1', '10.0')",
            "b:bool\nfalse",
        ),
    ],
    |args| any(args, has_prefix),
);

pub(crate) static HAS_ANY_IPV4_PREFIX: ScalarFunction = function(
    &["has_any_ipv4_prefix(source: string, ip_prefixes: string|dynamic...) -> bool"],
    "Whether an IPv4 address with any of several prefixes occurs in a text.",
    ResultName::None,
    &[example(
        "print b = has_any_ipv4_prefix('from 10.0.0.1', '192.168.', '10.')",
        "b:bool\ntrue",
    )],
    |args| any(args, has_prefix),
);

fn any(args: &KernelArgs<'_>, test: fn(&str, &str) -> bool) -> KernelResult {
    let text = args.texts(0)?;
    let needles = Ranges::open(args)?;
    Ok(args.collect_bools(|row| Some(needles.any(row, |needle| test(text.get(row), needle)))))
}

fn has_address(text: &str, needle: &str) -> bool {
    is_address(needle) && addresses(text).any(|address| address == needle)
}

fn has_prefix(text: &str, needle: &str) -> bool {
    if needle.ends_with('.') {
        addresses(text).any(|address| address.starts_with(needle))
    } else {
        has_address(text, needle)
    }
}

fn is_address(text: &str) -> bool {
    !text.contains(['/', ' ']) && V4::parse(text).is_some()
}

/// The addresses in a text: runs of digits and dots that no letter or digit adjoins.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '.')
        .map(|run| run.trim_matches('.'))
        .filter(|run| is_address(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_delimited() {
        let check = |text: &str, needle: &str, expected: bool| {
            assert_eq!(has_prefix(text, needle), expected, "{text} {needle}");
        };
        check("05:04:54 127.0.0.1 GET", "127.0.0.1", true);
        check("05:04:54 127.0.0.1 GET", "127.0", false);
        check("05:04:54127.0.0.1 GET", "127.0.0.1", false);
        check("x 127.0.0.256", "127.0.0.256", false);
        check("x 127.0.0.256", "127.0.", false);
        check("(10.0.0.1)", "10.", true);
    }
}
