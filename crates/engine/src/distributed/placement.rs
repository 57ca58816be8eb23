//! Which node reads a segment, or a slice of one.
//!
//! Each hour of an application belongs to the node with the highest hash of both (rendezvous hashing): its caches stay warm, and a node that
//! joins or leaves moves its own share of the hours. A query over few hours would often wait for the node that has most of them, so a node
//! has of one query at most a little more than its share of the cost, and the next node by the hash reads the rest: then a change of the nodes moves a few hours more.
//! Segments that no node has room for, as those of whole days among which there are few, are cut at times that fill the shares of the nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use hindsight_store::{AppId, NodeId, ScannedPart, TICKS_PER_HOUR, TimeRange};
use xxhash_rust::xxh64::xxh64;

/// A node reads this part of its share more than its share, at most. Less than this part of its share is not cut off for it.
const EXCESS: u64 = 32;

/// It takes as long to open a segment as to read this many of its rows: from a few thousand, where a text is searched, to 40,000, where rows are counted.
const OPENED: u64 = 16_384;

/// What it costs to read a segment, as bytes of rows that are read in the same time.
pub(super) fn cost(segment: &ScannedPart) -> u64 {
    let opened = u128::from(segment.bytes) * u128::from(OPENED) / u128::from(segment.rows.max(1));
    let opened = u64::try_from(opened).unwrap_or(u64::MAX);
    segment.bytes.saturating_add(opened)
}

/// An hour of an application, as the number of the hour.
pub(super) type Hour = (AppId, i64);

/// The hour that a segment belongs to: the one of its earliest row.
pub(super) fn hour_of(app: AppId, time: i64) -> Hour {
    (app, time.div_euclid(TICKS_PER_HOUR))
}

/// Rows that one node reads, unless they are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The hours that the segments of the rows belong to, at least one. The first one chooses the node.
    pub(super) hours: Vec<Hour>,
    /// The times of the rows. Units with an hour in common have no times in common.
    pub(super) times: TimeRange,
    /// What it costs to read them, as the sum of [`cost`].
    pub(super) cost: u64,
    /// The node that has to read them, if not every node may.
    pub(super) node: Option<NodeId>,
}

impl Unit {
    /// The rows before a time, and the others, if there are any. Rows are taken to be spread evenly over the times.
    pub(super) fn cut(self, at: i64) -> (Option<Unit>, Option<Unit>) {
        let TimeRange { from, to } = self.times;
        if at <= from {
            return (None, Some(self));
        }
        if at > to {
            return (Some(self), None);
        }
        let ticks = |from: i64, to: i64| u128::from(to.abs_diff(from)) + 1;
        let before = u128::from(self.cost) * ticks(from, at - 1) / ticks(from, to);
        let before = u64::try_from(before).unwrap_or(self.cost);
        let first = Unit {
            times: TimeRange { from, to: at - 1 },
            cost: before,
            ..self.clone()
        };
        let others = Unit {
            times: TimeRange { from: at, to },
            cost: self.cost - before,
            ..self
        };
        (Some(first), Some(others))
    }

    /// The latest multiple of `step` ticks before which the unit costs at most `cost`.
    fn time_after(&self, cost: u64, step: i64) -> i64 {
        let TimeRange { from, to } = self.times;
        let ticks = i128::from(to) - i128::from(from) + 1;
        let after = i128::from(from) + ticks * i128::from(cost) / i128::from(self.cost.max(1));
        let after = after.div_euclid(i128::from(step)) * i128::from(step);
        i64::try_from(after).unwrap_or(to)
    }
}

/// Which node reads what of a query.
#[derive(Debug)]
pub(super) struct Placement {
    nodes: Vec<NodeId>,
    /// For each hour the nodes that read rows of its segments, by the time from which on they do. The first one reads all before that, too.
    hours: HashMap<Hour, BTreeMap<i64, NodeId>>,
    read: HashMap<NodeId, u64>,
}

impl Placement {
    /// Spreads segments over the nodes by their hours.
    pub(super) fn of(nodes: &[NodeId], segments: &[ScannedPart]) -> Placement {
        let mut units: BTreeMap<Hour, Unit> = BTreeMap::new();
        for segment in segments {
            let hour = hour_of(segment.app, segment.earliest);
            let unit = units.entry(hour).or_insert_with(|| Unit {
                hours: vec![hour],
                times: segment.times,
                cost: 0,
                node: None,
            });
            unit.times.from = unit.times.from.min(segment.times.from);
            unit.times.to = unit.times.to.max(segment.times.to);
            unit.cost += cost(segment);
        }
        Placement::of_units(nodes, units.into_values().collect(), 1)
    }

    /// Spreads units over the nodes. They may be cut at multiples of `step` ticks.
    pub(super) fn of_units(nodes: &[NodeId], mut units: Vec<Unit>, step: i64) -> Placement {
        let all: u64 = units.iter().map(|unit| unit.cost).sum();
        let share = share(all, nodes);
        let mut placement = Placement {
            nodes: nodes.to_vec(),
            hours: HashMap::new(),
            read: nodes.iter().map(|node| (*node, 0)).collect(),
        };
        // What is left for the end is small.
        units.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
        for unit in units {
            placement.place(unit, share, step);
        }
        placement
    }

    /// Places a unit as a whole, or in parts if no node has room for it. The share of a node costs `share`.
    fn place(&mut self, unit: Unit, share: u64, step: i64) {
        let Some(first) = unit.hours.first() else {
            return;
        };
        let ranked = ranked(&self.nodes, *first);
        let most = with_excess(share, EXCESS);
        let mut fits = ranked
            .iter()
            .filter(|node| self.read_by(node) + unit.cost <= most);
        if let Some(node) = unit.node.or_else(|| fits.next().copied()) {
            return self.add(&unit, node);
        }
        let mut rest = unit;
        for node in &ranked {
            let room = share.saturating_sub(self.read_by(node));
            if room <= share / EXCESS {
                continue;
            }
            let at = rest.time_after(room, step);
            let (part, left) = rest.cut(at);
            if let Some(part) = part {
                self.add(&part, *node);
            }
            let Some(left) = left else {
                return;
            };
            rest = left;
        }
        let least = ranked.iter().min_by_key(|node| self.read_by(node));
        if let Some(node) = least.copied() {
            self.add(&rest, node);
        }
    }

    fn add(&mut self, unit: &Unit, node: NodeId) {
        *self.read.entry(node).or_default() += unit.cost;
        for hour in &unit.hours {
            let nodes = self.hours.entry(*hour).or_default();
            nodes.insert(unit.times.from, node);
        }
    }

    fn read_by(&self, node: &NodeId) -> u64 {
        self.read.get(node).copied().unwrap_or(0)
    }

    /// Whether no node reads more than its share and `1/excess` of it.
    pub(super) fn is_even(&self, excess: u64) -> bool {
        let most = with_excess(share(self.read.values().sum(), &self.nodes), excess);
        self.read.values().all(|read| *read <= most)
    }

    /// What a node reads of the segments of an application whose earliest row is at `earliest`, in ticks. Each time is in a slice of one node, also for
    /// segments that were not counted.
    pub(super) fn slices(&self, node: NodeId, app: AppId, earliest: i64) -> Vec<TimeRange> {
        let hour = hour_of(app, earliest);
        let Some(placed) = self.hours.get(&hour) else {
            let is_first = ranked(&self.nodes, hour).first() == Some(&node);
            return is_first.then_some(TimeRange::ALL).into_iter().collect();
        };
        let mut slices: Vec<TimeRange> = Vec::new();
        // The earliest time of the slice that follows.
        let mut until = None;
        for (place, (from, reader)) in placed.iter().enumerate().rev() {
            let from = if place == 0 { i64::MIN } else { *from };
            let to = until.map_or(i64::MAX, |until: i64| until.saturating_sub(1));
            if *reader == node {
                match slices.last_mut() {
                    Some(next) if until == Some(next.from) => next.from = from,
                    _ => slices.push(TimeRange { from, to }),
                }
            }
            until = Some(from);
        }
        slices
    }
}

/// Units with a node come first, and large ones before small ones.
fn order(unit: &Unit) -> (Reverse<bool>, Reverse<u64>, &[Hour], i64) {
    let has_node = Reverse(unit.node.is_some());
    (has_node, Reverse(unit.cost), &unit.hours, unit.times.from)
}

fn share(cost: u64, nodes: &[NodeId]) -> u64 {
    cost / (nodes.len() as u64).max(1)
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
            earliest: time,
            times: TimeRange {
                from: time,
                to: time,
            },
            bytes,
            rows: bytes / 64,
        }
    }

    /// The node that reads all of the segments whose earliest row is at this time.
    fn reader(placement: &Placement, earliest: i64) -> Option<NodeId> {
        let slices = |node: &&NodeId| placement.slices(**node, app(), earliest);
        let mut nodes = placement.nodes.iter();
        nodes.find(|node| slices(node) == [TimeRange::ALL]).copied()
    }

    /// The nodes of hours with these bytes.
    fn placed(nodes: &[NodeId], hours: &[u64]) -> Vec<NodeId> {
        let time = |hour: i64| hour * TICKS_PER_HOUR + 5;
        let numbered = (0..).zip(hours);
        let segments: Vec<_> = numbered.map(|(h, b)| segment(time(h), *b)).collect();
        let placement = Placement::of(nodes, &segments);
        let node = |segment: &ScannedPart| reader(&placement, segment.earliest);
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
        let hours = [1000, 10, 10, 10].map(|size| size << 20);
        assert_eq!(shares(&nodes[..2], &hours).iter().max(), hours.first());
        assert!(reader(&Placement::of(&[], &[segment(0, 1)]), 0).is_none());
    }

    #[test]
    fn a_node_that_opens_many_segments_reads_fewer_bytes() {
        let nodes = [node(1), node(2)];
        let merged = segment(0, 100 << 20);
        let others = (0..100).map(|number| segment(TICKS_PER_HOUR + number, 1 << 19));
        let segments: Vec<ScannedPart> = std::iter::once(merged).chain(others).collect();
        let placement = Placement::of(&nodes, &segments);
        // The hour of 50 MiB in many segments costs more than a share, that of 100 MiB less.
        let slices = |earliest| nodes.map(|node| placement.slices(node, app(), earliest).len());
        assert_eq!(slices(0).iter().sum::<usize>(), 1);
        assert_eq!(slices(TICKS_PER_HOUR), [1, 1]);
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
        let segments = [(0, 1), (TICKS_PER_HOUR - 1, 1), (TICKS_PER_HOUR, 2)];
        let segments = segments.map(|(time, bytes)| segment(time, bytes));
        let placement = Placement::of(&nodes, &segments);
        let first = reader(&placement, 0);
        assert!(first.is_some());
        assert_eq!(first, reader(&placement, TICKS_PER_HOUR - 1));
        assert!(reader(&placement, TICKS_PER_HOUR).is_some());
    }

    /// A unit of whole hours.
    fn unit(hours: &[i64], cost: u64, node: Option<NodeId>) -> Unit {
        let (first, last) = (hours[0], hours[hours.len() - 1]);
        Unit {
            hours: hours.iter().map(|hour| (app(), *hour)).collect(),
            times: TimeRange {
                from: first * TICKS_PER_HOUR,
                to: (last + 1) * TICKS_PER_HOUR - 1,
            },
            cost,
            node,
        }
    }

    #[test]
    fn the_hours_of_a_unit_have_the_node_that_it_asks_for() {
        let nodes = [node(1), node(2)];
        let units = vec![unit(&[1, 2], 10, None), unit(&[3], 10, Some(node(2)))];
        let placement = Placement::of_units(&nodes, units, 1);
        let of = |hour: i64| reader(&placement, hour * TICKS_PER_HOUR);
        assert_eq!(
            [of(1), of(2), of(3)],
            [Some(node(1)), Some(node(1)), Some(node(2))]
        );
        assert!(placement.is_even(4));
        // Bins of two hours cannot be cut.
        let units = vec![unit(&[1], 10, Some(node(1))), unit(&[2, 3], 20, None)];
        let placement = Placement::of_units(&nodes, units, 2 * TICKS_PER_HOUR);
        assert!(!placement.is_even(4));
        assert!(placement.is_even(3));
    }

    #[test]
    fn what_fits_nowhere_is_cut_where_bins_begin() {
        const DAY: i64 = 24 * TICKS_PER_HOUR;
        let day = |day: i64| {
            let hours: Vec<i64> = (day * 24..(day + 1) * 24).collect();
            unit(&hours, 24_000, None)
        };
        let step = TICKS_PER_HOUR / 4;
        for (count, days) in [(2, 1), (2, 7), (3, 7), (3, 2), (5, 3)] {
            let nodes: Vec<NodeId> = (1..=count).map(node).collect();
            let placement = Placement::of_units(&nodes, (0..days).map(day).collect(), step);
            assert!(placement.is_even(16), "{count} nodes, {days} days");
            let mut cut = 0;
            for hour in 0..days * 24 {
                let slices = |node: &NodeId| placement.slices(*node, app(), hour * TICKS_PER_HOUR);
                let mut slices: Vec<TimeRange> = nodes.iter().flat_map(slices).collect();
                slices.sort_by_key(|slice| slice.from);
                // Each time has one node.
                assert_eq!(slices.first().map(|slice| slice.from), Some(i64::MIN));
                assert_eq!(slices.last().map(|slice| slice.to), Some(i64::MAX));
                for pair in slices.windows(2) {
                    assert_eq!(pair[0].to + 1, pair[1].from);
                    assert_eq!(pair[1].from % step, 0);
                    assert_eq!(pair[1].from / DAY, hour / 24);
                }
                cut += usize::from(slices.len() > 1 && hour % 24 == 0);
            }
            assert!((1..count as usize).contains(&cut), "{cut} of {days} days");
        }
    }

    #[test]
    fn the_rows_of_a_slice_are_those_of_one_node() {
        let nodes = [node(1), node(2)];
        let cut = |at: i64| unit(&[0], 100, None).cut(at);
        assert_eq!(cut(0), (None, Some(unit(&[0], 100, None))));
        assert_eq!(cut(TICKS_PER_HOUR), (Some(unit(&[0], 100, None)), None));
        let (Some(before), Some(after)) = cut(TICKS_PER_HOUR / 4) else {
            panic!("there are rows before and after");
        };
        assert_eq!((before.cost, after.cost), (25, 75));
        let of = |unit: Unit, node| Unit {
            node: Some(node),
            ..unit
        };
        let units = vec![of(before, nodes[0]), of(after, nodes[1])];
        let placement = Placement::of_units(&nodes, units, 1);
        let at = TICKS_PER_HOUR / 4;
        let slice = |from, to| vec![TimeRange { from, to }];
        assert_eq!(
            placement.slices(nodes[0], app(), 0),
            slice(i64::MIN, at - 1)
        );
        assert_eq!(placement.slices(nodes[1], app(), 0), slice(at, i64::MAX));
    }
}
