//! Which of the segments that were found are data.
//!
//! The log and the segments hold some rows twice: a merged segment may lie beside its sources, and a sealed one beside the records of
//! the log that it was made of. Two facts decide: files of the log are removed only after the segments of their records are in the
//! catalogue, and segments are merged only if they are in the catalogue. What [`Covers`] says tells whether two segments hold the
//! same rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::doubt::{Doubt, Doubts};
use super::exact_cover::exact_cover;
use crate::app_id::AppId;
use crate::clock::hour_of;
use crate::schema::Table;
use crate::segment::{Covers, Description};

/// A segment's file whose bytes are as they were written, as far as its name says so.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) description: Description,
}

/// The range of sequence numbers that the log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogRange {
    /// The first record; `None` if the files of the log are gone.
    pub(super) first: Option<u64>,
    /// The last record.
    pub(super) last: u64,
}

/// What is data.
#[derive(Debug, Default)]
pub(super) struct Resolved {
    /// The segments to list.
    pub(super) data: Vec<Found>,
    /// Segments whose rows others hold, or the log.
    pub(super) superseded: Vec<Found>,
    /// The last sequence number whose rows are in segments.
    pub(super) position: u64,
}

impl Resolved {
    /// Whether data, or the log, may hold rows of a segment.
    pub(super) fn may_hold(&self, description: &Description) -> bool {
        let extent = Extent::of(description);
        let mut data = self.data.iter().map(|segment| &segment.description);
        description.min_seq > self.position
            || data.any(|of| {
                (of.app, of.table) == (description.app, description.table)
                    && Extent::of(of).overlaps(&extent)
            })
    }
}

/// Decides which segments are data.
pub(super) fn resolve(found: Vec<Found>, log: LogRange, doubts: &mut Doubts) -> Resolved {
    let position = position(&found, log);
    let mut resolved = Resolved {
        position,
        ..Resolved::default()
    };
    let mut tables: BTreeMap<(AppId, Table), Vec<Found>> = BTreeMap::new();
    for segment in found {
        let of = &segment.description;
        if of.min_seq <= position {
            tables.entry((of.app, of.table)).or_default().push(segment);
            continue;
        }
        // A seal that was cut off before its transaction: the log has its rows.
        if of.max_seq > log.last {
            doubts.add(
                Doubt::LogEndsEarly,
                &segment.path,
                format!(
                    "it has rows of record {}, and the log ends with record {}",
                    of.max_seq, log.last
                ),
            );
        }
        resolved.superseded.push(segment);
    }
    for (_, segments) in tables {
        resolve_table(segments, &mut resolved, doubts);
    }
    resolved
}

/// The last sequence number that certainly is in segments that were in the catalogue, with all before it.
fn position(found: &[Found], log: LogRange) -> u64 {
    let of = || found.iter().map(|segment| &segment.description);
    let Some(first) = log.first else {
        return of().map(|segment| segment.max_seq).max().unwrap_or(0);
    };
    let merged = of().filter(|segment| segment.level > 0);
    let merged = merged.map(|segment| segment.max_seq).max().unwrap_or(0);
    let mut position = merged.max(first.saturating_sub(1));
    // A sealed segment with a row of such a record is of a seal that was in the catalogue, and so are all its rows.
    while let Some(further) = of()
        .filter(|segment| segment.min_seq <= position && position < segment.max_seq)
        .map(|segment| segment.max_seq)
        .max()
    {
        position = further;
    }
    position
}

/// Keeps segments of one application's table that hold each row once.
fn resolve_table(segments: Vec<Found>, resolved: &mut Resolved, doubts: &mut Doubts) {
    for group in groups(segments) {
        let kept = pick(&group, doubts);
        for (index, (segment, _)) in group.into_iter().enumerate() {
            if kept.contains(&index) {
                resolved.data.push(segment);
            } else {
                resolved.superseded.push(segment);
            }
        }
    }
}

type Group = Vec<(Found, Extent)>;

/// The segments in groups: those of different groups do not overlap. The preferred ones of a group come first: merged over sealed
/// ones, later over earlier ones.
fn groups(segments: Vec<Found>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for segment in segments {
        let extent = Extent::of(&segment.description);
        let touches = |group: &mut Group| group.iter().any(|(_, other)| other.overlaps(&extent));
        let mut joined: Group = groups.extract_if(.., touches).flatten().collect();
        joined.push((segment, extent));
        groups.push(joined);
    }
    for group in &mut groups {
        group.sort_by_key(|(segment, _)| {
            let of = &segment.description;
            std::cmp::Reverse((of.level, of.max_seq, of.created, segment.path.clone()))
        });
    }
    groups
}

/// The indexes of the segments of a group that are data.
fn pick(group: &Group, doubts: &mut Doubts) -> Vec<usize> {
    let exact = |(_, extent): &'_ (Found, Extent)| match extent {
        Extent::Exact(covers) => Some(covers.clone()),
        Extent::AtMost { .. } => None,
    };
    let covers: Option<Vec<Covers>> = group.iter().map(exact).collect();
    let picked = match covers {
        _ if group.len() == 1 => Some(vec![0]),
        Some(covers) => exact_cover(&covers.iter().collect::<Vec<_>>()),
        None => None,
    };
    picked.unwrap_or_else(|| pick_uncertainly(group, doubts))
}

/// Keeps the preferred ones of segments that overlap, and notes what may be lost with the others.
fn pick_uncertainly(group: &Group, doubts: &mut Doubts) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (index, (segment, extent)) in group.iter().enumerate() {
        let holder = kept
            .iter()
            .filter_map(|kept| group.get(*kept))
            .find(|(_, other)| other.overlaps(extent));
        match holder {
            None => kept.push(index),
            Some((other, whole)) if !whole.contains(extent) => doubts.add(
                Doubt::OverlappingSegments,
                &segment.path,
                format!("it may hold rows of {}", other.path.display()),
            ),
            Some(_) => {}
        }
    }
    kept
}

/// The rows that a segment holds, exactly or at most.
enum Extent {
    Exact(Covers),
    /// A merged segment of before footers said what it covers: hours and sequence numbers from, to.
    AtMost {
        hours: (i64, i64),
        sequence: (u64, u64),
    },
}

impl Extent {
    fn of(description: &Description) -> Extent {
        match &description.covers {
            Some(covers) => Extent::Exact(covers.clone()),
            None => Extent::AtMost {
                hours: (hour_of(description.min_ts), hour_of(description.max_ts)),
                sequence: (description.min_seq, description.max_seq),
            },
        }
    }

    fn overlaps(&self, other: &Extent) -> bool {
        match (self, other) {
            (Extent::Exact(one), Extent::Exact(two)) => one.overlaps(two),
            (Extent::Exact(exact), Extent::AtMost { hours, sequence })
            | (Extent::AtMost { hours, sequence }, Extent::Exact(exact)) => {
                exact.touches(*hours, *sequence)
            }
            (
                Extent::AtMost { hours, sequence },
                Extent::AtMost {
                    hours: more_hours,
                    sequence: more,
                },
            ) => {
                hours.0 <= more_hours.1
                    && more_hours.0 <= hours.1
                    && sequence.0 <= more.1
                    && more.0 <= sequence.1
            }
        }
    }

    /// Whether it certainly holds all rows of `other`.
    fn contains(&self, other: &Extent) -> bool {
        match (self, other) {
            (Extent::Exact(one), Extent::Exact(two)) => one.contains(two),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::clock::TICKS_PER_HOUR;

    /// A sealed segment of an hour with these records.
    fn sealed(name: &str, hour: i64, min: u64, max: u64) -> Found {
        Found {
            path: PathBuf::from(name),
            description: Description {
                store: None,
                app: AppId(Uuid::from_u128(1)),
                table: Table::Requests,
                level: 0,
                rows: 1,
                min_ts: hour * TICKS_PER_HOUR,
                max_ts: hour * TICKS_PER_HOUR + 1,
                min_seq: min,
                max_seq: max,
                created: 0,
                promoted: Vec::new(),
                covers: Some(Covers::of(hour, min, max)),
            },
        }
    }

    fn merged(name: &str, level: u32, sources: &[&Found]) -> Found {
        let of = || sources.iter().map(|source| &source.description);
        let mut covers = Covers::default();
        for source in of() {
            covers.add(source.covers.as_ref().unwrap());
        }
        Found {
            path: PathBuf::from(name),
            description: Description {
                level,
                min_ts: of().map(|source| source.min_ts).min().unwrap(),
                max_ts: of().map(|source| source.max_ts).max().unwrap(),
                min_seq: of().map(|source| source.min_seq).min().unwrap(),
                max_seq: of().map(|source| source.max_seq).max().unwrap(),
                covers: Some(covers),
                ..sources[0].description.clone()
            },
        }
    }

    /// Names of the data, the position, and the doubts.
    fn outcome(found: &[Found], first: Option<u64>, last: u64) -> (Vec<String>, u64, Vec<Doubt>) {
        let mut doubts = Doubts::default();
        let log = LogRange { first, last };
        let resolved = resolve(found.to_vec(), log, &mut doubts);
        let name = |segment: &Found| segment.path.display().to_string();
        let mut names: Vec<String> = resolved.data.iter().map(name).collect();
        names.sort();
        (names, resolved.position, doubts.kinds())
    }

    fn data(names: &[&str], position: u64) -> (Vec<String>, u64, Vec<Doubt>) {
        let names = names.iter().map(|name| (*name).to_owned());
        (names.collect(), position, Vec::new())
    }

    #[test]
    fn sealed_segments_before_the_log_are_data_and_those_that_the_log_has_are_not() {
        let found = [
            sealed("a", 5, 1, 3),
            sealed("b", 5, 4, 6),
            sealed("c", 5, 7, 9),
        ];
        assert_eq!(outcome(&found, Some(7), 9), data(&["a", "b"], 6));
        assert_eq!(outcome(&found, Some(10), 9), data(&["a", "b", "c"], 9));
        assert_eq!(outcome(&found, Some(1), 9), data(&[], 0));
    }

    /// Files of the log are removed in order: what is gone in part was sealed.
    #[test]
    fn a_seal_whose_records_are_gone_in_part_was_in_the_catalogue() {
        let found = [
            sealed("a", 5, 1, 6),
            sealed("b", 6, 2, 9),
            sealed("c", 5, 10, 12),
        ];
        assert_eq!(outcome(&found, Some(4), 12), data(&["a", "b"], 9));
    }

    #[test]
    fn a_merged_segment_supersedes_its_sources_and_shows_what_was_sealed() {
        let (a, b, c) = (
            sealed("a", 5, 1, 3),
            sealed("b", 5, 7, 9),
            sealed("c", 5, 4, 6),
        );
        let m = merged("m", 1, &[&a, &b]);
        let found = [a.clone(), b.clone(), c.clone(), m.clone()];
        assert_eq!(outcome(&found, Some(1), 9), data(&["c", "m"], 9));
        let day = merged("day", 2, &[&m, &c, &sealed("other", 6, 1, 1)]);
        // The sources of a source are superseded although the source itself is gone.
        let found = [a, c, day, sealed("late", 6, 2, 3)];
        assert_eq!(outcome(&found, Some(10), 9), data(&["day", "late"], 9));
    }

    /// A seal that failed after it had written some hours is repeated with the rows that came since.
    #[test]
    fn a_repeated_seal_supersedes_what_the_failed_one_left() {
        let found = [sealed("first", 5, 1, 3), sealed("again", 5, 1, 6)];
        assert_eq!(outcome(&found, Some(7), 6), data(&["again"], 6));
        let m = merged("m", 1, &[&found[1]]);
        let found = [found[0].clone(), m];
        assert_eq!(outcome(&found, Some(7), 6), data(&["m"], 6));
    }

    #[test]
    fn what_overlaps_without_containing_is_a_doubt() {
        let found = [sealed("a", 5, 1, 4), sealed("b", 5, 3, 6)];
        let (names, _, doubts) = outcome(&found, Some(7), 6);
        assert_eq!(
            (names, doubts),
            (vec!["b".to_owned()], vec![Doubt::OverlappingSegments])
        );
        let mut old = merged("old", 1, &[&sealed("x", 5, 1, 3), &sealed("y", 5, 7, 9)]);
        old.description.covers = None;
        let (names, _, doubts) = outcome(&[old.clone(), sealed("c", 5, 4, 6)], Some(10), 9);
        assert_eq!(
            (names, doubts),
            (vec!["old".to_owned()], vec![Doubt::OverlappingSegments])
        );
        let clear = [old, sealed("d", 5, 10, 12), sealed("e", 6, 4, 6)];
        assert_eq!(outcome(&clear, Some(13), 12), data(&["d", "e", "old"], 12));
    }

    #[test]
    fn a_log_that_lacks_records_is_a_doubt() {
        let found = [sealed("a", 5, 1, 3), sealed("b", 5, 4, 6)];
        let (names, position, doubts) = outcome(&found, Some(4), 5);
        assert_eq!(
            (names, position, doubts),
            (vec!["a".to_owned()], 3, vec![Doubt::LogEndsEarly])
        );
        assert_eq!(outcome(&found, None, 0), data(&["a", "b"], 6));
    }

    #[test]
    fn tables_and_applications_are_apart() {
        let mut other = sealed("other", 5, 1, 3);
        other.description.table = Table::Traces;
        let mut foreign = sealed("foreign", 5, 1, 3);
        foreign.description.app = AppId(Uuid::from_u128(2));
        let found = [sealed("a", 5, 1, 3), other, foreign];
        assert_eq!(
            outcome(&found, Some(4), 3),
            data(&["a", "foreign", "other"], 3)
        );
    }

    #[test]
    fn segments_without_covers_overlap_where_hours_and_sequences_do() {
        let extent = |hours, sequence| Extent::AtMost { hours, sequence };
        let one = extent((2, 4), (10, 20));
        for (hours, sequence, overlaps) in [
            ((4, 6), (20, 30), true),
            ((0, 2), (0, 10), true),
            ((5, 6), (10, 20), false),
            ((0, 1), (10, 20), false),
            ((2, 4), (21, 30), false),
            ((2, 4), (0, 9), false),
        ] {
            let other = extent(hours, sequence);
            let found = [one.overlaps(&other), other.overlaps(&one)];
            assert_eq!(found, [overlaps; 2], "{hours:?} {sequence:?}");
        }
    }
}
