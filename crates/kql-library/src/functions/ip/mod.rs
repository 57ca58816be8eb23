//! IP addresses (`semantics.md §11`, IP functions).

mod address;
mod compared;
mod format;
mod has_ipv4;
mod ipv4;
mod ipv6;
mod range_to_cidr;

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

/// The range arguments from the second on: texts, or arrays of texts.
struct Ranges(Vec<Column>);

enum Column {
    Text(crate::kernel::Rows<arrow::array::StringViewArray>),
    List(crate::kernel::Rows<arrow::array::BinaryViewArray>),
}

impl Ranges {
    fn open(args: &KernelArgs<'_>) -> Result<Ranges, KernelError> {
        let columns = (1..args.len()).map(|index| match args.kind(index) {
            ScalarType::Dynamic => args.dynamics(index).map(Column::List),
            _ => args.texts(index).map(Column::Text),
        });
        columns.collect::<Result<_, _>>().map(Ranges)
    }

    /// Whether `test` holds for any range in `row`.
    fn any(&self, row: usize, test: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|column| match column {
            Column::Text(text) => test(text.get(row)),
            Column::List(list) => list.get(row).is_some_and(|bytes| {
                let mut items = hindsight_kql_types::DynamicRef::new(bytes).iter_array();
                items.any(|item| item.as_str().is_some_and(&test))
            }),
        })
    }
}
