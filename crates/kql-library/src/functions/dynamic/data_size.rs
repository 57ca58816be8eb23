//! `estimate_data_size`: the estimated size in bytes of the values of a row (`docs/semantics.md §12`).

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["estimate_data_size(source: any...) -> long"],
    "The estimated size of a row's values in bytes: strings by their UTF-8 bytes, dynamics by their JSON, others by \
    their width.",
    ResultName::None,
    &[
        example(
            "datatable(n:long, s:string)[1, '1234567890'] | extend size = estimate_data_size(*)",
            "n:long, s:string, size:long\n1 | 1234567890 | 18",
        ),
        example(
            "print size = estimate_data_size(true, int(1), guid(null), dynamic([1,2]))",
            "size:long\n26",
        ),
    ],
    |args| {
        let mut fixed = 0;
        let mut texts = Vec::new();
        for index in 0..args.len() {
            match args.kind(index) {
                ScalarType::String | ScalarType::Dynamic => texts.push(args.texts(index)?),
                ScalarType::Bool => fixed += 1,
                ScalarType::Int => fixed += 4,
                ScalarType::Long
                | ScalarType::Real
                | ScalarType::DateTime
                | ScalarType::TimeSpan => fixed += 8,
                ScalarType::Guid | ScalarType::Decimal => fixed += 16,
            }
        }
        Ok(args.collect_longs(|row| {
            let text: usize = texts.iter().map(|text| text.get(row).len()).sum();
            Some(fixed + i64::try_from(text).unwrap_or(i64::MAX))
        }))
    },
);
