//! Which node reads a segment.
//!
//! Each hour of an application belongs to the node with the highest hash of both (rendezvous hashing): its caches stay warm, and a node that
//! joins or leaves moves its own share of the hours alone.

use hindsight_store::{AppId, NodeId, TICKS_PER_HOUR};
use xxhash_rust::xxh64::xxh64;

/// Of these nodes the one that reads the segments of an application whose earliest row is at `time`, in ticks.
pub(super) fn place(nodes: &[NodeId], app: AppId, time: i64) -> Option<NodeId> {
    let hour = time.div_euclid(TICKS_PER_HOUR);
    let score = |node: &NodeId| {
        let key = format!("{node} {app} {hour}");
        (xxh64(key.as_bytes(), 0), *node)
    };
    nodes.iter().copied().max_by_key(score)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

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

    fn placed(nodes: &[NodeId]) -> Vec<NodeId> {
        let hours = (0..HOURS).map(|hour| place(nodes, app(), hour * TICKS_PER_HOUR + 5));
        hours.map(|node| node.expect("there are nodes")).collect()
    }

    #[test]
    fn nodes_have_equal_shares() {
        let nodes = [node(1), node(2), node(3)];
        let mut hours: HashMap<NodeId, i64> = HashMap::new();
        for node in placed(&nodes) {
            *hours.entry(node).or_default() += 1;
        }
        for node in nodes {
            let share = hours.get(&node).copied().unwrap_or(0);
            assert!((900..1100).contains(&share), "{share} of {HOURS} hours");
        }
    }

    #[test]
    fn a_node_that_joins_takes_its_share_and_moves_no_other_hour() {
        let (before, after) = (
            placed(&[node(1), node(2), node(3)]),
            placed(&[node(1), node(2), node(3), node(4)]),
        );
        let moved: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
        assert!(moved.iter().all(|(_, to)| **to == node(4)));
        assert!((650..850).contains(&moved.len()), "{}", moved.len());
    }

    #[test]
    fn segments_of_an_hour_have_the_same_node() {
        let nodes = [node(1), node(2)];
        let first = place(&nodes, app(), 0);
        assert_eq!(first, place(&nodes, app(), TICKS_PER_HOUR - 1));
        assert_eq!(place(&[], app(), 0), None);
    }
}
