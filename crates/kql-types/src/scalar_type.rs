//! The ten scalar types of KQL (`docs/semantics.md §2`) and the Arrow type of each.

use arrow::datatypes::DataType;

/// A KQL scalar type.
///
/// Arrow types alone cannot tell a `timespan` from a `long`, so plans carry a `ScalarType` beside every column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    /// `bool`: Arrow `Boolean`.
    Bool,
    /// `int`: Arrow `Int32`.
    Int,
    /// `long`: Arrow `Int64`.
    Long,
    /// `real`: Arrow `Float64`.
    Real,
    /// `decimal`: Arrow `Decimal128(38, 12)`.
    Decimal,
    /// `string`: Arrow `Utf8View`. Never null in a plan: absent text is `""`.
    String,
    /// `datetime`: Arrow `Int64`, 100 ns ticks since 0001-01-01 UTC.
    DateTime,
    /// `timespan`: Arrow `Int64`, 100 ns ticks.
    TimeSpan,
    /// `guid`: Arrow `FixedSizeBinary(16)`, in the order of its text form.
    Guid,
    /// `dynamic`: Arrow `BinaryView`, one value in the encoding of [`crate::dynamic`]; null is Arrow null.
    Dynamic,
}

/// The scale of every `decimal` in a plan.
pub const DECIMAL_SCALE: i8 = 12;

impl ScalarType {
    /// Every type, in the order of the language reference.
    pub const ALL: [ScalarType; 10] = [
        ScalarType::Bool,
        ScalarType::Int,
        ScalarType::Long,
        ScalarType::Real,
        ScalarType::Decimal,
        ScalarType::String,
        ScalarType::DateTime,
        ScalarType::TimeSpan,
        ScalarType::Guid,
        ScalarType::Dynamic,
    ];

    /// The name that the language, `getschema` and the query API use.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::Bool => "bool",
            ScalarType::Int => "int",
            ScalarType::Long => "long",
            ScalarType::Real => "real",
            ScalarType::Decimal => "decimal",
            ScalarType::String => "string",
            ScalarType::DateTime => "datetime",
            ScalarType::TimeSpan => "timespan",
            ScalarType::Guid => "guid",
            ScalarType::Dynamic => "dynamic",
        }
    }

    /// The type called `name`, which may be an alias (`boolean`, `int64`, `double`, `date`, `time`, `uuid`, …).
    pub fn parse(name: &str) -> Option<ScalarType> {
        Some(match name {
            "bool" | "boolean" => ScalarType::Bool,
            "int" | "int32" | "int8" | "int16" | "uint8" | "uint16" => ScalarType::Int,
            "long" | "int64" | "uint32" | "uint64" | "ulong" => ScalarType::Long,
            "real" | "double" | "float" => ScalarType::Real,
            "decimal" => ScalarType::Decimal,
            "string" => ScalarType::String,
            "datetime" | "date" => ScalarType::DateTime,
            "timespan" | "time" => ScalarType::TimeSpan,
            "guid" | "uuid" | "uniqueid" => ScalarType::Guid,
            "dynamic" | "object" => ScalarType::Dynamic,
            _ => return None,
        })
    }

    /// The .NET name that `getschema` and the four-table reply show, such as `System.Int64`.
    pub fn clr_name(self) -> &'static str {
        match self {
            ScalarType::Bool => "System.SByte",
            ScalarType::Int => "System.Int32",
            ScalarType::Long => "System.Int64",
            ScalarType::Real => "System.Double",
            ScalarType::Decimal => "System.Data.SqlTypes.SqlDecimal",
            ScalarType::String => "System.String",
            ScalarType::DateTime => "System.DateTime",
            ScalarType::TimeSpan => "System.TimeSpan",
            ScalarType::Guid => "System.Guid",
            ScalarType::Dynamic => "System.Object",
        }
    }

    /// The Arrow type of this type's values in every plan and batch.
    pub fn arrow(self) -> DataType {
        match self {
            ScalarType::Bool => DataType::Boolean,
            ScalarType::Int => DataType::Int32,
            ScalarType::Long | ScalarType::DateTime | ScalarType::TimeSpan => DataType::Int64,
            ScalarType::Real => DataType::Float64,
            ScalarType::Decimal => DataType::Decimal128(38, DECIMAL_SCALE),
            ScalarType::String => DataType::Utf8View,
            ScalarType::Guid => DataType::FixedSizeBinary(16),
            ScalarType::Dynamic => DataType::BinaryView,
        }
    }

    /// Whether the type is `int` or `long`.
    pub fn is_integer(self) -> bool {
        matches!(self, ScalarType::Int | ScalarType::Long)
    }

    /// Whether the type is `int`, `long`, `real` or `decimal`.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            ScalarType::Int | ScalarType::Long | ScalarType::Real | ScalarType::Decimal
        )
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
