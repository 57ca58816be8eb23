//! One value of an Arrow column as JSON (`docs/semantics.md §28.2`).

use std::fmt::Write;

use arrow::array::{
    Array, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Float64Array,
    Int32Array, Int64Array, StringViewArray,
};
use hindsight_kql_types::{DynamicRef, ScalarType, datetime, decimal, guid, timespan};

use super::json;

/// How dynamic values appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DynamicForm {
    /// As a JSON string that holds JSON text, as query results have it.
    Text,
    /// As the value itself, as events have it.
    Nested,
}

/// A column whose Arrow type is known once, not for each cell.
pub(crate) enum Cells<'a> {
    Bool(&'a BooleanArray),
    Int(&'a Int32Array),
    Long(&'a Int64Array),
    Real(&'a Float64Array),
    Decimal(&'a Decimal128Array),
    Text(&'a StringViewArray),
    DateTime(&'a Int64Array),
    TimeSpan(&'a Int64Array),
    Guid(&'a FixedSizeBinaryArray),
    Dynamic(&'a BinaryViewArray),
    /// The array is not what the type says; its cells are null. The engine promises that this does not happen.
    Unknown,
}

impl<'a> Cells<'a> {
    /// Reads an array as a column of this type.
    pub(crate) fn new(kind: ScalarType, array: &'a dyn Array) -> Cells<'a> {
        let any = array.as_any();
        let cells = match kind {
            ScalarType::Bool => any.downcast_ref().map(Cells::Bool),
            ScalarType::Int => any.downcast_ref().map(Cells::Int),
            ScalarType::Long => any.downcast_ref().map(Cells::Long),
            ScalarType::Real => any.downcast_ref().map(Cells::Real),
            ScalarType::Decimal => any.downcast_ref().map(Cells::Decimal),
            ScalarType::String => any.downcast_ref().map(Cells::Text),
            ScalarType::DateTime => any.downcast_ref().map(Cells::DateTime),
            ScalarType::TimeSpan => any.downcast_ref().map(Cells::TimeSpan),
            ScalarType::Guid => any.downcast_ref().map(Cells::Guid),
            ScalarType::Dynamic => any.downcast_ref().map(Cells::Dynamic),
        };
        cells.unwrap_or_else(|| {
            tracing::error!(?kind, found = ?array.data_type(), "a result column has another Arrow type than promised");
            Cells::Unknown
        })
    }

    /// The text of a string cell.
    pub(crate) fn text(&self, row: usize) -> &'a str {
        match self {
            Cells::Text(array) if array.is_valid(row) => array.value(row),
            _ => "",
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Cells::Bool(array) => array.is_null(row),
            Cells::Int(array) => array.is_null(row),
            Cells::Long(array) | Cells::DateTime(array) | Cells::TimeSpan(array) => {
                array.is_null(row)
            }
            Cells::Real(array) => array.is_null(row),
            Cells::Decimal(array) => array.is_null(row),
            // A string is never null.
            Cells::Text(_) => false,
            Cells::Guid(array) => array.is_null(row),
            Cells::Dynamic(array) => array.is_null(row),
            Cells::Unknown => true,
        }
    }

    /// Appends the cell as JSON.
    pub(crate) fn write(&self, row: usize, form: DynamicForm, out: &mut String) {
        if self.is_null(row) {
            return out.push_str("null");
        }
        match self {
            Cells::Bool(array) => out.push_str(if array.value(row) { "true" } else { "false" }),
            Cells::Int(array) => json::integer(i64::from(array.value(row)), out),
            Cells::Long(array) => json::integer(array.value(row), out),
            Cells::Real(array) => json::real(array.value(row), out),
            Cells::Text(_) => json::string(self.text(row), out),
            Cells::DateTime(array) => json::time(array.value(row), out),
            Cells::Decimal(_) | Cells::TimeSpan(_) | Cells::Guid(_) => {
                out.push('"');
                self.write_plain(row, out);
                out.push('"');
            }
            Cells::Dynamic(array) => match form {
                DynamicForm::Nested => DynamicRef::new(array.value(row)).write_json(out),
                DynamicForm::Text => {
                    json::string(&DynamicRef::new(array.value(row)).to_json(), out)
                }
            },
            Cells::Unknown => out.push_str("null"),
        }
    }

    /// Appends the cell as plain text, nothing for null: for CSV and for people.
    pub(crate) fn write_plain(&self, row: usize, out: &mut String) {
        if self.is_null(row) {
            return;
        }
        // Writing into a text cannot fail.
        let _ = match self {
            Cells::Bool(array) => write!(out, "{}", array.value(row)),
            Cells::Int(array) => write!(out, "{}", array.value(row)),
            Cells::Long(array) => write!(out, "{}", array.value(row)),
            Cells::Real(array) => {
                let mut number = String::new();
                json::real(array.value(row), &mut number);
                out.write_str(number.trim_matches('"'))
            }
            Cells::Decimal(array) => decimal::write(array.value(row), out),
            Cells::Text(_) => out.write_str(self.text(row)),
            Cells::DateTime(array) => datetime::write_trimmed(array.value(row), out),
            Cells::TimeSpan(array) => timespan::write(array.value(row), out),
            Cells::Guid(array) => match array.value(row).try_into() {
                Ok(bytes) => guid::write(bytes, out),
                Err(_) => Ok(()),
            },
            Cells::Dynamic(array) => {
                DynamicRef::new(array.value(row)).write_json(out);
                Ok(())
            }
            Cells::Unknown => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_kql_types::BagBuilder;

    fn check(kind: ScalarType, array: &dyn Array, expected: &[&str]) {
        let cells = Cells::new(kind, array);
        let written: Vec<String> = (0..array.len())
            .map(|row| {
                let mut out = String::new();
                cells.write(row, DynamicForm::Text, &mut out);
                out
            })
            .collect();
        assert_eq!(written, expected, "{kind}");
    }

    #[test]
    fn every_type_has_its_form() {
        check(
            ScalarType::Bool,
            &BooleanArray::from(vec![Some(true), None]),
            &["true", "null"],
        );
        check(ScalarType::Int, &Int32Array::from(vec![-1]), &["-1"]);
        check(
            ScalarType::Long,
            &Int64Array::from(vec![i64::MIN]),
            &["-9223372036854775808"],
        );
        check(
            ScalarType::Real,
            &Float64Array::from(vec![Some(1.5), Some(f64::NAN), None]),
            &["1.5", "\"NaN\"", "null"],
        );
        check(
            ScalarType::String,
            &StringViewArray::from(vec![Some("a\"b"), Some("")]),
            &[r#""a\"b""#, r#""""#],
        );
        let decimals = Decimal128Array::from(vec![1_500_000_000_000])
            .with_precision_and_scale(38, 12)
            .unwrap();
        check(ScalarType::Decimal, &decimals, &["\"1.5\""]);
        let at = datetime::parse("2024-01-02T03:04:05.25Z").unwrap();
        check(
            ScalarType::DateTime,
            &Int64Array::from(vec![at]),
            &["\"2024-01-02T03:04:05.25Z\""],
        );
        check(
            ScalarType::TimeSpan,
            &Int64Array::from(vec![-17 * 36_000_000_000]),
            &["\"-17:00:00\""],
        );
        let guid = FixedSizeBinaryArray::try_from_iter(std::iter::once([0x12_u8; 16])).unwrap();
        check(
            ScalarType::Guid,
            &guid,
            &["\"12121212-1212-1212-1212-121212121212\""],
        );
        let mut bag = BagBuilder::new();
        bag.string("k", "v");
        let bag = bag.finish();
        check(
            ScalarType::Dynamic,
            &BinaryViewArray::from(vec![bag.as_slice()]),
            &[r#""{\"k\":\"v\"}""#],
        );
    }

    #[test]
    fn an_array_of_another_type_is_null_and_no_panic() {
        check(ScalarType::Long, &BooleanArray::from(vec![true]), &["null"]);
    }
}
