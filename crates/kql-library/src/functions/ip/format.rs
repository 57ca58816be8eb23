//! `format_ipv4` and `format_ipv4_mask`.

use std::net::Ipv4Addr;

use super::address::{Address, V4};
use crate::functions::prelude::*;

pub(crate) static FORMAT_IPV4: ScalarFunction = function(
    &[
        "format_ipv4(ip: string, [prefix: long]) -> string",
        "format_ipv4(ip: long, [prefix: long]) -> string",
    ],
    "An IPv4 address, given as text or number, masked to a prefix length; empty if it is not valid.",
    ResultName::None,
    &[
        example(
            "print s = format_ipv4('10.0.0.7', 24)",
            "s:string\n10.0.0.0",
        ),
        example("print s = format_ipv4(3232235777)", "s:string\n192.168.1.1"),
    ],
    |args| format(args, |ip| Ipv4Addr::from(ip.network()).to_string()),
);

pub(crate) static FORMAT_IPV4_MASK: ScalarFunction = function(
    &[
        "format_ipv4_mask(ip: string, [prefix: long]) -> string",
        "format_ipv4_mask(ip: long, [prefix: long]) -> string",
    ],
    "An IPv4 network in CIDR notation; empty if it is not valid.",
    ResultName::None,
    &[example(
        "print s = format_ipv4_mask('10.0.0.7', 24)",
        "s:string\n10.0.0.0/24",
    )],
    |args| {
        format(args, |ip| {
            format!("{}/{}", Ipv4Addr::from(ip.network()), ip.prefix)
        })
    },
);

fn format(args: &KernelArgs<'_>, text: impl Fn(V4) -> String) -> KernelResult {
    let numeric = args.kind(0) != ScalarType::String;
    let numbers = if numeric { Some(args.longs(0)?) } else { None };
    let texts = if numeric {
        None
    } else {
        Some(args.strings(0)?)
    };
    let prefix = if args.len() > 1 {
        Some(args.longs(1)?)
    } else {
        None
    };
    let address = |row| match (&numbers, &texts) {
        (Some(numbers), _) => {
            let bits = u32::try_from(numbers.get(row)?).ok()?;
            Some(V4 { bits, prefix: 32 })
        }
        (_, Some(texts)) => V4::parse(texts.get(row)),
        _ => None,
    };
    Ok(args.collect_strings(|row| {
        let limit = match &prefix {
            Some(prefix) => prefix.get(row)?,
            None => 32,
        };
        Some(Cow::Owned(text(address(row)?.limited(limit)?)))
    }))
}
