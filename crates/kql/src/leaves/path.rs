//! Expressions over `bag.key` that need only its text or its number.

use std::sync::Arc;

use arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};
use hindsight_kql_types::{DynamicRef, ScalarType};

use crate::bind::MEMBER;
use crate::call::{InnerKernel, KernelId, KernelView, kernel_call, kernel_view};
use crate::convert::CONVERT;
use crate::functions::{TO_REAL, TO_STRING};
use crate::kernel::{KernelArgs, KernelError};
use crate::list_match::IN;

/// The field that holds a key of `bag` as text or number, if there is one.
pub(super) type Find<'f> = &'f dyn Fn(&Expr, &str, ScalarType) -> Option<Expr>;

/// `bag['key']` with a constant key.
pub(super) fn member(expr: &Expr) -> Option<(&Expr, &str)> {
    let call = kernel_view(expr)?;
    match call.args {
        [bag, Expr::Literal(ScalarValue::Utf8View(Some(key)), _)]
            if call.id == KernelId::Inner(&MEMBER) =>
        {
            Some((bag, key))
        }
        _ => None,
    }
}

/// The equivalent expression over a column, or over the bag without an intermediate dynamic value for the key.
pub(super) fn replacement(expr: &Expr, find: Find<'_>) -> Option<Expr> {
    let call = kernel_view(expr)?;
    let (bag, key) = member(call.args.first()?)?;
    let converts =
        |function| call.id == KernelId::Inner(&CONVERT) || call.id == KernelId::Function(function);
    match call.result {
        ScalarType::String if converts(&TO_STRING) => Some(text(bag, key, find)),
        ScalarType::Real if converts(&TO_REAL) => Some(
            find(bag, key, ScalarType::Real)
                .unwrap_or_else(|| direct(&MEMBER_REAL, bag, key, ScalarType::Real)),
        ),
        _ if call.id == KernelId::Inner(&IN) => membership(&call, bag, key, find),
        _ if call.id.reads_text() => {
            let text = text(bag, key, find);
            Some(call.with_first_argument(text, ScalarType::String))
        }
        _ => None,
    }
}

/// `tostring(bag.key)`
fn text(bag: &Expr, key: &str, find: Find<'_>) -> Expr {
    match find(bag, key, ScalarType::String) {
        Some(leaf) => kernel_call(
            &LEAF_TEXT,
            vec![leaf],
            vec![ScalarType::String],
            ScalarType::String,
        ),
        None => direct(&MEMBER_TEXT, bag, key, ScalarType::String),
    }
}

fn direct(kernel: &'static InnerKernel, bag: &Expr, key: &str, result: ScalarType) -> Expr {
    kernel_call(
        kernel,
        vec![bag.clone(), text_literal(key)],
        vec![ScalarType::Dynamic, ScalarType::String],
        result,
    )
}

/// `bag.key in ('a', 'b')`. A missing key is in no list, but its empty text may be, so a list with `''` reads the bag.
fn membership(call: &KernelView<'_>, bag: &Expr, key: &str, find: Find<'_>) -> Option<Expr> {
    let Some(Expr::Literal(ScalarValue::BinaryView(Some(list)), _)) = call.args.get(1) else {
        return None;
    };
    let list = DynamicRef::new(list);
    let items = match list.type_name() {
        "array" => list
            .iter_array()
            .map(|item| item.as_str())
            .collect::<Option<Vec<_>>>()?,
        _ => vec![list.as_str()?],
    };
    if items.is_empty() || items.contains(&"") {
        return None;
    }
    let items = items.into_iter().map(text_literal).collect();
    Some(Expr::InList(InList::new(
        Box::new(text(bag, key, find)),
        items,
        false,
    )))
}

fn text_literal(text: &str) -> Expr {
    lit(ScalarValue::Utf8View(Some(text.to_owned())))
}

/// A filter drops rows whose predicate is null, so `leaf = 'x'` needs no text for a missing key, and it supports pruning.
pub(super) fn in_filter(predicate: Expr) -> Expr {
    match predicate {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (left, right) = match op {
                Operator::And | Operator::Or => {
                    (Box::new(in_filter(*left)), Box::new(in_filter(*right)))
                }
                Operator::Eq if is_nonempty_text(&right) => (bare(left), right),
                Operator::Eq if is_nonempty_text(&left) => (left, bare(right)),
                _ => (left, right),
            };
            Expr::BinaryExpr(BinaryExpr { left, op, right })
        }
        Expr::InList(list) if !list.negated && list.list.iter().all(is_nonempty_text) => {
            Expr::InList(InList::new(bare(list.expr), list.list, false))
        }
        other => other,
    }
}

/// The column of `$leaf_text(column)`.
fn bare(expr: Box<Expr>) -> Box<Expr> {
    match kernel_view(&expr) {
        Some(call) if call.id == KernelId::Inner(&LEAF_TEXT) => match call.args {
            [leaf] => Box::new(leaf.clone()),
            _ => expr,
        },
        _ => expr,
    }
}

fn is_nonempty_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::Utf8View(Some(text)), _) if !text.is_empty())
}

/// The text of a promoted column, in which a missing text is null.
pub(crate) static LEAF_TEXT: InnerKernel = InnerKernel::new("$leaf_text", leaf_kernel);

/// `tostring(bag.key)` without an intermediate dynamic value.
pub(crate) static MEMBER_TEXT: InnerKernel = InnerKernel::new("$member_text", text_kernel);

/// `todouble(bag.key)` without an intermediate dynamic value.
pub(crate) static MEMBER_REAL: InnerKernel = InnerKernel::new("$member_real", real_kernel);

fn leaf_kernel(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let text = crate::kernel::to_text(&args.full(0)?, ScalarType::String)?;
    Ok(Arc::new(text))
}

fn text_kernel(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (bags, keys) = (args.dynamics(0)?, args.strings(1)?);
    let mut out = arrow::array::StringViewBuilder::with_capacity(args.rows());
    let mut scratch = String::new();
    for row in 0..args.rows() {
        let found = bags
            .get(row)
            .and_then(|bag| DynamicRef::new(bag).get_key(keys.get(row)));
        match found {
            None => out.append_value(""),
            Some(value) => match value.as_str() {
                Some(text) => out.append_value(text),
                None => {
                    scratch.clear();
                    value.to_text(&mut scratch);
                    out.append_value(&scratch);
                }
            },
        }
    }
    Ok(Arc::new(out.finish()))
}

fn real_kernel(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let (bags, keys) = (args.dynamics(0)?, args.strings(1)?);
    Ok(args.collect_reals(|row| {
        DynamicRef::new(bags.get(row)?)
            .get_key(keys.get(row))?
            .to_real()
    }))
}
