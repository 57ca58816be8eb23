//! The ten tables of telemetry: names, columns and their Arrow form.
//!
//! This module is the only place that knows which columns a table has.

mod availability_results;
mod browser_timings;
mod column;
mod common;
mod custom_events;
mod custom_metrics;
mod dependencies;
mod exceptions;
mod page_views;
mod performance_counters;
mod requests;
mod traces;

use std::sync::LazyLock;

use arrow::datatypes::{Field, Schema, SchemaRef};
use hindsight_kql_types::ScalarType;

pub use column::Column;

/// The column that every table is sorted and pruned by.
pub const TIMESTAMP: &str = "timestamp";

/// The field of stored rows that has the time at which the store received them, in ticks. It is no column of a table, and null in
/// rows that an earlier version received. `ingestion_time()` of a query reads it.
pub const INGESTION_TIME: &str = "$IngestionTime";

/// A table of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// `requests`: operations that the application served.
    Requests,
    /// `traces`: log messages.
    Traces,
    /// `dependencies`: calls that the application made.
    Dependencies,
    /// `exceptions`: failures with their stacks.
    Exceptions,
    /// `customEvents`: events that the application's author defined.
    CustomEvents,
    /// `pageViews`: pages that browsers showed.
    PageViews,
    /// `browserTimings`: how long browsers took for a page.
    BrowserTimings,
    /// `availabilityResults`: results of availability tests.
    AvailabilityResults,
    /// `performanceCounters`: counters of the machine and the process.
    PerformanceCounters,
    /// `customMetrics`: pre-aggregated and single measurements.
    CustomMetrics,
}

/// What is fixed for a table, beside its columns.
struct Facts {
    name: &'static str,
    item_type: &'static str,
    workspace_table: &'static str,
    groups: &'static [&'static [Column]],
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 10] = [
        Table::Requests,
        Table::Traces,
        Table::Dependencies,
        Table::Exceptions,
        Table::CustomEvents,
        Table::PageViews,
        Table::BrowserTimings,
        Table::AvailabilityResults,
        Table::PerformanceCounters,
        Table::CustomMetrics,
    ];

    const fn facts(self) -> Facts {
        let (name, item_type, workspace_table, groups) = match self {
            Table::Requests => ("requests", "request", "AppRequests", requests::GROUPS),
            Table::Traces => ("traces", "trace", "AppTraces", traces::GROUPS),
            Table::Dependencies => (
                "dependencies",
                "dependency",
                "AppDependencies",
                dependencies::GROUPS,
            ),
            Table::Exceptions => (
                "exceptions",
                "exception",
                "AppExceptions",
                exceptions::GROUPS,
            ),
            Table::CustomEvents => (
                "customEvents",
                "customEvent",
                "AppEvents",
                custom_events::GROUPS,
            ),
            Table::PageViews => ("pageViews", "pageView", "AppPageViews", page_views::GROUPS),
            Table::BrowserTimings => (
                "browserTimings",
                "browserTiming",
                "AppBrowserTimings",
                browser_timings::GROUPS,
            ),
            Table::AvailabilityResults => (
                "availabilityResults",
                "availabilityResult",
                "AppAvailabilityResults",
                availability_results::GROUPS,
            ),
            Table::PerformanceCounters => (
                "performanceCounters",
                "performanceCounter",
                "AppPerformanceCounters",
                performance_counters::GROUPS,
            ),
            Table::CustomMetrics => (
                "customMetrics",
                "customMetric",
                "AppMetrics",
                custom_metrics::GROUPS,
            ),
        };
        Facts {
            name,
            item_type,
            workspace_table,
            groups,
        }
    }

    /// The table's name in queries and in the events API, such as `customEvents`.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The value of the `itemType` column, such as `customEvent`.
    pub const fn item_type(self) -> &'static str {
        self.facts().item_type
    }

    /// The name of the table's workspace form, such as `AppEvents`.
    pub const fn workspace_table(self) -> &'static str {
        self.facts().workspace_table
    }

    /// The table with this exact name in queries.
    pub fn from_name(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The table with this exact workspace name.
    pub fn from_workspace_table(name: &str) -> Option<Table> {
        Table::ALL
            .into_iter()
            .find(|table| table.workspace_table() == name)
    }

    /// The columns, in the order of the service.
    pub fn columns(self) -> &'static [Column] {
        &self.shape().columns
    }

    /// The column of this name.
    pub fn column(self, name: &str) -> Option<&'static Column> {
        self.columns().iter().find(|column| column.name == name)
    }

    /// The Arrow schema of the columns. All fields are nullable.
    pub fn arrow_schema(self) -> SchemaRef {
        self.shape().schema.clone()
    }

    /// The Arrow schema of stored rows: the columns, then [`INGESTION_TIME`].
    pub fn stored_schema(self) -> SchemaRef {
        self.shape().stored.clone()
    }

    /// The table's place in [`Table::ALL`].
    const fn index(self) -> usize {
        self as usize
    }

    fn shape(self) -> &'static Shape {
        static SHAPES: LazyLock<[Shape; 10]> = LazyLock::new(|| Table::ALL.map(Shape::of));
        #[expect(
            clippy::indexing_slicing,
            reason = "a table's index is its place among all tables"
        )]
        &SHAPES[self.index()]
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A table's columns laid flat, made once.
struct Shape {
    columns: Vec<Column>,
    schema: SchemaRef,
    stored: SchemaRef,
}

impl Shape {
    fn of(table: Table) -> Shape {
        let columns: Vec<Column> = table.facts().groups.concat();
        let fields: Vec<Field> = columns
            .iter()
            .map(|column| Field::new(column.name, column.scalar_type.arrow(), true))
            .collect();
        let received = Field::new(INGESTION_TIME, ScalarType::DateTime.arrow(), true);
        let stored = fields.iter().cloned().chain([received]).collect::<Vec<_>>();
        Shape {
            columns,
            stored: Schema::new(stored).into(),
            schema: Schema::new(fields).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_by_both_names_and_lie_at_their_index() {
        for (index, table) in Table::ALL.into_iter().enumerate() {
            assert_eq!(table.index(), index);
            assert_eq!(Table::from_name(table.name()), Some(table));
            assert_eq!(
                Table::from_workspace_table(table.workspace_table()),
                Some(table)
            );
        }
        assert_eq!(Table::from_name("nothing"), None);
    }

    #[test]
    fn every_table_starts_with_its_timestamp_and_ends_with_the_resource() {
        for table in Table::ALL {
            let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
            assert_eq!(names.first(), Some(&TIMESTAMP), "{table}");
            assert_eq!(names.last(), Some(&"_ResourceId"), "{table}");
            let mut unique = names.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), names.len(), "{table} repeats a column");
        }
    }

    #[test]
    fn stored_rows_have_the_columns_and_the_time_of_ingestion() {
        for table in Table::ALL {
            let (schema, stored) = (table.arrow_schema(), table.stored_schema());
            let own = schema.fields().len();
            assert_eq!(stored.fields()[..own], schema.fields()[..]);
            assert_eq!(stored.fields().len(), own + 1);
            assert_eq!(stored.field(own).name(), INGESTION_TIME);
            assert_eq!(table.column(INGESTION_TIME), None);
        }
    }

    #[test]
    fn metrics_and_counters_have_no_item_count() {
        let without: Vec<_> = Table::ALL
            .into_iter()
            .filter(|table| table.column("itemCount").is_none())
            .collect();
        assert_eq!(without, [Table::PerformanceCounters, Table::CustomMetrics]);
    }
}
