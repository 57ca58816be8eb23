//! What a query's filters say about time, and whether they look single records up.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::schema::TIMESTAMP;
use crate::segment::{LOOKUP_COLUMNS, Lookup};
use crate::time_range::TimeRange;

/// The times that all of `filters` together permit. Filters of other forms permit all.
pub(crate) fn time_bounds(filters: &[Expr]) -> TimeRange {
    filters.iter().fold(TimeRange::ALL, narrowed)
}

fn narrowed(range: TimeRange, filter: &Expr) -> TimeRange {
    match filter {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::And,
            right,
        }) => narrowed(narrowed(range, left), right),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            if let (true, Some(ticks)) = (is_time(left), literal(right)) {
                range.compared(*op, ticks)
            } else if let (Some(ticks), true, Some(op)) = (literal(left), is_time(right), op.swap())
            {
                range.compared(op, ticks)
            } else {
                range
            }
        }
        Expr::Between(between) if !between.negated && is_time(&between.expr) => {
            let bound = |range: TimeRange, op, bound| {
                literal(bound).map_or(range, |ticks| range.compared(op, ticks))
            };
            let range = bound(range, Operator::GtEq, &between.low);
            bound(range, Operator::LtEq, &between.high)
        }
        _ => range,
    }
}

/// The values that the filters ask for of columns that have bloom filters. Rows that pass have one of the values of each.
pub(crate) fn lookups(filters: &[Expr]) -> Vec<Lookup> {
    let mut found = Vec::new();
    filters
        .iter()
        .for_each(|filter| add_lookups(filter, &mut found));
    found
}

fn add_lookups(filter: &Expr, found: &mut Vec<Lookup>) {
    let lookup = |column: &Expr, values: &[&Expr]| {
        let Expr::Column(name) = column else {
            return None;
        };
        let text = |value: &&Expr| match value {
            Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        let values: Option<Vec<String>> = values.iter().map(text).collect();
        Some(Lookup {
            column: name.name.clone(),
            values: values.filter(|_| is_lookup_column(column))?,
        })
    };
    match filter {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::And,
            right,
        }) => {
            add_lookups(left, found);
            add_lookups(right, found);
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => found.extend(lookup(left, &[right]).or_else(|| lookup(right, &[left]))),
        Expr::InList(list) if !list.negated => {
            let values: Vec<&Expr> = list.list.iter().collect();
            found.extend(lookup(&list.expr, &values));
        }
        _ => {}
    }
}

fn is_lookup_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if LOOKUP_COLUMNS.contains(&column.name.as_str()))
}

fn is_time(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name == TIMESTAMP)
}

fn literal(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::Int64(ticks), _) => *ticks,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, ident, lit};

    #[test]
    fn filters_bound_time() {
        let time = || col(TIMESTAMP);
        let check = |filters: &[Expr], from: i64, to: i64| {
            assert_eq!(time_bounds(filters), TimeRange { from, to }, "{filters:?}");
        };
        check(&[], i64::MIN, i64::MAX);
        check(&[time().gt(lit(5i64))], 6, i64::MAX);
        check(&[lit(5i64).gt(time())], i64::MIN, 4);
        check(
            &[time().gt_eq(lit(5i64)).and(time().lt_eq(lit(9i64)))],
            5,
            9,
        );
        check(
            &[time().between(lit(5i64), lit(9i64)), time().eq(lit(7i64))],
            7,
            7,
        );
        check(
            &[time().gt(lit(5i64)).or(time().lt(lit(2i64)))],
            i64::MIN,
            i64::MAX,
        );
        check(&[col("other").gt(lit(5i64))], i64::MIN, i64::MAX);
        check(
            &[time().not_between(lit(5i64), lit(9i64))],
            i64::MIN,
            i64::MAX,
        );
    }

    #[test]
    fn the_values_of_lookups_are_found() {
        let check = |filter: Expr, expected: &[(&str, &[&str])]| {
            let found = lookups(std::slice::from_ref(&filter));
            let found: Vec<_> = found.iter().map(|l| (&*l.column, &*l.values)).collect();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{filter:?}");
        };
        check(col("id").eq(lit("a")), &[("id", &["a"])]);
        check(lit("a").eq(col("id")), &[("id", &["a"])]);
        check(
            col("name").eq(lit("a")).and(ident("itemId").eq(lit("b"))),
            &[("itemId", &["b"])],
        );
        let list = || vec![lit("a"), lit("b")];
        check(col("id").in_list(list(), false), &[("id", &["a", "b"])]);
        check(col("id").in_list(list(), true), &[]);
        check(col("id").eq(col("name")), &[]);
        check(col("id").in_list(vec![lit("a"), col("name")], false), &[]);
        check(col("id").eq(lit("a")).or(col("name").eq(lit("a"))), &[]);
        check(!col("id").eq(lit("a")), &[]);
    }
}
