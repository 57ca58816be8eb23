//! The kernels for comparison and range matching that IPv4 and IPv6 share.

use std::cmp::Ordering;

use super::address::Address;
use super::ranges::Ranges;
use crate::functions::prelude::*;

/// Compares two addresses: -1, 0 or 1.
pub(super) fn compare<A: Address>(args: &KernelArgs<'_>) -> KernelResult {
    let order = order::<A>(args)?;
    Ok(args.collect_longs(|row| order(row).map(|order| order as i64)))
}

/// Whether two addresses are equal.
pub(super) fn is_match<A: Address>(args: &KernelArgs<'_>) -> KernelResult {
    let order = order::<A>(args)?;
    Ok(args.collect_bools(|row| order(row).map(Ordering::is_eq)))
}

/// Whether an address lies in a range.
pub(super) fn is_in_range<A: Address>(args: &KernelArgs<'_>) -> KernelResult {
    let (ip, range) = (args.strings(0)?, args.strings(1)?);
    Ok(args.collect_bools(|row| {
        let (ip, range) = (A::parse(ip.get(row))?, A::parse(range.get(row))?);
        Some(contains(range, ip))
    }))
}

/// Whether an address lies in any of several ranges.
pub(super) fn is_in_any_range<A: Address>(args: &KernelArgs<'_>) -> KernelResult {
    let ip = args.strings(0)?;
    let ranges = Ranges::open(args)?;
    Ok(args.collect_bools(|row| {
        let ip = A::parse(ip.get(row))?;
        Some(ranges.any(row, |range| {
            A::parse(range).is_some_and(|range| contains(range, ip))
        }))
    }))
}

/// Whether the network of `ip` is contained in `range`.
pub(super) fn contains<A: Address>(range: A, ip: A) -> bool {
    range.prefix() <= ip.prefix() && ip.cut(range.prefix()) == range.cut(range.prefix())
}

/// The order of the first two arguments within their shortest prefix length.
fn order<A: Address>(
    args: &KernelArgs<'_>,
) -> Result<impl Fn(usize) -> Option<Ordering>, KernelError> {
    let (a, b) = (args.strings(0)?, args.strings(1)?);
    let prefix = if args.len() > 2 {
        Some(args.longs(2)?)
    } else {
        None
    };
    Ok(move |row| {
        let (a, b) = (A::parse(a.get(row))?, A::parse(b.get(row))?);
        let limit = match &prefix {
            Some(prefix) => prefix.get(row)?,
            None => i64::from(A::BITS),
        };
        let shortest = a.limited(limit)?.prefix().min(b.prefix());
        Some(a.cut(shortest).cmp(&b.cut(shortest)))
    })
}
