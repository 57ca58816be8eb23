//! One decoded column of a row group: its values, or codes into its distinct values.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, StringViewArray, UInt8Array, UInt16Array, UInt32Array,
};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{filter, take};
use arrow::datatypes::{ArrowPrimitiveType, DataType, UInt8Type, UInt16Type};
use datafusion::error::Result;
use hashbrown::HashMap;

/// Bytes of a row beyond which a column is not kept: texts that hardly repeat would displace the columns that queries share.
pub(super) const MAX_ROW_BYTES: usize = 24;
/// The least number of distinct values that codes are tried for, however few rows there are.
const FEW_VALUES: usize = 256;

/// The columns of a row group that are in memory, as indexes of the table's schema.
pub(super) type Columns = std::collections::HashMap<usize, Arc<CachedColumn>>;

/// The rows of one column of a row group.
#[derive(Debug, Clone)]
pub(super) enum CachedColumn {
    /// As decoded.
    Plain(ArrayRef),
    /// For each row the index of its value among the distinct values. A null is one of these values.
    Coded { codes: Codes, values: ArrayRef },
}

/// Indexes of values, as narrow as their number allows.
#[derive(Debug, Clone)]
pub(super) enum Codes {
    Byte(UInt8Array),
    Short(UInt16Array),
}

impl CachedColumn {
    /// The column in the form that takes the least memory, and whether it is worth keeping.
    pub(super) fn of(array: &ArrayRef) -> Result<(CachedColumn, bool)> {
        if let Some(texts) = array.as_string_view_opt() {
            if let Some(coded) = coded(texts)? {
                return Ok((coded, true));
            }
            // The views of decoded pages keep these pages in memory.
            let own: ArrayRef = Arc::new(texts.gc());
            let fits = own.get_array_memory_size() <= MAX_ROW_BYTES * own.len().max(1);
            return Ok((CachedColumn::Plain(own), fits));
        }
        let fits = match array.data_type() {
            DataType::Boolean => true,
            other => other
                .primitive_width()
                .is_some_and(|width| width <= MAX_ROW_BYTES),
        };
        Ok((CachedColumn::Plain(Arc::clone(array)), fits))
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        match self {
            CachedColumn::Plain(array) => array.len(),
            CachedColumn::Coded { codes, .. } => codes.as_array().len(),
        }
    }

    /// The memory that the column takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            CachedColumn::Plain(array) => array.get_array_memory_size(),
            CachedColumn::Coded { codes, values } => {
                codes.as_array().get_array_memory_size() + values.get_array_memory_size()
            }
        }
    }

    /// The distinct values, if the column has codes.
    pub(super) fn distinct(&self) -> Option<&ArrayRef> {
        match self {
            CachedColumn::Plain(_) => None,
            CachedColumn::Coded { values, .. } => Some(values),
        }
    }

    /// The codes of consecutive rows, all of them or those that `selected` has a true for; `None` if the column has no codes.
    pub(super) fn codes(
        &self,
        rows: &Range<usize>,
        selected: Option<&BooleanArray>,
    ) -> Result<Option<UInt32Array>> {
        let CachedColumn::Coded { codes, .. } = self else {
            return Ok(None);
        };
        let own = codes.as_array().slice(rows.start, rows.len());
        let own = match selected {
            Some(selected) => filter(&own, selected)?,
            None => own,
        };
        Ok(Some(match own.as_primitive_opt::<UInt8Type>() {
            Some(codes) => codes.unary(u32::from),
            None => own.as_primitive::<UInt16Type>().unary(u32::from),
        }))
    }

    /// The values of consecutive rows, all of them or those that `selected` has a true for.
    pub(super) fn rows(
        &self,
        rows: &Range<usize>,
        selected: Option<&BooleanArray>,
    ) -> Result<ArrayRef> {
        let own = match self {
            CachedColumn::Plain(array) => array.slice(rows.start, rows.len()),
            CachedColumn::Coded { codes, .. } => codes.as_array().slice(rows.start, rows.len()),
        };
        let own = match selected {
            Some(selected) => filter(&own, selected)?,
            None => own,
        };
        match self {
            CachedColumn::Plain(_) => Ok(own),
            CachedColumn::Coded { values, .. } => Ok(take(values, &own, None)?),
        }
    }
}

impl Codes {
    fn as_array(&self) -> &dyn Array {
        match self {
            Codes::Byte(codes) => codes,
            Codes::Short(codes) => codes,
        }
    }

    /// For each of consecutive rows whether `matches` has a true at its code.
    pub(super) fn matching(&self, rows: &Range<usize>, matches: &[bool]) -> BooleanBuffer {
        match self {
            Codes::Byte(codes) => look_up::<UInt8Type>(codes.values(), rows, matches),
            Codes::Short(codes) => look_up::<UInt16Type>(codes.values(), rows, matches),
        }
    }
}

fn look_up<T: ArrowPrimitiveType>(
    codes: &[T::Native],
    rows: &Range<usize>,
    matches: &[bool],
) -> BooleanBuffer
where
    T::Native: Into<usize>,
{
    let codes = codes.get(rows.clone()).unwrap_or_default();
    let mut codes = codes.iter();
    BooleanBuffer::collect_bool(rows.len(), |_| {
        let code = codes.next().map(|code| (*code).into());
        code.and_then(|code: usize| matches.get(code))
            .is_some_and(|matches| *matches)
    })
}

/// The column as codes; `None` if its values do not repeat enough.
fn coded(texts: &StringViewArray) -> Result<Option<CachedColumn>> {
    let most = (texts.len() / 4).clamp(FEW_VALUES, usize::from(u16::MAX));
    let mut places: HashMap<Option<u128>, u16> = HashMap::new();
    // The row of the first occurrence of each value.
    let mut firsts: Vec<u32> = Vec::new();
    let mut codes: Vec<u16> = Vec::with_capacity(texts.len());
    for (row, view) in texts.views().iter().enumerate() {
        // Equal texts of one dictionary page have equal views. Equal texts with different views get two codes, which is no error.
        let key = texts.is_valid(row).then_some(*view);
        let next = firsts.len();
        let code = match places.get(&key) {
            Some(code) => *code,
            None if next >= most => return Ok(None),
            None => {
                let (Ok(code), Ok(row)) = (u16::try_from(next), u32::try_from(row)) else {
                    return Ok(None);
                };
                firsts.push(row);
                places.insert(key, code);
                code
            }
        };
        codes.push(code);
    }
    let values = take(texts, &UInt32Array::from(firsts), None)?;
    let values: ArrayRef = Arc::new(values.as_string_view().gc());
    let codes = if values.len() <= usize::from(u8::MAX) + 1 {
        let narrow = codes
            .iter()
            .map(|code| u8::try_from(*code).unwrap_or(u8::MAX));
        Codes::Byte(UInt8Array::from_iter_values(narrow))
    } else {
        Codes::Short(UInt16Array::from(codes))
    };
    Ok(Some(CachedColumn::Coded { codes, values }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringViewArray::from(values.to_vec()))
    }

    /// Texts that repeat, as short as a view holds in itself or longer.
    fn repeated(prefix: &str, distinct: usize, rows: usize) -> ArrayRef {
        let text = |row: usize| format!("{prefix}{}", row % distinct);
        let texts: Vec<String> = (0..rows).map(text).collect();
        Arc::new(StringViewArray::from_iter_values(texts))
    }

    #[test]
    fn rows_of_a_coded_column_are_those_of_the_array() {
        let long = "a text that does not fit into its view";
        let array = texts(&[Some(long), None, Some(""), Some(long), Some("b"), None]);
        let (column, keep) = CachedColumn::of(&array).expect("encoded");
        assert!(
            keep && matches!(
                column,
                CachedColumn::Coded {
                    codes: Codes::Byte(_),
                    ..
                }
            )
        );
        assert_eq!(&column.rows(&(0..6), None).expect("rows"), &array);
        let selected = BooleanArray::from(vec![false, true, true]);
        let expected = texts(&[Some(long), Some("b")]);
        assert_eq!(
            &column.rows(&(2..5), Some(&selected)).expect("rows"),
            &expected
        );
    }

    #[test]
    fn codes_are_as_narrow_as_the_values_allow_and_given_up_for_distinct_texts() {
        for (distinct, rows) in [(1, 10), (256, 1000), (257, 2000), (5000, 40_000)] {
            let array = repeated("text ", distinct, rows);
            let (column, keep) = CachedColumn::of(&array).expect("encoded");
            assert_eq!(&column.rows(&(0..rows), None).expect("rows"), &array);
            let CachedColumn::Coded { codes, .. } = &column else {
                panic!("{distinct} values of {rows} rows are not coded");
            };
            assert!(keep);
            assert_eq!(matches!(codes, Codes::Byte(_)), distinct <= 256);
        }
        for (prefix, kept) in [("text ", true), ("a text beyond twelve bytes ", false)] {
            let (column, keep) = CachedColumn::of(&repeated(prefix, 1000, 1000)).expect("encoded");
            assert!(matches!(column, CachedColumn::Plain(_)));
            assert_eq!(keep, kept, "{prefix}");
        }
    }

    #[test]
    fn codes_select_the_rows_of_matching_values() {
        let array = texts(&[Some("a"), Some("b"), Some("a"), Some("c"), Some("b")]);
        let (column, _) = CachedColumn::of(&array).expect("encoded");
        let CachedColumn::Coded { codes, values } = column else {
            panic!("not coded");
        };
        assert_eq!(&values, &texts(&[Some("a"), Some("b"), Some("c")]));
        let found = codes.matching(&(1..5), &[false, true, true]);
        assert_eq!(found.iter().collect::<Vec<_>>(), [true, false, true, true]);
    }
}
