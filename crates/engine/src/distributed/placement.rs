//! Which node reads a segment.
//!
//! Each hour of an application belongs to the node with the highest hash of both (rendezvous hashing): its caches stay warm, and a node that
//! joins or leaves moves its own share of the hours. A query over few hours would often wait for the node that has most of them, so a node
//! reads of one query at most a little more than its share of the bytes, and the next node by the hash reads the rest: then a change of the nodes moves a few hours more.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use hindsight_store::{AppId, NodeId, ScannedPart, TICKS_PER_HOUR};
use xxhash_rust::xxh64::xxh64;

/// A node reads this part of its share more than its share, at most.
const EXCESS: u64 = 32;

/// An hour of an application, as the number of the hour.
pub(super) type Hour = (AppId, i64);

/// The hour that a segment belongs to: the one of its earliest row.
pub(super) fn hour_of(app: AppId, time: i64) -> Hour {
    (app, time.div_euclid(TICKS_PER_HOUR))
}

/// Hours that one node reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The hours, at least one. The node of the first one reads all.
    pub(super) hours: Vec<Hour>,
    /// The bytes that are read of them.
    pub(super) bytes: u64,
    /// The node that has to read them, if not every node may.
    pub(super) node: Option<NodeId>,
}

/// Which node reads which hours of a query.
#[derive(Debug)]
pub(super) struct Placement {
    nodes: Vec<NodeId>,
    hours: HashMap<Hour, NodeId>,
    read: HashMap<NodeId, u64>,
}

impl Placement {
    /// Spreads segments over the nodes by their hours.
    pub(super) fn of(nodes: &[NodeId], segments: &[ScannedPart]) -> Placement {
        let mut hours: BTreeMap<Hour, u64> = BTreeMap::new();
        for segment in segments {
            *hours
                .entry(hour_of(segment.app, segment.times.0))
                .or_default() += segment.bytes;
        }
        let unit = |(hour, bytes)| Unit {
            hours: vec![hour],
            bytes,
            node: None,
        };
        Placement::of_units(nodes, hours.into_iter().map(unit).collect())
    }

    /// Spreads units over the nodes.
    pub(super) fn of_units(nodes: &[NodeId], mut units: Vec<Unit>) -> Placement {
        let all: u64 = units.iter().map(|unit| unit.bytes).sum();
        let most = with_excess(share(all, nodes), EXCESS);
        // What is left for the end is small.
        units.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        let mut read: HashMap<NodeId, u64> = nodes.iter().map(|node| (*node, 0)).collect();
        let mut placed = HashMap::with_capacity(units.len());
        for unit in units {
            let Some(first) = unit.hours.first() else {
                continue;
            };
            let ranked = ranked(nodes, *first);
            let read_by = |node: &NodeId| read.get(node).copied().unwrap_or(0);
            let fits = ranked
                .iter()
                .find(|node| read_by(node) + unit.bytes <= most);
            let least = || ranked.iter().min_by_key(|node| read_by(node));
            let node = unit.node.or_else(|| fits.or_else(least).copied());
            if let Some(node) = node {
                *read.entry(node).or_default() += unit.bytes;
                placed.extend(unit.hours.into_iter().map(|hour| (hour, node)));
            }
        }
        Placement {
            nodes: nodes.to_vec(),
            hours: placed,
            read,
        }
    }

    /// Whether no node reads more than its share and `1/excess` of it.
    pub(super) fn is_even(&self, excess: u64) -> bool {
        let most = with_excess(share(self.read.values().sum(), &self.nodes), excess);
        self.read.values().all(|read| *read <= most)
    }

    /// The node that reads the segments of an application whose earliest row is at `time`, in ticks. Each segment has one, also one that was not
    /// counted.
    pub(super) fn node(&self, app: AppId, time: i64) -> Option<NodeId> {
        let hour = hour_of(app, time);
        let counted = self.hours.get(&hour).copied();
        counted.or_else(|| ranked(&self.nodes, hour).first().copied())
    }
}

/// Units with a node come first, and large ones before small ones.
fn order(unit: &Unit) -> (Reverse<bool>, Reverse<u64>, &[Hour]) {
    let has_node = Reverse(unit.node.is_some());
    (has_node, Reverse(unit.bytes), &unit.hours)
}

fn share(bytes: u64, nodes: &[NodeId]) -> u64 {
    bytes / (nodes.len() as u64).max(1)
}

fn with_excess(share: u64, excess: u64) -> u64 {
    share + share / excess
}

/// The nodes in the order in which they are to read an hour.
fn ranked(nodes: &[NodeId], (app, hour): Hour) -> Vec<NodeId> {
    let mut ranked = nodes.to_vec();
    ranked.sort_by_cached_key(|node| {
        let key = format!("{node} {app} {hour}");
        Reverse((xxh64(key.as_bytes(), 0), *node))
    });
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: i64 = 3000;

    fn node(number: u128) -> NodeId {
        let id = format!("00000000-0000-7000-8000-{number:012x}");
        id.parse().expect("an id")
    }

    fn app() -> AppId {
        AppId(
            "5a0b3c1e-0000-4000-8000-000000000001"
                .parse()
                .expect("an id"),
        )
    }

    fn segment(time: i64, bytes: u64) -> ScannedPart {
        ScannedPart {
            app: app(),
            times: (time, time),
            bytes,
        }
    }

    /// The nodes of hours with these bytes.
    fn placed(nodes: &[NodeId], hours: &[u64]) -> Vec<NodeId> {
        let time = |hour: i64| hour * TICKS_PER_HOUR + 5;
        let numbered = (0..).zip(hours);
        let segments: Vec<_> = numbered.map(|(h, b)| segment(time(h), *b)).collect();
        let placement = Placement::of(nodes, &segments);
        let node = |segment: &ScannedPart| placement.node(app(), segment.times.0);
        let placed = segments.iter().map(node);
        placed.map(|node| node.expect("there are nodes")).collect()
    }

    /// The bytes of each node.
    fn shares(nodes: &[NodeId], hours: &[u64]) -> Vec<u64> {
        let placed = placed(nodes, hours);
        let of = |node: &NodeId| {
            let own = placed.iter().zip(hours).filter(|(at, _)| *at == node);
            own.map(|(_, bytes)| bytes).sum()
        };
        nodes.iter().map(of).collect()
    }

    #[test]
    fn nodes_have_equal_shares() {
        let nodes = [node(1), node(2), node(3)];
        for share in shares(&nodes, &[1; HOURS as usize]) {
            assert!((900..1100).contains(&share), "{share} of {HOURS} hours");
        }
    }

    #[test]
    fn a_node_reads_no_more_than_its_share_of_few_hours() {
        let nodes = [node(1), node(2), node(3)];
        for hours in [3, 6, 24, 48] {
            for share in shares(&nodes, &vec![100; hours]) {
                let due = 100 * hours as u64 / 3;
                let most = due + due / EXCESS;
                assert!(share <= most, "{share} of {hours} hours");
            }
        }
        // One hour is larger than a share.
        assert_eq!(
            shares(&nodes[..2], &[1000, 10, 10, 10]).iter().max(),
            Some(&1000)
        );
        assert!(
            Placement::of(&[], &[segment(0, 1)])
                .node(app(), 0)
                .is_none()
        );
    }

    #[test]
    fn a_node_that_joins_takes_its_share_and_moves_few_other_hours() {
        let hours = [1; HOURS as usize];
        let (before, after) = (
            placed(&[node(1), node(2), node(3)], &hours),
            placed(&[node(1), node(2), node(3), node(4)], &hours),
        );
        let moved: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
        let elsewhere = moved.iter().filter(|(_, to)| **to != node(4)).count();
        assert!(elsewhere < 30, "{elsewhere}");
        assert!((650..850).contains(&moved.len()), "{}", moved.len());
    }

    #[test]
    fn segments_of_an_hour_have_the_same_node() {
        let nodes = [node(1), node(2)];
        let segments = [segment(0, 1), segment(TICKS_PER_HOUR - 1, 1)];
        let placement = Placement::of(&nodes, &segments);
        let first = placement.node(app(), 0);
        assert!(first.is_some());
        assert_eq!(first, placement.node(app(), TICKS_PER_HOUR - 1));
        let elsewhere = placement.node(app(), TICKS_PER_HOUR);
        assert!(elsewhere.is_some_and(|node| nodes.contains(&node)));
    }
    #[test]
    fn the_hours_of_a_unit_have_the_node_that_it_asks_for() {
        let nodes = [node(1), node(2)];
        let unit = |hours: &[i64], bytes, node| Unit {
            hours: hours.iter().map(|hour| (app(), *hour)).collect(),
            bytes,
            node,
        };
        let units = vec![unit(&[1, 2], 10, None), unit(&[3], 10, Some(node(2)))];
        let placement = Placement::of_units(&nodes, units);
        let of = |hour: i64| placement.node(app(), hour * TICKS_PER_HOUR);
        assert_eq!(
            [of(1), of(2), of(3)],
            [Some(node(1)), Some(node(1)), Some(node(2))]
        );
        assert!(placement.is_even(4));
        let units = vec![unit(&[1], 10, Some(node(1))), unit(&[2], 20, None)];
        let placement = Placement::of_units(&nodes, units);
        assert!(!placement.is_even(4));
        assert!(placement.is_even(3));
    }
}
