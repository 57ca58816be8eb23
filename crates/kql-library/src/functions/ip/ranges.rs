//! The range arguments of the `in_range` functions.

use crate::functions::prelude::*;

/// The range arguments from the second on: strings, or arrays of strings.
pub(super) struct Ranges(Vec<Column>);

enum Column {
    Text(crate::kernel::Rows<arrow::array::StringViewArray>),
    List(crate::kernel::Rows<arrow::array::BinaryViewArray>),
}

impl Ranges {
    pub(super) fn open(args: &KernelArgs<'_>) -> Result<Ranges, KernelError> {
        let columns = (1..args.len()).map(|index| match args.kind(index) {
            ScalarType::Dynamic => args.dynamics(index).map(Column::List),
            _ => args.texts(index).map(Column::Text),
        });
        columns.collect::<Result<_, _>>().map(Ranges)
    }

    /// Whether `test` holds for any range in `row`.
    pub(super) fn any(&self, row: usize, test: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|column| match column {
            Column::Text(text) => test(text.get(row)),
            Column::List(list) => list.get(row).is_some_and(|bytes| {
                let mut items = hindsight_kql_types::DynamicRef::new(bytes).iter_array();
                items.any(|item| item.as_str().is_some_and(&test))
            }),
        })
    }
}
