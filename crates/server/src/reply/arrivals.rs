//! When telemetry last arrived, by application and table: a reply that was computed before is out of date (`D18`).

use std::collections::HashMap;

use hindsight_store::{AppId, Table};
use parking_lot::RwLock;
use tokio::sync::watch;

/// The tables that a reply has read, of each application.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads(Vec<(AppId, Table)>);

impl Reads {
    /// No telemetry.
    pub(crate) fn nothing() -> Reads {
        Reads::default()
    }

    /// These tables of one application.
    pub(crate) fn tables(app: AppId, tables: impl IntoIterator<Item = Table>) -> Reads {
        Reads(tables.into_iter().map(|table| (app, table)).collect())
    }

    /// The table of this name, or all tables where the name is that of none.
    pub(crate) fn table_or_all(app: AppId, name: &str) -> Reads {
        match Table::from_name(name) {
            Some(table) => Reads::tables(app, [table]),
            None => Reads::tables(app, Table::ALL),
        }
    }
}

impl From<Vec<(AppId, Table)>> for Reads {
    fn from(list: Vec<(AppId, Table)>) -> Reads {
        Reads(list)
    }
}

/// A number for each arrival. The latest number of each table is kept, so the memory does not grow with telemetry.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    numbers: RwLock<Numbers>,
    /// The number of the latest arrival, for those that wait for the next one.
    latest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Numbers {
    count: u64,
    last: HashMap<(AppId, Table), u64>,
    /// The number of the last change of everything that queries see.
    everything: u64,
}

impl Arrivals {
    /// Telemetry of these tables has become visible to queries.
    pub(crate) fn note(&self, app: AppId, tables: impl Iterator<Item = Table>) {
        self.change(|numbers| {
            for table in tables {
                numbers.last.insert((app, table), numbers.count);
            }
        });
    }

    /// What queries see has changed in another way than by an arrival: the clock or all telemetry.
    pub(crate) fn note_everything(&self) {
        self.change(|numbers| numbers.everything = numbers.count);
    }

    fn change(&self, change: impl FnOnce(&mut Numbers)) {
        let mut numbers = self.numbers.write();
        numbers.count += 1;
        change(&mut numbers);
        self.latest.send_replace(numbers.count);
    }

    /// Reports the number of every later arrival.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// The number of the latest arrival.
    pub(crate) fn count(&self) -> u64 {
        self.numbers.read().count
    }

    /// Whether telemetry has arrived at one of the tables after the arrival of this number.
    pub(crate) fn any_since(&self, reads: &Reads, number: u64) -> bool {
        let numbers = self.numbers.read();
        let later = |table| numbers.last.get(table).is_some_and(|last| *last > number);
        numbers.everything > number || reads.0.iter().any(later)
    }
}
