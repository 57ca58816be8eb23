//! Grouping by codes: partial aggregation over scans that return texts as dictionaries.
//!
//! DataFusion groups rows by the values of their keys: each text is copied, hashed and compared for each row. A scan of decoded columns
//! has a code for each row instead, so a row is grouped by table look-ups: from the code of a dictionary to the code of the text among
//! all texts seen, and from the codes of several keys to a group. Bins of time that follow each other in sorted rows are found once for
//! each run of rows. Texts and expressions over them are processed once for each distinct value.
//!
//! [`GroupByCodes`] replaces the partial phase of an aggregation where its keys allow that; the final phase and everything else stays
//! DataFusion's. The results are the same, since the groups, the accumulators and their states are.

mod accumulators;
mod dictionary;
mod exec;
mod groups;
mod keys;
mod plan;
mod rule;
mod table;
mod values;

pub use rule::DictionaryScans;
pub(super) use rule::GroupByCodes;
