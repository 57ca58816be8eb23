//! The bound of a sort as a condition, by which the Parquet reader leaves out rows, pages and row groups.
//!
//! A sort has such a condition of its own, over all of its keys: to evaluate it, the reader would decode each of them for every row. This one reads the
//! first key alone, and rows that were counted before the scan began are in it.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, DynamicFilterPhysicalExpr, IsNullExpr, Literal, lit,
};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use parking_lot::Mutex;

/// A condition of all rows that can be among the first ones of a sort.
#[derive(Debug)]
pub(super) struct TopFilter {
    column: Arc<dyn PhysicalExpr>,
    index: usize,
    data_type: DataType,
    descending: bool,
    nulls_first: bool,
    filter: Arc<DynamicFilterPhysicalExpr>,
    /// The key of the bound that the condition has.
    least: Mutex<u64>,
}

impl TopFilter {
    /// The condition of a sort by a column of a table with this index. `None` for reals if nulls come first: no comparison has their order, in which reals
    /// that are no numbers are beside the nulls.
    pub(super) fn new(
        field: &Field,
        index: usize,
        descending: bool,
        nulls_first: bool,
    ) -> Option<TopFilter> {
        if nulls_first && *field.data_type() == DataType::Float64 {
            return None;
        }
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(field.name(), index));
        let filter = DynamicFilterPhysicalExpr::new(vec![Arc::clone(&column)], lit(true));
        Some(TopFilter {
            column,
            index,
            data_type: field.data_type().clone(),
            descending,
            nulls_first,
            filter: Arc::new(filter),
            least: Mutex::new(0),
        })
    }

    /// `predicate` with this condition in place of the one that the sort has pushed down.
    pub(super) fn with(&self, predicate: Option<Arc<dyn PhysicalExpr>>) -> Arc<dyn PhysicalExpr> {
        let conditions = predicate
            .as_ref()
            .map(split_conjunction)
            .unwrap_or_default();
        let others = conditions
            .into_iter()
            .filter(|c| !self.is_of_sort(c))
            .cloned();
        let own = Arc::clone(&self.filter) as Arc<dyn PhysicalExpr>;
        conjunction(others.chain([own]))
    }

    /// Whether a condition is that of a sort whose first key is the column, or computed from it alone.
    fn is_of_sort(&self, condition: &Arc<dyn PhysicalExpr>) -> bool {
        let dynamic = condition.downcast_ref::<DynamicFilterPhysicalExpr>();
        let keys = dynamic.map(|dynamic| dynamic.children());
        let first = keys.and_then(|keys| keys.first().copied());
        first.is_some_and(|key| {
            let columns = collect_columns(key).into_iter();
            columns.map(|column| column.index()).eq([self.index])
        })
    }

    /// Sets the bound to a key, unless it is a better one already.
    pub(super) fn update(&self, key: u64) -> Result<()> {
        let mut least = self.least.lock();
        if key > *least {
            self.filter.update(self.at_least(key))?;
            *least = key;
        }
        Ok(())
    }

    /// The condition of rows with this key or a better one.
    fn at_least(&self, key: u64) -> Arc<dyn PhysicalExpr> {
        let ascending = if self.descending { key } else { !key };
        let integer = (ascending ^ (1 << 63)).cast_signed();
        let value = match self.data_type {
            DataType::Float64 => ScalarValue::Float64(Some(self.real(ascending))),
            DataType::Int32 => ScalarValue::Int32(i32::try_from(integer).ok()),
            _ => ScalarValue::Int64(Some(integer)),
        };
        let op = if self.descending {
            Operator::GtEq
        } else {
            Operator::LtEq
        };
        let value: Arc<dyn PhysicalExpr> = Arc::new(Literal::new(value));
        let column = || Arc::clone(&self.column);
        let compared: Arc<dyn PhysicalExpr> = Arc::new(BinaryExpr::new(column(), op, value));
        if !self.nulls_first {
            return compared;
        }
        let is_null = Arc::new(IsNullExpr::new(column()));
        Arc::new(BinaryExpr::new(is_null, Operator::Or, compared))
    }

    /// The real of a key that ascends with the values. Comparisons tell the two zeros apart: it is the one that admits both.
    fn real(&self, ascending: u64) -> f64 {
        let bits = if ascending >> 63 == 1 {
            ascending & !(1 << 63)
        } else {
            !ascending
        };
        let real = f64::from_bits(bits);
        match (real == 0.0, self.descending) {
            (true, true) => -0.0,
            (true, false) => 0.0,
            _ => real,
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, Int64Array};
    use arrow::datatypes::Schema;
    use arrow::record_batch::RecordBatch;

    use super::super::coded::CachedColumn;
    use super::super::top_rows::{TopBound, TopRows};
    use super::*;

    /// The rows that the condition admits after all of them were counted.
    fn admitted(values: ArrayRef, descending: bool, nulls_first: bool, rows: usize) -> Vec<usize> {
        let field = Field::new("key", values.data_type().clone(), true);
        let top = TopRows {
            column: 0,
            descending,
            nulls_first,
            rows,
        };
        let bound = TopBound::new(0, &field, &top).expect("a type with keys");
        let filter = bound.filter.as_ref().expect("a condition").with(None);
        let counted = CachedColumn::Plain(Arc::clone(&values));
        let counted = bound.count(&counted, &(0..values.len()), None);
        counted.expect("counted");
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema, vec![values]).expect("a column");
        let met = filter.evaluate(&batch).expect("evaluated");
        let met = met.into_array(batch.num_rows()).expect("an array");
        let met = met.as_boolean();
        let is_met = |row: &usize| met.is_valid(*row) && met.value(*row);
        (0..met.len()).filter(is_met).collect()
    }

    #[test]
    fn rows_are_admitted_that_can_be_among_the_first() {
        let longs = || -> ArrayRef {
            Arc::new(Int64Array::from(vec![
                Some(5),
                None,
                Some(i64::MIN),
                Some(i64::MAX),
                Some(5),
            ]))
        };
        assert_eq!(admitted(longs(), true, false, 2), [0, 3, 4]);
        assert_eq!(admitted(longs(), false, false, 2), [0, 2, 4]);
        assert_eq!(admitted(longs(), true, true, 1), [1, 3]);
        assert_eq!(admitted(longs(), false, true, 2), [1, 2]);
        // The null is the last one of five.
        assert_eq!(admitted(longs(), true, false, 5), [0, 1, 2, 3, 4]);
        let ints: ArrayRef = Arc::new(Int32Array::from(vec![3, -7, 9]));
        assert_eq!(admitted(Arc::clone(&ints), true, false, 2), [0, 2]);
        assert_eq!(admitted(ints, false, false, 1), [1]);
    }

    #[test]
    fn both_zeros_are_admitted_and_what_is_no_number_comes_last() {
        let reals = || -> ArrayRef {
            Arc::new(Float64Array::from(vec![
                Some(-0.0),
                Some(0.0),
                Some(2.5),
                None,
                Some(f64::NEG_INFINITY),
                Some(-1.5),
            ]))
        };
        assert_eq!(admitted(reals(), true, false, 2), [0, 1, 2]);
        assert_eq!(admitted(reals(), false, false, 3), [0, 1, 4, 5]);
        let field = Field::new("key", DataType::Float64, true);
        assert!(TopFilter::new(&field, 0, true, true).is_none());
        let reals: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, 1.0, -f64::NAN]));
        // Comparisons order what is no number: the sort drops it.
        assert!(admitted(reals, true, false, 1).contains(&1));
    }

    #[test]
    fn the_condition_takes_the_place_of_that_of_the_sort() {
        let field = Field::new("key", DataType::Int64, true);
        let top = TopFilter::new(&field, 1, true, false).expect("a condition");
        let column =
            |name: &str, index| Arc::new(Column::new(name, index)) as Arc<dyn PhysicalExpr>;
        let of_sort = |keys: Vec<Arc<dyn PhysicalExpr>>| -> Arc<dyn PhysicalExpr> {
            Arc::new(DynamicFilterPhysicalExpr::new(keys, lit(true)))
        };
        let fixed = column("fixed", 0);
        let other = of_sort(vec![column("other", 2), column("key", 1)]);
        let predicate = conjunction([
            Arc::clone(&fixed),
            of_sort(vec![column("key", 1), column("id", 3)]),
            of_sort(vec![Arc::new(IsNullExpr::new(column("key", 1)))]),
            Arc::clone(&other),
        ]);
        let with = top.with(Some(predicate));
        let own = Arc::clone(&top.filter) as Arc<dyn PhysicalExpr>;
        assert_eq!(split_conjunction(&with), [&fixed, &other, &own]);
    }
}
