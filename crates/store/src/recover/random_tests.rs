//! Random histories of a store: after the catalogue is lost, segments and log together hold each row exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

use super::doubt::Doubts;
use super::resolve::{Found, LogRange, resolve};
use crate::app_id::AppId;
use crate::clock::TICKS_PER_HOUR;
use crate::schema::Table;
use crate::segment::{Covers, Description};

const HISTORIES: u64 = 20_000;
const STEPS: usize = 40;
const HOURS: i64 = 3;
const TABLES: [Table; 2] = [Table::Requests, Table::Traces];

/// A row: its table, its hour and the record that it came with.
type Row = (Table, i64, u64);

/// A segment with the rows that it holds.
#[derive(Clone)]
struct File {
    found: Found,
    rows: BTreeSet<Row>,
}

/// A store as its files show it.
struct World {
    random: StdRng,
    /// The rows of each record.
    records: BTreeMap<u64, Vec<Row>>,
    /// The first record of each log file.
    log: Vec<u64>,
    next: u64,
    /// The last record that is in a seal that succeeded.
    sealed: u64,
    /// What the catalogue lists.
    data: Vec<File>,
    /// Other files in the folder of segments.
    others: Vec<File>,
    names: u64,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            random: StdRng::seed_from_u64(seed),
            records: BTreeMap::new(),
            log: vec![1],
            next: 1,
            sealed: 0,
            data: Vec::new(),
            others: Vec::new(),
            names: 0,
        }
    }

    fn step(&mut self) {
        match self.random.random_range(0..10) {
            0..4 => self.append(),
            4 => self.rotate(),
            5..7 => self.seal(),
            _ => self.merge(),
        }
    }

    fn append(&mut self) {
        let mut rows = Vec::new();
        for table in TABLES {
            for hour in 0..HOURS {
                if self.random.random_bool(0.3) {
                    rows.push((table, hour, self.next));
                }
            }
        }
        self.records.insert(self.next, rows);
        self.next += 1;
    }

    fn rotate(&mut self) {
        if self.log.last() != Some(&self.next) {
            self.log.push(self.next);
        }
    }

    fn file(
        &mut self,
        level: u32,
        rows: BTreeSet<Row>,
        sequence: (u64, u64),
        covers: Covers,
    ) -> File {
        self.names += 1;
        let hours = || rows.iter().map(|(_, hour, _)| *hour);
        let table = rows.first().unwrap().0;
        let description = Description {
            store: None,
            app: AppId(Uuid::from_u128(1)),
            table,
            level,
            rows: rows.len() as u64,
            min_ts: hours().min().unwrap() * TICKS_PER_HOUR,
            max_ts: hours().max().unwrap() * TICKS_PER_HOUR,
            min_seq: sequence.0,
            max_seq: sequence.1,
            created: self.names as i64,
            promoted: Vec::new(),
            covers: Some(covers),
        };
        let path = PathBuf::from(format!("{:08}", self.names));
        File {
            found: Found { path, description },
            rows,
        }
    }

    /// Writes segments of each table, each of neighbouring hours. It may be cut off before all are written, before the transaction, or
    /// before all files of the log are removed.
    fn seal(&mut self) {
        self.rotate();
        let position = self.next - 1;
        let mut written = Vec::new();
        for table in TABLES {
            let frozen = self.records.range(self.sealed + 1..self.next);
            let rows: Vec<Row> = frozen
                .flat_map(|(_, rows)| rows.iter().filter(|row| row.0 == table))
                .copied()
                .collect();
            let sequences = || rows.iter().map(|(_, _, sequence)| *sequence);
            let (Some(min), Some(max)) = (sequences().min(), sequences().max()) else {
                continue;
            };
            let mut covers = Covers::default();
            let mut of_part = BTreeSet::new();
            for hour in 0..HOURS {
                let before = of_part.len();
                of_part.extend(rows.iter().filter(|row| row.1 == hour).copied());
                if of_part.len() > before {
                    covers.add(&Covers::of(hour, min, max));
                }
                let ends = hour + 1 == HOURS || self.random.random_bool(0.5);
                if ends && !of_part.is_empty() {
                    let (rows, covers) =
                        (std::mem::take(&mut of_part), std::mem::take(&mut covers));
                    written.push(self.file(0, rows, (min, max), covers));
                }
            }
        }
        let fails = self.random.random_bool(0.3);
        if fails {
            let kept = self.random.random_range(0..=written.len());
            written.truncate(kept);
            self.others.extend(written);
            return;
        }
        self.data.extend(written);
        self.sealed = position;
        let removable = self.log.iter().filter(|first| **first <= position).count();
        let removed = self
            .random
            .random_range(0..=removable.min(self.log.len() - 1));
        self.log.drain(..removed);
    }

    /// Merges some segments of an hour or of all hours. The sources, or some of them, may stay.
    fn merge(&mut self) {
        let table = TABLES[self.random.random_range(0..2)];
        let (level, hour) = match self.random.random_range(0..2) {
            0 => (1, Some(self.random.random_range(0..HOURS))),
            _ => (2, None),
        };
        let mut sources = Vec::new();
        let random = &mut self.random;
        self.data.retain(|file| {
            let of = &file.found.description;
            let single = of.min_ts == of.max_ts;
            let fits = of.table == table
                && of.level <= level
                && hour.is_none_or(|hour| single && of.min_ts == hour * TICKS_PER_HOUR);
            let taken = fits && random.random_bool(0.6);
            if taken {
                sources.push(file.clone());
            }
            !taken
        });
        if sources.len() < 2 {
            self.data.append(&mut sources);
            return;
        }
        let mut covers = Covers::default();
        let (mut rows, mut sequence) = (BTreeSet::new(), (u64::MAX, 0));
        for source in &sources {
            let of = &source.found.description;
            covers.add(of.covers.as_ref().unwrap());
            rows.extend(source.rows.iter().copied());
            sequence = (sequence.0.min(of.min_seq), sequence.1.max(of.max_seq));
        }
        let merged = self.file(level, rows, sequence, covers);
        if self.random.random_bool(0.2) {
            // Cut off before the transaction.
            self.others.push(merged);
            self.data.append(&mut sources);
            return;
        }
        self.data.push(merged);
        let random = &mut self.random;
        let left = sources.into_iter().filter(|_| random.random_bool(0.4));
        self.others.extend(left);
    }

    /// Loses the catalogue and compares what the recovery makes of the files with what was stored.
    fn check(&self, seed: u64) {
        let files: Vec<&File> = self.data.iter().chain(&self.others).collect();
        let found = files.iter().map(|file| file.found.clone()).collect();
        let log = LogRange {
            first: self.log.first().copied(),
            last: self.next - 1,
        };
        let mut doubts = Doubts::default();
        let resolved = resolve(found, log, &mut doubts);
        assert!(doubts.is_empty(), "seed {seed}: {doubts:?}");
        assert!(self.log[0] <= resolved.position + 1, "seed {seed}");
        let mut served: Vec<Row> = Vec::new();
        for segment in &resolved.data {
            let file = files.iter().find(|file| file.found.path == segment.path);
            served.extend(&file.unwrap().rows);
        }
        let replayed = self.records.range(resolved.position + 1..);
        served.extend(replayed.flat_map(|(_, rows)| rows));
        served.sort();
        let mut due: Vec<Row> = self.records.values().flatten().copied().collect();
        due.sort();
        assert_eq!(served, due, "seed {seed}, position {}", resolved.position);
    }
}

#[test]
fn random_histories_are_recovered_with_each_row_exactly_once() {
    let mut merged = 0;
    for seed in 0..HISTORIES {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.check(seed);
        merged += usize::from(
            world
                .data
                .iter()
                .any(|file| file.found.description.level > 0),
        );
    }
    assert!(
        merged > HISTORIES as usize / 2,
        "{merged} histories have merges"
    );
}
