//! What a query's filters say about time, and whether they look single records up.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::schema::TIMESTAMP;
use crate::segment::{LOOKUP_COLUMNS, Lookup};

/// The ticks that matching rows can have, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBounds {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl TimeBounds {
    /// The bounds that all of `filters` together set. Filters of other forms do not bound it.
    pub(crate) fn of(filters: &[Expr]) -> TimeBounds {
        let mut bounds = TimeBounds {
            from: i64::MIN,
            to: i64::MAX,
        };
        filters.iter().for_each(|filter| bounds.narrow(filter));
        bounds
    }

    pub(crate) fn overlaps(self, min: i64, max: i64) -> bool {
        min <= self.to && max >= self.from
    }

    fn narrow(&mut self, filter: &Expr) {
        match filter {
            Expr::BinaryExpr(BinaryExpr {
                left,
                op: Operator::And,
                right,
            }) => {
                self.narrow(left);
                self.narrow(right);
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                if let (true, Some(ticks)) = (is_time(left), literal(right)) {
                    self.compare(*op, ticks);
                } else if let (Some(ticks), true, Some(op)) =
                    (literal(left), is_time(right), op.swap())
                {
                    self.compare(op, ticks);
                }
            }
            Expr::Between(between) if !between.negated && is_time(&between.expr) => {
                if let Some(low) = literal(&between.low) {
                    self.compare(Operator::GtEq, low);
                }
                if let Some(high) = literal(&between.high) {
                    self.compare(Operator::LtEq, high);
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, op: Operator, ticks: i64) {
        match op {
            Operator::Gt => self.from = self.from.max(ticks.saturating_add(1)),
            Operator::GtEq => self.from = self.from.max(ticks),
            Operator::Lt => self.to = self.to.min(ticks.saturating_sub(1)),
            Operator::LtEq => self.to = self.to.min(ticks),
            Operator::Eq => {
                self.from = self.from.max(ticks);
                self.to = self.to.min(ticks);
            }
            _ => {}
        }
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
            assert_eq!(
                TimeBounds::of(filters),
                TimeBounds { from, to },
                "{filters:?}"
            );
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
