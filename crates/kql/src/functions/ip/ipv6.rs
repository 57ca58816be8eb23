//! IPv6 addresses as text of fixed form, compared and matched with ranges.

use super::Ranges;
use super::address::V6;
use crate::functions::prelude::*;

pub(crate) static PARSE: ScalarFunction = function(
    &["parse_ipv6(ip: string) -> string"],
    "An IPv6 or IPv4 address as eight groups of four digits, the bits beyond its prefix zero; empty for other text.",
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
    "An IPv6 or IPv4 address as eight groups of four digits with so many leading bits kept.",
    ResultName::None,
    &[example(
        "print s = parse_ipv6_mask('fe80::1:2', 112)",
        "s:string\nfe80:0000:0000:0000:0000:0000:0001:0000",
    )],
    |args| {
        let (text, prefix) = (args.strings(0)?, args.longs(1)?);
        Ok(args.collect_strings(|row| {
            let ip = V6::parse(text.get(row))?.limited(prefix.get(row)?)?;
            Some(Cow::Owned(V6::text(ip.network())))
        }))
    },
);

pub(crate) static COMPARE: ScalarFunction = function(
    &["ipv6_compare(ip1: string, ip2: string, [prefix: long]) -> long"],
    "-1, 0 or 1 by the order of two addresses within their shortest prefix; null for other text.",
    ResultName::None,
    &[example(
        "print n = ipv6_compare('fe80::1/64', 'fe80::2')",
        "n:long\n0",
    )],
    |args| {
        let compare = pair(args)?;
        Ok(args.collect_longs(|row| compare(row).map(|order| order as i64)))
    },
);

pub(crate) static IS_MATCH: ScalarFunction = function(
    &["ipv6_is_match(ip1: string, ip2: string, [prefix: long]) -> bool"],
    "Whether two addresses are equal within their shortest prefix.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_match('fe80::1', 'fe80::2', 64)",
        "b:bool\ntrue",
    )],
    |args| {
        let compare = pair(args)?;
        Ok(args.collect_bools(|row| compare(row).map(std::cmp::Ordering::is_eq)))
    },
);

pub(crate) static IS_IN_RANGE: ScalarFunction = function(
    &["ipv6_is_in_range(ip: string, ip_range: string) -> bool"],
    "Whether an address lies in a range; null for other text.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_in_range('fe80::9', 'fe80::/10')",
        "b:bool\ntrue",
    )],
    |args| {
        let (ip, range) = (args.strings(0)?, args.strings(1)?);
        Ok(args.collect_bools(|row| {
            let (ip, range) = (V6::parse(ip.get(row))?, V6::parse(range.get(row))?);
            Some(contains(range, ip))
        }))
    },
);

pub(crate) static IS_IN_ANY_RANGE: ScalarFunction = function(
    &["ipv6_is_in_any_range(ip: string, ranges: any...) -> bool"],
    "Whether an address lies in one of several ranges; null where the address is none.",
    ResultName::None,
    &[example(
        "print b = ipv6_is_in_any_range('10.0.0.9', 'fe80::/10', '10.0.0.0/8')",
        "b:bool\ntrue",
    )],
    |args| {
        let ip = args.strings(0)?;
        let ranges = Ranges::open(args)?;
        Ok(args.collect_bools(|row| {
            let ip = V6::parse(ip.get(row))?;
            Some(ranges.any(row, |range| {
                V6::parse(range).is_some_and(|range| contains(range, ip))
            }))
        }))
    },
);

/// Whether the network of `ip` lies wholly in `range`.
fn contains(range: V6, ip: V6) -> bool {
    range.prefix <= ip.prefix
        && V6 {
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
        let (a, b) = (V6::parse(a.get(row))?, V6::parse(b.get(row))?);
        let limit = match &prefix {
            Some(prefix) => prefix.get(row)?,
            None => 128,
        };
        let shortest = a.limited(limit)?.prefix.min(b.prefix);
        let cut = |ip: V6| {
            V6 {
                prefix: shortest,
                ..ip
            }
            .network()
        };
        Some(cut(a).cmp(&cut(b)))
    })
}
