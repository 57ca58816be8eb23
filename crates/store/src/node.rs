//! Nodes: the processes that share a catalogue in PostgreSQL (`docs/cluster.md`).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use uuid::Uuid;

use crate::ids::time_ordered_id;

/// Bits of a sequence number below the number of its node: the sequence numbers of two nodes' logs never meet.
const SEQUENCE_BITS: u32 = 44;

/// The identity of a node. Its data folder keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(Uuid);

impl NodeId {
    /// A new identity made at `now`, in ticks.
    pub(crate) fn new(now: i64) -> NodeId {
        NodeId(time_ordered_id(now))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for NodeId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<NodeId, uuid::Error> {
        text.parse().map(NodeId)
    }
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NodeRole {
    /// Everything.
    #[default]
    All,
    /// It takes telemetry and seals it.
    Ingest,
    /// It runs queries.
    Query,
    /// It merges and expires segments.
    Maintain,
}

impl NodeRole {
    /// All roles.
    pub const ALL: [NodeRole; 4] = [
        NodeRole::All,
        NodeRole::Ingest,
        NodeRole::Query,
        NodeRole::Maintain,
    ];

    /// The name of the role in settings and in the catalogue.
    pub fn name(self) -> &'static str {
        match self {
            NodeRole::All => "all",
            NodeRole::Ingest => "ingest",
            NodeRole::Query => "query",
            NodeRole::Maintain => "maintain",
        }
    }

    /// The role of this name.
    pub fn parse(name: &str) -> Option<NodeRole> {
        NodeRole::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether a node of this role takes telemetry.
    pub fn ingests(self) -> bool {
        matches!(self, NodeRole::All | NodeRole::Ingest)
    }

    /// Whether a node of this role runs queries.
    pub fn queries(self) -> bool {
        matches!(self, NodeRole::All | NodeRole::Query)
    }

    /// Whether a node of this role merges and expires segments.
    pub fn maintains(self) -> bool {
        matches!(self, NodeRole::All | NodeRole::Maintain)
    }
}

/// What a process says of itself as a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeConfig {
    /// Its name in messages; empty: its id.
    pub name: String,
    /// What it does.
    pub role: NodeRole,
    /// The URL at which other nodes reach it; empty: they do not.
    pub address: String,
    /// The version of the program.
    pub version: String,
}

impl NodeConfig {
    /// Whether other nodes could not read the telemetry that this one takes. Such a node runs alone: the catalogue refuses the start of a
    /// second one.
    pub(crate) fn is_alone(&self) -> bool {
        self.role.ingests() && self.address.is_empty()
    }
}

/// The second copy of a node's log that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyPlace {
    /// The node that has it.
    pub holder: NodeId,
    /// It counts the copies of the node.
    pub generation: u64,
    /// The last record that may have been acknowledged.
    pub ends: u64,
}

/// A node, as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// Its identity.
    pub id: NodeId,
    /// How many nodes joined before it.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// What it does.
    pub role: NodeRole,
    /// The URL at which other nodes reach it; empty: they do not.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// When its process started, in ticks by the clock of PostgreSQL.
    pub started: i64,
    /// When it last reported, in ticks by the clock of PostgreSQL; 0 if its process was stopped.
    pub heartbeat: i64,
    /// How long ago that was; [`Duration::MAX`] if its process was stopped.
    pub silent_for: Duration,
    /// When it last began to merge or expire segments, in ticks; 0 if it never did.
    pub maintained: i64,
    /// The last sequence of its log whose items lie in segments.
    pub log_position: u64,
    /// The last sequence of its log, as of its last report.
    pub log_sequence: u64,
    /// Whether its log holds no items that no segment has, and it takes none.
    pub drained: bool,
    /// The second copy of its log, if there is one.
    pub copy: Option<CopyPlace>,
}

impl NodeRecord {
    /// The time without a report after which a node counts as gone.
    pub const LAPSED: Duration = Duration::from_secs(15);

    /// Whether its process was stopped, which notes that. One that was killed counts as live for [`NodeRecord::LAPSED`].
    pub fn is_stopped(&self) -> bool {
        self.heartbeat == 0
    }

    /// Whether it has reported lately.
    pub fn is_live(&self) -> bool {
        self.silent_for < NodeRecord::LAPSED
    }

    /// Requests in its log that no segment has, as of its last report.
    pub fn log_lag(&self) -> u64 {
        if self.drained {
            return 0;
        }
        self.log_sequence.saturating_sub(self.log_position)
    }
}

/// The position of the empty log of a node: the sequence numbers of its requests follow.
pub(crate) fn first_position(number: u64) -> u64 {
    number << SEQUENCE_BITS
}

/// Where the log of the node begins that has a request or a position with this sequence.
pub(crate) fn log_begin(sequence: u64) -> u64 {
    sequence >> SEQUENCE_BITS << SEQUENCE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_numbers_of_nodes_do_not_meet() {
        assert_eq!(first_position(0), 0);
        assert_eq!(log_begin(first_position(3) + 17), first_position(3));
        assert_eq!(log_begin(first_position(3) - 1), first_position(2));
        assert!(i64::try_from(first_position((1 << 19) - 1)).is_ok());
    }

    #[test]
    fn roles_have_names() {
        for role in NodeRole::ALL {
            assert_eq!(NodeRole::parse(role.name()), Some(role));
        }
        assert_eq!(NodeRole::parse("both"), None);
    }
}
