//! IPv4 addresses as numbers, compared and matched with ranges.

use super::Ranges;
use super::address::V4;
use crate::functions::prelude::*;

pub(crate) static PARSE: ScalarFunction = function(
    &["parse_ipv4(ip: string) -> long"],
    "An IPv4 address as a number, the bits beyond its prefix zero; null for other text.",
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
    "An IPv4 address as a number with so many leading bits kept.",
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
    "-1, 0 or 1 by the order of two addresses within their shortest prefix; null for other text.",
    ResultName::None,
    &[example(
        "print n = ipv4_compare('10.0.0.1/24', '10.0.0.200')",
        "n:long\n0",
    )],
    |args| {
        let compare = pair(args)?;
        Ok(args.collect_longs(|row| compare(row).map(|order| order as i64)))
    },
);

pub(crate) static IS_MATCH: ScalarFunction = function(
    &["ipv4_is_match(ip1: string, ip2: string, [prefix: long]) -> bool"],
    "Whether two addresses are equal within their shortest prefix.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_match('10.0.0.1', '10.0.0.200', 24)",
        "b:bool\ntrue",
    )],
    |args| {
        let compare = pair(args)?;
        Ok(args.collect_bools(|row| compare(row).map(std::cmp::Ordering::is_eq)))
    },
);

pub(crate) static IS_IN_RANGE: ScalarFunction = function(
    &["ipv4_is_in_range(ip: string, ip_range: string) -> bool"],
    "Whether an address lies in a range; null for other text.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_in_range('10.0.0.9', '10.0.0.0/24')",
        "b:bool\ntrue",
    )],
    |args| {
        let (ip, range) = (args.strings(0)?, args.strings(1)?);
        Ok(args.collect_bools(|row| {
            let (ip, range) = (V4::parse(ip.get(row))?, V4::parse(range.get(row))?);
            Some(contains(range, ip))
        }))
    },
);

pub(crate) static IS_IN_ANY_RANGE: ScalarFunction = function(
    &["ipv4_is_in_any_range(ip: string, ranges: any...) -> bool"],
    "Whether an address lies in one of several ranges; null where the address is none.",
    ResultName::None,
    &[example(
        "print b = ipv4_is_in_any_range('10.0.0.9', '192.168.0.0/16', '10.0.0.0/8')",
        "b:bool\ntrue",
    )],
    |args| {
        let ip = args.strings(0)?;
        let ranges = Ranges::open(args)?;
        Ok(args.collect_bools(|row| {
            let ip = V4::parse(ip.get(row))?;
            Some(ranges.any(row, |range| {
                V4::parse(range).is_some_and(|range| contains(range, ip))
            }))
        }))
    },
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
                contains(
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
    "The number of bits of an address's prefix, 32 where it has none.",
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

/// Whether the network of `ip` lies wholly in `range`.
fn contains(range: V4, ip: V4) -> bool {
    range.prefix <= ip.prefix
        && V4 {
            prefix: range.prefix,
            ..ip
        }
        .network()
            == range.network()
}

/// The comparison of the first two arguments within the shortest prefix of all.
fn pair(
    args: &KernelArgs<'_>,
) -> Result<impl Fn(usize) -> Option<std::cmp::Ordering>, KernelError> {
    let (a, b) = (args.strings(0)?, args.strings(1)?);
    let prefix = if args.len() > 2 {
        Some(args.longs(2)?)
    } else {
        None
    };
    Ok(move |row| {
        let (a, b) = (V4::parse(a.get(row))?, V4::parse(b.get(row))?);
        let limit = match &prefix {
            Some(prefix) => prefix.get(row)?,
            None => 32,
        };
        let shortest = a.limited(limit)?.prefix.min(b.prefix);
        let cut = |ip: V4| {
            V4 {
                prefix: shortest,
                ..ip
            }
            .network()
        };
        Some(cut(a).cmp(&cut(b)))
    })
}
