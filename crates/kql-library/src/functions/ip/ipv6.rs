//! IPv6 addresses in a canonical text form; comparison and range matching.

use super::address::{Address, V6};
use super::compared;
use crate::functions::prelude::*;

pub(crate) static PARSE: ScalarFunction = function(
    &["parse_ipv6(ip: string) -> string"],
    "An IPv6 or IPv4 address as eight groups of four digits, with the bits beyond its prefix cleared; empty if it is \
    not valid.",
    ResultName::None,
    &[example(
        "print s = parse_ipv6('fe80::1')",
        "s:string\nfe80:0000:0000:0000:0000:0000:0000:0001",
    )],
    |args| {
        let text = args.strings(0)?;
        Ok(args.collect_strings(|row| {
            let ip = V6::parse(text.get(row))?;
            Some(Cow::Owned(V6::text(ip.network())))
        }))
    },
);

pub(crate) static PARSE_MASK: ScalarFunction = function(
    &["parse_ipv6_mask(ip: string, prefix: long) -> string"],
    "An IPv6 or IPv4 address as eight groups of four digits, masked to a prefix length.",
    ResultName::None,
    &[example(
        "print s = parse_ipv6_mask('fe80::1:2', 112)",
        "s:string\nfe80:0000:0000:0000:0000:0000:0001:0000",
    )],
    |args| {
        let (text, prefix) = (args.strings(0)?, args.longs(1)?);
        Ok(args.collect_strings(|row| {
            let ip = V6::parse_compatible(text.get(row))?.limited(prefix.get(row)?)?;
            Some(Cow::Owned(V6::text(ip.network())))
        }))
    },
);

pub(crate) static COMPARE: ScalarFunction = function(
    &["ipv6_compare(ip1: string, ip2: string, [prefix: long]) -> long"],
    "Compares two addresses within their shortest prefix: -1, 0 or 1; null if an address is not valid.",
    ResultName::None,
    &[example(
        "print n = ipv6_compare('fe80::1/64', 'fe80::2')",
        "n:long\n0",
    )],
    compared::compare::<V6>,
);

pub(crate) static IS_MATCH: ScalarFunction = function(
    &["ipv6_is_match(ip1: string, ip2: string, [prefix: long]) -> bool"],
    "Whether two addresses are equal within their shortest prefix.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_match('fe80::1', 'fe80::2', 64)",
        "b:bool\ntrue",
    )],
    compared::is_match::<V6>,
);

pub(crate) static IS_IN_RANGE: ScalarFunction = function(
    &["ipv6_is_in_range(ip: string, ip_range: string) -> bool"],
    "Whether an address lies in a range; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_in_range('fe80::9', 'fe80::/10')",
        "b:bool\ntrue",
    )],
    compared::is_in_range::<V6>,
);

pub(crate) static IS_IN_ANY_RANGE: ScalarFunction = function(
    &["ipv6_is_in_any_range(ip: string, ranges: string|dynamic...) -> bool"],
    "Whether an address lies in any of several ranges; null if the address is not valid.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_in_any_range('10.0.0.9', 'fe80::/10', '10.0.0.0/8')",
        "b:bool\ntrue",
    )],
    compared::is_in_any_range::<V6>,
);
