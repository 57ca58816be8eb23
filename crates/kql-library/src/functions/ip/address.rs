//! Parsing and formatting of IP addresses with an optional prefix length.

use std::net::Ipv6Addr;

/// An address and its prefix length.
pub(super) trait Address: Copy {
    /// The address bits as one integer.
    type Bits: Ord;
    /// The number of address bits.
    const BITS: u32;

    /// Parses an address with an optional prefix.
    fn parse(text: &str) -> Option<Self>;

    /// The prefix length.
    fn prefix(self) -> u32;

    /// The first `prefix` bits of the address, the others zero.
    fn cut(self, prefix: u32) -> Self::Bits;

    /// The same address with this prefix length.
    fn with_prefix(self, prefix: u32) -> Self;

    /// The network address: the prefix bits, the others zero.
    fn network(self) -> Self::Bits {
        self.cut(self.prefix())
    }

    /// The address limited to at most `prefix` bits; `None` if `prefix` is not a valid length.
    fn limited(self, prefix: i64) -> Option<Self> {
        let prefix = u32::try_from(prefix).ok();
        let prefix = prefix.filter(|prefix| *prefix <= Self::BITS)?;
        Some(self.with_prefix(self.prefix().min(prefix)))
    }
}

/// An IPv4 address and its prefix length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct V4 {
    pub(super) bits: u32,
    pub(super) prefix: u32,
}

impl Address for V4 {
    type Bits = u32;
    const BITS: u32 = 32;

    /// Parses `1.2.3.4` or `1.2.3.4/24`, with optional surrounding whitespace, exactly four parts and no leading zeros.
    fn parse(text: &str) -> Option<V4> {
        let (address, prefix) = split(text.trim(), 32)?;
        Some(V4 {
            bits: v4_bits(address)?,
            prefix,
        })
    }

    fn prefix(self) -> u32 {
        self.prefix
    }

    fn cut(self, prefix: u32) -> u32 {
        self.bits & mask4(prefix)
    }

    fn with_prefix(self, prefix: u32) -> V4 {
        V4 { prefix, ..self }
    }
}

/// The mask of a prefix length.
pub(super) fn mask4(prefix: u32) -> u32 {
    u32::MAX
        .checked_shl(32u32.saturating_sub(prefix))
        .unwrap_or(0)
}

/// An IPv6 address and its prefix length; IPv4 addresses are mapped into IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct V6 {
    pub(super) bits: u128,
    pub(super) prefix: u32,
}

impl Address for V6 {
    type Bits = u128;
    const BITS: u32 = 128;

    /// Parses an IPv6 address with an optional zone, which is dropped, or an IPv4 address; both with an optional prefix.
    fn parse(text: &str) -> Option<V6> {
        let text = text.trim();
        if !text.contains(':') {
            let v4 = V4::parse(text)?;
            let bits = 0xffff_0000_0000u128 | u128::from(v4.bits);
            return Some(V6 {
                bits,
                prefix: v4.prefix + 96,
            });
        }
        let (address, prefix) = split(text, 128)?;
        let address = address
            .split_once('%')
            .map_or(address, |(address, _)| address);
        let bits = address.parse::<Ipv6Addr>().ok()?.to_bits();
        Some(V6 { bits, prefix })
    }

    fn prefix(self) -> u32 {
        self.prefix
    }

    fn cut(self, prefix: u32) -> u128 {
        let shift = 128u32.saturating_sub(prefix);
        self.bits & u128::MAX.checked_shl(shift).unwrap_or(0)
    }

    fn with_prefix(self, prefix: u32) -> V6 {
        V6 { prefix, ..self }
    }
}

impl V6 {
    /// Parses an address as [`V6::parse`] does, but the prefix of an IPv4-compatible address (`::a.b.c.d/24`) is one of IPv4.
    pub(super) fn parse_compatible(text: &str) -> Option<V6> {
        let v6 = V6::parse(text)?;
        let is_compatible = text.contains("::") && text.contains('.') && v6.bits >> 32 == 0;
        if !is_compatible || !text.contains('/') {
            return Some(v6);
        }
        let prefix = (v6.prefix <= 32).then_some(v6.prefix + 96)?;
        Some(v6.with_prefix(prefix))
    }

    /// Eight groups of four digits.
    pub(super) fn text(bits: u128) -> String {
        let groups = Ipv6Addr::from_bits(bits).segments();
        groups.map(|group| format!("{group:04x}")).join(":")
    }
}

/// The address before a `/` and the prefix length after it.
fn split(text: &str, most: u32) -> Option<(&str, u32)> {
    let Some((address, prefix)) = text.split_once('/') else {
        return Some((text, most));
    };
    let digits = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_digit());
    let prefix = prefix
        .parse()
        .ok()
        .filter(|prefix| digits && *prefix <= most)?;
    Some((address, prefix))
}

fn v4_bits(text: &str) -> Option<u32> {
    // The standard parser rejects leading zeros, missing parts and numbers above 255, as KQL does.
    text.parse::<std::net::Ipv4Addr>().ok().map(u32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_parsing_is_strict() {
        let check = |text: &str, expected: Option<(u32, u32)>| {
            assert_eq!(
                V4::parse(text).map(|v4| (v4.network(), v4.prefix)),
                expected,
                "{text}"
            );
        };
        check("10.0.0.1", Some((0x0a00_0001, 32)));
        check(" 10.1.2.3/8 ", Some((0x0a00_0000, 8)));
        check("10.0.0.1/0", Some((0, 0)));
        check("10.0.0.01", None);
        check("10.0.0", None);
        check("10.0.0.256", None);
        check("10.0.0.1/33", None);
        check("", None);
    }

    #[test]
    fn ipv6_addresses_include_mapped_ipv4() {
        let check = |text: &str, expected: Option<&str>| {
            let text_of = V6::parse(text).map(|v6| V6::text(v6.network()));
            assert_eq!(text_of.as_deref(), expected, "{text}");
        };
        check("::1", Some("0000:0000:0000:0000:0000:0000:0000:0001"));
        check(
            "FE80::1%eth0",
            Some("fe80:0000:0000:0000:0000:0000:0000:0001"),
        );
        check(
            "192.168.1.9/24",
            Some("0000:0000:0000:0000:0000:ffff:c0a8:0100"),
        );
        check(
            "2001:db8::1/32",
            Some("2001:0db8:0000:0000:0000:0000:0000:0000"),
        );
        check("1::2::3", None);
    }
}
