//! Reads the index of a segment: which blocks may have rows that meet a condition.

use std::collections::HashMap;

use hindsight_kql_types::terms::TermCondition;
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use serde_json::Value;

use super::ENTRY;
use super::filter::{BUCKET, bucket_of, hash, may_have};
use crate::segment::RowParts;
use crate::segment::SegmentFileReader;
use crate::segment::description::entry;

/// The index of a segment, without its filters.
#[derive(Debug)]
pub(crate) struct TextIndex {
    /// Rows of the segment.
    rows: usize,
    /// Rows of a block.
    block_rows: usize,
    columns: HashMap<String, Vec<Section>>,
}

/// Where the filters of some blocks are.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    buckets: u64,
    blocks: u64,
}

impl TextIndex {
    /// What a footer says of the index of a segment with this number of rows; `None` if there is none that fits.
    pub(crate) fn of(footer: &ParquetMetaData, rows: u64) -> Option<TextIndex> {
        let value: Value = serde_json::from_str(entry(footer, ENTRY)?).ok()?;
        let block_rows = value.get("block_rows")?.as_u64();
        let block_rows = block_rows.filter(|block_rows| *block_rows > 0)?;
        let blocks = rows.div_ceil(block_rows);
        let columns = value.get("columns")?.as_object()?.iter();
        let columns = columns.filter_map(|(name, sections)| {
            let sections = sections.as_array()?.iter().map(section);
            let sections: Vec<Section> = sections.collect::<Option<_>>()?;
            let all: u64 = sections.iter().map(|section| section.blocks).sum();
            (all == blocks).then(|| (name.clone(), sections))
        });
        Some(TextIndex {
            rows: usize::try_from(rows).ok()?,
            block_rows: usize::try_from(block_rows).ok()?,
            columns: columns.collect(),
        })
    }

    /// The blocks, and whether each may have a row that meets `condition`; `None` if the index does not tell.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged there.
    pub(crate) fn rows_with(
        &self,
        condition: &TermCondition,
        file: &SegmentFileReader,
    ) -> Result<Option<RowParts>> {
        let mut left = self.rows;
        let part = |matches: bool| {
            let rows = left.min(self.block_rows);
            left -= rows;
            (rows, matches)
        };
        let blocks = self.blocks_with(condition, file)?;
        Ok(blocks.map(|blocks| RowParts(blocks.into_iter().map(part).collect())))
    }

    fn blocks_with(
        &self,
        condition: &TermCondition,
        file: &SegmentFileReader,
    ) -> Result<Option<Vec<bool>>> {
        match condition {
            TermCondition::Has { column, term } => match self.columns.get(column) {
                Some(sections) => blocks_with_term(sections, term, file).map(Some),
                None => Ok(None),
            },
            TermCondition::All(conditions) => {
                let mut all: Option<Vec<bool>> = None;
                for condition in conditions {
                    let Some(blocks) = self.blocks_with(condition, file)? else {
                        continue;
                    };
                    all = Some(match all {
                        Some(all) => merged(all, &blocks, |one, two| one && two),
                        None => blocks,
                    });
                }
                Ok(all)
            }
            TermCondition::Any(conditions) => {
                let mut any: Vec<bool> = Vec::new();
                for condition in conditions {
                    let Some(blocks) = self.blocks_with(condition, file)? else {
                        return Ok(None);
                    };
                    any.resize(blocks.len(), false);
                    any = merged(any, &blocks, |one, two| one || two);
                }
                Ok((!conditions.is_empty()).then_some(any))
            }
        }
    }

    /// Whether the index can exclude rows by a condition.
    pub(crate) fn tells_of(&self, condition: &TermCondition) -> bool {
        match condition {
            TermCondition::Has { column, .. } => self.columns.contains_key(column),
            TermCondition::All(conditions) => conditions.iter().any(|one| self.tells_of(one)),
            TermCondition::Any(conditions) => {
                !conditions.is_empty() && conditions.iter().all(|one| self.tells_of(one))
            }
        }
    }
}

fn merged(mut all: Vec<bool>, more: &[bool], merge: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    for (one, two) in all.iter_mut().zip(more) {
        *one = merge(*one, *two);
    }
    all
}

fn section(value: &Value) -> Option<Section> {
    match value.as_array()?.as_slice() {
        [offset, buckets, blocks] => Some(Section {
            offset: offset.as_u64()?,
            buckets: buckets.as_u64().filter(|buckets| *buckets > 0)?,
            blocks: blocks.as_u64()?,
        }),
        _ => None,
    }
}

fn blocks_with_term(
    sections: &[Section],
    term: &str,
    file: &SegmentFileReader,
) -> Result<Vec<bool>> {
    let hash = hash(term);
    let mut found = Vec::new();
    for section in sections {
        let buckets = usize::try_from(section.buckets)?;
        let row = section.blocks.saturating_mul(BUCKET as u64);
        let from = (bucket_of(hash, buckets) as u64).saturating_mul(row);
        let from = section.offset.saturating_add(from);
        let bytes = file.read(&(from..from.saturating_add(row)))?;
        found.extend(bytes.chunks(BUCKET).map(|bucket| may_have(bucket, hash)));
    }
    Ok(found)
}
