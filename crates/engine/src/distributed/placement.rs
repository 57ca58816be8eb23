//! Which node reads a segment.
//!
//! Each hour of an application belongs to the node with the highest hash of both (rendezvous hashing): its caches stay warm, and a node that
//! joins or leaves moves its own share of the hours. A query over few hours would often wait for the node that has most of them, so a node
//! reads of one query at most a little more than its share of the bytes, and the next node by the hash reads the rest: then a change of the nodes moves a few hours more.

use std::cmp::Reverse;
use std::collections::HashMap;

use hindsight_store::{AppId, NodeId, TICKS_PER_HOUR};
use xxhash_rust::xxh64::xxh64;

/// A node reads this part of its share more than its share, at most.
const EXCESS: u64 = 32;

/// Which node reads which hours of a query.
#[derive(Debug)]
pub(super) struct Placement {
    nodes: Vec<NodeId>,
    hours: HashMap<(AppId, i64), NodeId>,
}

impl Placement {
    /// Spreads segments over the nodes: each is an application, its earliest timestamp in ticks, and the bytes that are read of it.
    pub(super) fn of(nodes: &[NodeId], segments: &[(AppId, i64, u64)]) -> Placement {
        let mut hours: HashMap<(AppId, i64), u64> = HashMap::new();
        for (app, time, bytes) in segments {
            *hours.entry((*app, hour_of(*time))).or_default() += bytes;
        }
        let share = hours.values().sum::<u64>() / (nodes.len() as u64).max(1);
        let most = share + share / EXCESS;
        let mut hours: Vec<_> = hours.into_iter().collect();
        // What is left for the end is small.
        hours.sort_unstable_by_key(|(hour, bytes)| (Reverse(*bytes), *hour));
        let mut read: HashMap<NodeId, u64> = nodes.iter().map(|node| (*node, 0)).collect();
        let mut placed = HashMap::with_capacity(hours.len());
        for ((app, hour), bytes) in hours {
            let ranked = ranked(nodes, app, hour);
            let read_by = |node: &NodeId| read.get(node).copied().unwrap_or(0);
            let fits = ranked.iter().find(|node| read_by(node) + bytes <= most);
            let node = fits.or_else(|| ranked.iter().min_by_key(|node| read_by(node)));
            if let Some(node) = node.copied() {
                *read.entry(node).or_default() += bytes;
                placed.insert((app, hour), node);
            }
        }
        Placement {
            nodes: nodes.to_vec(),
            hours: placed,
        }
    }

    /// The node that reads the segments of an application whose earliest row is at `time`, in ticks. Each segment has one, also one that was not
    /// counted.
    pub(super) fn node(&self, app: AppId, time: i64) -> Option<NodeId> {
        let hour = hour_of(time);
        let counted = self.hours.get(&(app, hour)).copied();
        counted.or_else(|| ranked(&self.nodes, app, hour).first().copied())
    }
}

fn hour_of(time: i64) -> i64 {
    time.div_euclid(TICKS_PER_HOUR)
}

/// The nodes in the order in which they are to read an hour.
fn ranked(nodes: &[NodeId], app: AppId, hour: i64) -> Vec<NodeId> {
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

    /// The nodes of hours with these bytes.
    fn placed(nodes: &[NodeId], hours: &[u64]) -> Vec<NodeId> {
        let time = |hour: i64| hour * TICKS_PER_HOUR + 5;
        let numbered = (0..).zip(hours);
        let segments: Vec<_> = numbered.map(|(h, b)| (app(), time(h), *b)).collect();
        let placement = Placement::of(nodes, &segments);
        let node = |(_, at, _): &(AppId, i64, u64)| placement.node(app(), *at);
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
            Placement::of(&[], &[(app(), 0, 1)])
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
        let segments = [(app(), 0, 1), (app(), TICKS_PER_HOUR - 1, 1)];
        let placement = Placement::of(&nodes, &segments);
        let first = placement.node(app(), 0);
        assert!(first.is_some());
        assert_eq!(first, placement.node(app(), TICKS_PER_HOUR - 1));
        let elsewhere = placement.node(app(), TICKS_PER_HOUR);
        assert!(elsewhere.is_some_and(|node| nodes.contains(&node)));
    }
}
