//! `ipv4_range_to_cidr_list`.

use std::net::Ipv4Addr;

use super::address::{Address, V4};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["ipv4_range_to_cidr_list(start_ip: string, end_ip: string) -> dynamic"],
    "The smallest list of networks that covers a range of addresses, both ends included.",
    ResultName::None,
    &[example(
        "print d = ipv4_range_to_cidr_list('10.0.0.1', '10.0.0.4')",
        "d:dynamic\n[\"10.0.0.1/32\",\"10.0.0.2/31\",\"10.0.0.4/32\"]",
    )],
    |args| {
        let (start, end) = (args.strings(0)?, args.strings(1)?);
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            let (Some(start), Some(end)) = (V4::parse(start.get(row)), V4::parse(end.get(row)))
            else {
                return false;
            };
            if start.bits > end.bits {
                return false;
            }
            encoder.begin_array();
            for (bits, prefix) in networks(start.bits, end.bits) {
                encoder.string(&format!("{}/{prefix}", Ipv4Addr::from(bits)));
            }
            encoder.end();
            encoder.finish_into(out);
            true
        }))
    },
);

fn networks(start: u32, end: u32) -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    let mut at = u64::from(start);
    let end = u64::from(end) + 1;
    while at < end {
        // The largest block that starts here and does not extend past the end.
        let aligned = if at == 0 {
            32
        } else {
            at.trailing_zeros().min(32)
        };
        let fits = (end - at).ilog2();
        let size = aligned.min(fits);
        all.push((at as u32, 32 - size));
        at += 1 << size;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::networks;

    #[test]
    fn ranges_split_into_networks() {
        assert_eq!(networks(0, u32::MAX), [(0, 0)]);
        assert_eq!(networks(1, 4), [(1, 32), (2, 31), (4, 32)]);
        assert_eq!(networks(8, 8), [(8, 32)]);
        assert_eq!(networks(u32::MAX, u32::MAX), [(u32::MAX, 32)]);
    }
}
