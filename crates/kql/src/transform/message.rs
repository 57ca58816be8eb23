//! The messages of transforms that run in other processes.

/// Why transforms that read all rows as one stream have no message: they run where the partitions of a plan come together.
pub(crate) const READS_ONE_STREAM: &str = "it reads all rows as one stream";

/// The constants of a transform. `codec/transforms.rs` makes the transform of each.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum TransformMessage {
    /// `mv-expand`.
    #[prost(message, tag = "10")]
    Expand(Expand),
    /// `parse`.
    #[prost(message, tag = "11")]
    Parse(Parse),
    /// Placeholder rows of subtables.
    #[prost(message, tag = "12")]
    Placeholders(Placeholders),
    /// Rows in the order of the input.
    #[prost(message, tag = "13")]
    InOrder(()),
}

/// The message of `mv-expand`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Expand {
    #[prost(message, repeated, tag = "1")]
    pub(crate) lists: Vec<ExpandedList>,
    #[prost(bool, tag = "2")]
    pub(crate) bags_as_pairs: bool,
    #[prost(uint64, tag = "3")]
    pub(crate) limit: u64,
    #[prost(bool, tag = "4")]
    pub(crate) numbered: bool,
}

/// An expanded list.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ExpandedList {
    #[prost(string, tag = "1")]
    pub(crate) field: String,
    /// The KQL type of its elements.
    #[prost(string, tag = "2")]
    pub(crate) kind: String,
}

/// The message of `parse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Parse {
    #[prost(string, tag = "1")]
    pub(crate) text: String,
    #[prost(string, tag = "2")]
    pub(crate) pattern: String,
    #[prost(enumeration = "ParseMode", tag = "3")]
    pub(crate) mode: i32,
    #[prost(message, repeated, tag = "4")]
    pub(crate) columns: Vec<ParsedColumn>,
}

/// The `kind=` of `parse`. No kind has the number 0, which is that of an absent field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum ParseMode {
    None = 0,
    Simple = 1,
    Relaxed = 2,
    Regex = 3,
}

/// A column that `parse` adds.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ParsedColumn {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    /// Its KQL type.
    #[prost(string, tag = "2")]
    pub(crate) kind: String,
    /// Its group of the regular expression.
    #[prost(string, tag = "3")]
    pub(crate) group: String,
}

/// The message of placeholder rows.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Placeholders {
    #[prost(string, repeated, tag = "1")]
    pub(crate) keys: Vec<String>,
    #[prost(bool, tag = "2")]
    pub(crate) ordered: bool,
}
