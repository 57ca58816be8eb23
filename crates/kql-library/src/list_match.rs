//! `in`, `has_any`, `has_all` over a list that is a dynamic array (`docs/semantics.md §6.3`).

use std::collections::HashSet;

use arrow::array::ArrayRef;
use hindsight_kql_types::{DynamicRef, ScalarType};

use crate::call::InnerKernel;
use crate::kernel::{KernelArgs, KernelError};
use crate::text_match::{Matcher, Test, fold_text};

/// `in`: whether each value is in the list.
pub static IN: InnerKernel = InnerKernel::new("$in", is_in);

/// `in~`: case-insensitive `in` over strings.
pub static IN_FOLDED: InnerKernel = InnerKernel::new("$in_folded", is_in_folded).reading_text();

/// `has_any`: whether any item of the list is a term of the text.
pub static HAS_ANY: InnerKernel = InnerKernel::new("$has_any", has_any).reading_text();

/// `has_all`: whether every item of the list is a term of the text.
pub static HAS_ALL: InnerKernel = InnerKernel::new("$has_all", has_all).reading_text();

/// The items of a list: the elements of an array, or a single other value.
fn items(list: Option<&[u8]>) -> Vec<DynamicRef<'_>> {
    let Some(list) = list.map(DynamicRef::new) else {
        return Vec::new();
    };
    match list.type_name() {
        "array" => list.iter_array().collect(),
        "null" => Vec::new(),
        _ => vec![list],
    }
}

fn text(item: DynamicRef<'_>) -> String {
    let mut out = String::new();
    item.to_text(&mut out);
    out
}

/// Whether each value is in the list; a null value never is.
fn is_in(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let lists = args.dynamics(1)?;
    let rows = 0..args.rows();
    // A constant list becomes a hash set; computed lists are rare and searched row by row.
    let shared = lists.is_constant().then(|| items(lists.get(0)));
    let list = |row| match &shared {
        Some(list) => list.clone(),
        None => items(lists.get(row)),
    };
    let mut out = Vec::with_capacity(args.rows());
    match args.kind(0) {
        ScalarType::String | ScalarType::Dynamic => {
            let values = args.texts(0)?;
            let present = |row| {
                args.kind(0) == ScalarType::String
                    || args.dynamics(0).is_ok_and(|d| d.get(row).is_some())
            };
            let set = shared.as_ref().map(|l| texts(l));
            for row in rows {
                let value = values.get(row);
                out.push(
                    present(row)
                        && match &set {
                            Some(set) => set.contains(value),
                            None => texts(&list(row)).contains(value),
                        },
                );
            }
        }
        ScalarType::Real => {
            let values = args.reals(0)?;
            for row in rows {
                let value = values.get(row);
                out.push(value.is_some_and(|v| list(row).iter().any(|i| i.to_real() == Some(v))));
            }
        }
        kind @ (ScalarType::Bool
        | ScalarType::Int
        | ScalarType::Long
        | ScalarType::DateTime
        | ScalarType::TimeSpan) => {
            let values = args.longs(0)?;
            let set = shared.as_ref().map(|l| longs(l, kind));
            for row in rows {
                let value = values.get(row);
                out.push(value.is_some_and(|v| match &set {
                    Some(set) => set.contains(&v),
                    None => longs(&list(row), kind).contains(&v),
                }));
            }
        }
        ScalarType::Guid => {
            let values = args.guids(0)?;
            for row in rows {
                let value = values.get(row);
                out.push(value.is_some_and(|v| {
                    list(row)
                        .iter()
                        .any(|i| i.to_guid().is_some_and(|g| g.as_slice() == v))
                }));
            }
        }
        ScalarType::Decimal => {
            return Err(KernelError::Failed(
                "'in' and '!in' over decimals are not supported".to_owned(),
            ));
        }
    }
    Ok(args.collect_bools(|row| out.get(row).copied()))
}

fn texts(list: &[DynamicRef<'_>]) -> HashSet<String> {
    list.iter()
        .filter(|i| !i.is_null())
        .map(|i| text(*i))
        .collect()
}

fn longs(list: &[DynamicRef<'_>], kind: ScalarType) -> HashSet<i64> {
    list.iter()
        .filter_map(|item| match kind {
            ScalarType::Bool => item.to_bool().map(i64::from),
            ScalarType::DateTime => item.to_datetime(),
            ScalarType::TimeSpan => item.to_timespan(),
            // 2.5 equals no integer, although it converts to one.
            _ => match item.as_f64() {
                Some(real) => (real.fract() == 0.0 && real.abs() < 9.2e18).then_some(real as i64),
                None => item.to_long(),
            },
        })
        .collect()
}

/// `in~`: case-insensitive `in` over strings.
fn is_in_folded(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (values, lists) = (args.texts(0)?, args.dynamics(1)?);
    let folded = |row| -> HashSet<String> {
        let list = items(lists.get(row));
        let texts = list.iter().filter(|i| !i.is_null()).map(|i| text(*i));
        texts.map(|t| fold_text(&t).into_owned()).collect()
    };
    let shared = lists.is_constant().then(|| folded(0));
    Ok(args.collect_truths(|row| {
        let value = fold_text(values.get(row));
        match &shared {
            Some(set) => set.contains(value.as_ref()),
            None => folded(row).contains(value.as_ref()),
        }
    }))
}

/// `has_any`: any item matches as `has` does; a null item matches any text.
fn has_any(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    matchers(args, |all, value| all.iter().any(|m| m.matches(value)))
}

/// `has_all`: every item matches as `has` does.
fn has_all(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    matchers(args, |all, value| all.iter().all(|m| m.matches(value)))
}

fn matchers(
    args: &KernelArgs<'_>,
    holds: impl Fn(&[Matcher], &str) -> bool,
) -> Result<ArrayRef, KernelError> {
    let (values, lists) = (args.texts(0)?, args.dynamics(1)?);
    let build = |row| -> Vec<Matcher> {
        let list = items(lists.get(row));
        list.iter()
            .map(|i| Matcher::new(Test::Has, false, &text(*i)))
            .collect()
    };
    let shared = lists.is_constant().then(|| build(0));
    Ok(args.collect_truths(|row| {
        let value = values.get(row);
        match &shared {
            Some(all) => holds(all, value),
            None => holds(&build(row), value),
        }
    }))
}
