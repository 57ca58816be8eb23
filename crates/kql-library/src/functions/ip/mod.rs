//! IP addresses (`docs/semantics.md §11`, IP functions).

mod address;
mod compared;
mod format;
mod has_ipv4;
mod ipv4;
mod ipv6;
mod range_to_cidr;
mod ranges;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &format::FORMAT_IPV4,
    &format::FORMAT_IPV4_MASK,
    &has_ipv4::HAS_ANY_IPV4,
    &has_ipv4::HAS_ANY_IPV4_PREFIX,
    &has_ipv4::HAS_IPV4,
    &has_ipv4::HAS_IPV4_PREFIX,
    &ipv4::COMPARE,
    &ipv4::IS_IN_ANY_RANGE,
    &ipv4::IS_IN_RANGE,
    &ipv4::IS_MATCH,
    &ipv4::IS_PRIVATE,
    &ipv4::NETMASK_SUFFIX,
    &ipv4::PARSE,
    &ipv4::PARSE_MASK,
    &ipv6::COMPARE,
    &ipv6::IS_IN_ANY_RANGE,
    &ipv6::IS_IN_RANGE,
    &ipv6::IS_MATCH,
    &ipv6::PARSE,
    &ipv6::PARSE_MASK,
    &range_to_cidr::DEF,
];
