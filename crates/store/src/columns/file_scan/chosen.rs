//! The rows of a segment that were chosen by number or by an index: they are few, so the columns that are not in memory are read for
//! them alone.

use std::sync::Arc;

use arrow::array::{Array, BooleanBufferBuilder};
use arrow::buffer::BooleanBuffer;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use futures::stream::TryStreamExt;
use parquet::arrow::arrow_reader::RowSelection;

use super::super::cache::RowGroup;
use super::super::coded::Columns;
use super::super::scan_plan::Condition;
use super::{FileScan, column_of};

impl FileScan {
    /// The columns of a row group that are in memory, and which of its chosen rows meet the conditions over the others; `None` if no row does.
    pub(super) async fn filter_chosen(
        &mut self,
        index: usize,
        group: &RowGroup,
        chosen: RowSelection,
    ) -> Result<Option<(Columns, Vec<BooleanBuffer>)>> {
        let scan = Arc::clone(&self.scan);
        let wanted = scan.plan.columns();
        let names: Vec<&str> = wanted.iter().map(|c| scan.plan.name(*c)).collect();
        let cached = scan
            .access
            .columns
            .get(self.segment.record.id, index, &names);
        let cached = wanted.into_iter().zip(cached);
        let columns: Columns = cached.filter_map(|(c, found)| Some((c, found?))).collect();
        let mut chosen = chosen;
        for condition in &scan.plan.conditions {
            if !chosen.selects_any() {
                return Ok(None);
            }
            let is_met = condition.dynamic || condition.is_met_between(group.min_ts, group.max_ts);
            if !is_met && !condition.columns.iter().all(|c| columns.contains_key(c)) {
                chosen = self.filter_by(condition, index, chosen).await?;
            }
        }
        let bits = chosen.selects_any().then(|| bits(&chosen, group.rows));
        Ok(bits.map(|bits| (columns, vec![bits])))
    }

    /// The chosen rows of a row group that meet a condition, by its columns in the file.
    async fn filter_by(
        &mut self,
        condition: &Condition,
        group: usize,
        chosen: RowSelection,
    ) -> Result<RowSelection> {
        let batch_size = self.scan.batch_size;
        let selection = Some(chosen.clone());
        let stream = self.read(group, &condition.columns, batch_size, selection);
        let (mut stream, mut met) = (stream.await?, Vec::new());
        while let Some(batch) = stream.try_next().await? {
            let column = |column| column_of(&batch, self.scan.plan.name(column));
            met.push(condition.evaluate(batch.num_rows(), column)?);
        }
        let tested: usize = met.iter().map(Array::len).sum();
        if tested != chosen.row_count() {
            return Err(DataFusionError::Internal(format!(
                "{} rows of row group {group} of {} were chosen, and {tested} were tested",
                chosen.row_count(),
                self.segment.record.path
            )));
        }
        Ok(chosen.and_then(&RowSelection::from_filters(&met)))
    }
}

/// A bit for each row of a row group: whether it is chosen.
fn bits(chosen: &RowSelection, rows: usize) -> BooleanBuffer {
    let mut bits = BooleanBufferBuilder::new(rows);
    for part in chosen.iter() {
        bits.append_n(part.row_count, !part.skip);
    }
    // What follows the last chosen row need not be listed.
    bits.append_n(rows.saturating_sub(bits.len()), false);
    bits.finish()
}

#[cfg(test)]
mod tests {
    use parquet::arrow::arrow_reader::RowSelector;

    use super::*;

    #[test]
    fn each_row_has_a_bit() {
        let chosen = |parts: &[RowSelector]| RowSelection::from(parts.to_vec());
        let (skip, select) = (RowSelector::skip, RowSelector::select);
        let of = |parts: &[RowSelector]| bits(&chosen(parts), 5).iter().collect::<Vec<_>>();
        let expected = [false, true, true, false, false];
        assert_eq!(of(&[skip(1), select(2), skip(2)]), expected);
        assert_eq!(of(&[skip(1), select(2)]), expected);
        assert_eq!(of(&[]), [false; 5]);
        assert_eq!(of(&[select(5)]), [true; 5]);
    }
}
