//! What an aggregate of this library computes: constants from which another process makes the same aggregate.
//!
//! Every aggregate has a description ([`super::groups::GroupsUdaf`]), and `aggregates/described.rs` makes the aggregate of each.

/// The constants of an aggregate, as a message. Changed tags are another version of the messages of functions.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Description {
    /// `min` or `max` of reals: whether the largest is returned.
    #[prost(bool, tag = "2")]
    RealExtreme(bool),
    /// `avg` of ticks.
    #[prost(message, tag = "3")]
    AverageTicks(()),
    /// `dcount`: the index bits of its registers.
    #[prost(uint32, tag = "4")]
    DistinctCount(u32),
    /// One row of each group.
    #[prost(message, tag = "5")]
    PickRow(PickRow),
    /// Percentiles.
    #[prost(message, tag = "6")]
    Percentiles(Percentiles),
    /// `tdigest`.
    #[prost(message, tag = "7")]
    Tdigest(Tdigest),
    /// `tdigest_merge`.
    #[prost(message, tag = "8")]
    TdigestMerge(()),
    /// `make_bag`: the maximum number of properties.
    #[prost(uint64, tag = "9")]
    MakeBag(u64),
    /// `hll`: the index bits of its registers.
    #[prost(uint32, tag = "10")]
    Hll(u32),
    /// `hll_merge`.
    #[prost(message, tag = "11")]
    HllMerge(()),
    /// `make_list` or `make_set`.
    #[prost(message, tag = "12")]
    Collect(Collect),
    /// `buildschema`.
    #[prost(message, tag = "13")]
    BuildSchema(()),
}

/// The description of an aggregate that picks a row of each group.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PickRow {
    #[prost(enumeration = "PickedRow", tag = "1")]
    pub(crate) pick: i32,
    /// The KQL types of the arguments.
    #[prost(string, repeated, tag = "2")]
    pub(crate) kinds: Vec<String>,
}

/// The rule that picks a row. No rule has the number 0, which is that of an absent field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum PickedRow {
    None = 0,
    Largest = 1,
    Smallest = 2,
    First = 3,
}

/// The description of `percentiles` and its relatives.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Percentiles {
    /// The percentages, 0 to 100.
    #[prost(double, repeated, tag = "1")]
    pub(crate) percents: Vec<f64>,
    /// The KQL type of the values.
    #[prost(string, tag = "2")]
    pub(crate) kind: String,
    /// The second argument is the weight of the value.
    #[prost(bool, tag = "3")]
    pub(crate) weighted: bool,
}

/// The description of `tdigest`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Tdigest {
    /// The KQL type of the values.
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    /// The second argument is the weight of the value.
    #[prost(bool, tag = "2")]
    pub(crate) weighted: bool,
}

/// The description of `make_list` and `make_set`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Collect {
    /// The KQL type of the values.
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    /// The maximum number of elements.
    #[prost(uint64, tag = "2")]
    pub(crate) limit: u64,
    /// Whether duplicates are dropped.
    #[prost(bool, tag = "3")]
    pub(crate) distinct: bool,
    /// Whether nulls are elements.
    #[prost(bool, tag = "4")]
    pub(crate) nulls: bool,
}
