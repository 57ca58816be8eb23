//! IPv4 addresses as numbers; comparison and range matching.

use super::address::{Address, V4};
use super::compared;
use crate::functions::prelude::*;

pub(crate) static PARSE: ScalarFunction = function(
    &["parse_ipv4(ip: string) -> long"],
    "An IPv4 address as a number, with the bits beyond its prefix cleared; null if it is not valid.",
    ResultName::None,
    &[example(
        "print n = parse_ipv4('10.0.0.7/24')",
        "n:long\n167772160",
    )],
    |args| {
        let text = args.strings(0)?;
        Ok(args.collect_longs(|row| V4::parse(text.get(row)).map(|ip| i64::from(ip.network()))))
    },
);

pub(crate) static PARSE_MASK: ScalarFunction = function(
    &["parse_ipv4_mask(ip: string, prefix: long) -> long"],
    "An IPv4 address as a number, masked to a prefix length.",
    ResultName::None,
    &[example(
        "print n = parse_ipv4_mask('10.0.0.7', 24)",
        "n:long\n167772160",
    )],
    |args| {
        let (text, prefix) = (args.strings(0)?, args.longs(1)?);
        Ok(args.collect_longs(|row| {
            let ip = V4::parse(text.get(row))?.limited(prefix.get(row)?)?;
            Some(i64::from(ip.network()))
        }))
    },
);

pub(crate) static COMPARE: ScalarFunction = function(
    &["ipv4_compare(ip1: string, ip2: string, [prefix: long]) -> long"],
    "Compares two addresses within their shortest prefix: -1, 0 or 1; null if an address is not valid.",
    ResultName::None,
    &[example(
        "print n = ipv4_compare('10.0.0.1/24', '10.0.0.200')",
        "n:long\n0",
    )],
    compared::compare::<V4>,
);

pub(crate) static IS_MATCH: ScalarFunction = function(
    &["ipv4_is_match(ip1: string, ip2: string, [prefix: long]) -> bool"],
    "Whether two addresses are equal within their shortest prefix.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_match('10.0.0.1', '10.0.0.200', 24)",
        "b:bool\ntrue",
    )],
    compared::is_match::<V4>,
);

pub(crate) static IS_IN_RANGE: ScalarFunction = function(
    &["ipv4_is_in_range(ip: string, ip_range: string) -> bool"],
    "Whether an address lies in a range; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_in_range('10.0.0.9', '10.0.0.0/24')",
        "b:bool\ntrue",
    )],
    compared::is_in_range::<V4>,
);

pub(crate) static IS_IN_ANY_RANGE: ScalarFunction = function(
    &["ipv4_is_in_any_range(ip: string, ranges: string|dynamic...) -> bool"],
    "Whether an address lies in any of several ranges; null if the address is not valid.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_in_any_range('10.0.0.9', '192.168.0.0/16', '10.0.0.0/8')",
        "b:bool\ntrue",
    )],
    compared::is_in_any_range::<V4>,
);

pub(crate) static IS_PRIVATE: ScalarFunction = function(
    &["ipv4_is_private(ip: string) -> bool"],
    "Whether an address belongs to a private network.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_private('172.20.1.1')",
        "b:bool\ntrue",
    )],
    |args| {
        let ip = args.strings(0)?;
        Ok(args.collect_bools(|row| {
            let ip = V4::parse(ip.get(row))?;
            let private = [(0x0a00_0000, 8), (0xac10_0000, 12), (0xc0a8_0000, 16)];
            Some(private.iter().any(|(bits, prefix)| {
                compared::contains(
                    V4 {
                        bits: *bits,
                        prefix: *prefix,
                    },
                    ip,
                )
            }))
        }))
    },
);

pub(crate) static NETMASK_SUFFIX: ScalarFunction = function(
    &["ipv4_netmask_suffix(ip: string) -> long"],
    "The prefix length of an address; 32 if it has no prefix.",
    ResultName::None,
    &[example(
        "print n = ipv4_netmask_suffix('10.1.2.3/8')",
        "n:long\n8",
    )],
    |args| {
        let ip = args.strings(0)?;
        Ok(args.collect_longs(|row| V4::parse(ip.get(row)).map(|ip| i64::from(ip.prefix))))
    },
);
