//! An engine over a real store in a folder of its own, and items from short rows.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Float64Array, Int32Array, Int64Array,
    StringViewArray,
};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use hindsight_engine::{
    Access, Caller, EngineConfig, EngineError, EventsParameters, EventsResult, MetricBody,
    MetricParameters, MetricResult, MetricSegment, QueryEngine, QueryOptions, QueryRequest,
    QueryResult, ResultTable,
};
use hindsight_kql_types::{Dynamic, ScalarType, Value, datetime};
use hindsight_store::{
    AppId, AppendRequest, Clock, NewApplication, Store, StoreConfig, SystemClock, Table,
};

/// The day of every item.
const DAY: &str = "2025-03-06";
/// What the clock of the tests says.
pub(crate) const NOW: &str = "2025-03-06T12:00:00Z";

/// A clock whose time of day stands still.
#[derive(Debug)]
struct TestClock {
    now: i64,
    running: SystemClock,
}

impl Clock for TestClock {
    fn now_ticks(&self) -> i64 {
        self.now
    }

    fn elapsed(&self) -> Duration {
        self.running.elapsed()
    }
}

/// One value of a row: what it becomes depends on its column.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// A text, a time of day, or a bag as JSON.
    Text(&'static str),
    /// A number.
    Number(f64),
}

impl From<&'static str> for Cell {
    fn from(text: &'static str) -> Cell {
        Cell::Text(text)
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Cell {
        Cell::Number(f64::from(number))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

/// An item: columns by name.
pub(crate) type Row = Vec<(&'static str, Cell)>;

/// `row!["10:05", name: "GET /", duration: 12.5]`: an item of that time of the day.
macro_rules! row {
    [$at:expr $(, $name:ident : $value:expr)* $(,)?] => {
        vec![
            ("timestamp", $crate::support::Cell::from($at)),
            $((stringify!($name).trim_start_matches("r#"), $crate::support::Cell::from($value))),*
        ]
    };
}
pub(crate) use row;

/// 100 ns ticks of a time of [`DAY`] such as `10:05`, or of a full date and time.
pub(crate) fn at(text: &str) -> i64 {
    let full = if text.contains('T') {
        text.to_owned()
    } else if text.len() == 5 {
        format!("{DAY}T{text}:00Z")
    } else {
        format!("{DAY}T{text}Z")
    };
    datetime::parse(&full).unwrap()
}

/// The items as the store takes them. `itemType`, `itemCount` (1) and `itemId` (`traces-0`, …) are added.
pub(crate) fn batch(table: Table, rows: &[Row]) -> RecordBatch {
    let mut columns: Vec<ArrayRef> = Vec::new();
    for column in table.columns() {
        let cells: Vec<Option<Cell>> = rows
            .iter()
            .map(|row| {
                let given = row.iter().find(|(name, _)| *name == column.name);
                match (given, column.name) {
                    (Some((_, cell)), _) => Some(cell.clone()),
                    (None, "itemCount") => Some(Cell::Number(1.0)),
                    (None, "itemType") => Some(Cell::Text(table.item_type())),
                    (None, _) => None,
                }
            })
            .collect();
        columns.push(match column.name {
            "itemId" => ids(table, &cells),
            _ => array(column.scalar_type, &cells),
        });
    }
    for row in rows {
        for (name, _) in row {
            assert!(table.column(name).is_some(), "{table} has no column {name}");
        }
    }
    RecordBatch::try_new(table.arrow_schema(), columns).unwrap()
}

fn ids(table: Table, cells: &[Option<Cell>]) -> ArrayRef {
    let id = |(i, cell): (usize, &Option<Cell>)| match cell {
        Some(Cell::Text(text)) => (*text).to_owned(),
        _ => format!("{table}-{i}"),
    };
    let ids: Vec<String> = cells.iter().enumerate().map(id).collect();
    Arc::new(StringViewArray::from_iter_values(ids))
}

fn array(kind: ScalarType, cells: &[Option<Cell>]) -> ArrayRef {
    let number = |cell: &Option<Cell>| match cell {
        Some(Cell::Number(n)) => Some(*n),
        Some(Cell::Text(t)) => panic!("'{t}' is not a number"),
        None => None,
    };
    let text = |cell: &Option<Cell>| match cell {
        Some(Cell::Text(t)) => Some(*t),
        Some(Cell::Number(n)) => panic!("{n} is not a text"),
        None => None,
    };
    match kind {
        ScalarType::String => Arc::new(
            cells
                .iter()
                .map(|c| Some(text(c).unwrap_or_default()))
                .collect::<StringViewArray>(),
        ),
        ScalarType::DateTime => Arc::new(
            cells
                .iter()
                .map(|c| text(c).map(at))
                .collect::<Int64Array>(),
        ),
        ScalarType::Real => Arc::new(cells.iter().map(number).collect::<Float64Array>()),
        ScalarType::Int => Arc::new(
            cells
                .iter()
                .map(|c| number(c).map(|n| n as i32))
                .collect::<Int32Array>(),
        ),
        ScalarType::Bool => Arc::new(
            cells
                .iter()
                .map(|c| number(c).map(|n| n != 0.0))
                .collect::<BooleanArray>(),
        ),
        ScalarType::Dynamic => Arc::new(
            cells
                .iter()
                .map(|c| text(c).map(|json| Dynamic::from_json(json).unwrap().encode()))
                .collect::<BinaryViewArray>(),
        ),
        other => panic!("no column is {other:?}"),
    }
}

/// An engine and its store.
pub(crate) struct Fixture {
    pub(crate) engine: Arc<QueryEngine>,
    pub(crate) store: Arc<Store>,
    /// The application `shop`.
    pub(crate) shop: AppId,
    /// The application `bank`.
    pub(crate) bank: AppId,
    _folder: tempfile::TempDir,
}

fn app(number: u8) -> AppId {
    format!("00000000-0000-4000-8000-0000000000{number:02}")
        .parse()
        .unwrap()
}

impl Fixture {
    /// An engine with the default settings.
    pub(crate) async fn new() -> Fixture {
        Fixture::with(|_| ()).await
    }

    /// An engine whose settings `change` has changed.
    pub(crate) async fn with(change: impl FnOnce(&mut EngineConfig)) -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock {
            now: at(NOW),
            running: SystemClock::default(),
        });
        let store = Store::open(StoreConfig {
            background: false,
            clock: clock.clone(),
            ..StoreConfig::new(folder.path())
        })
        .await
        .unwrap();
        let (shop, bank) = (app(1), app(2));
        for (id, name) in [(shop, "shop"), (bank, "bank")] {
            let new = NewApplication {
                id,
                name: name.to_owned(),
                instrumentation_key: id.0,
                created: at("00:00"),
            };
            store.catalogue().create_app(new).await.unwrap();
        }
        let mut config = EngineConfig {
            partitions: 2,
            ..EngineConfig::default()
        };
        change(&mut config);
        let engine = QueryEngine::new(store.clone(), config, clock).unwrap();
        Fixture {
            engine,
            store,
            shop,
            bank,
            _folder: folder,
        }
    }

    /// Stores items of the shop.
    pub(crate) async fn put(&self, table: Table, rows: &[Row]) {
        self.put_for(self.shop, table, rows).await;
    }

    /// Stores items of an application.
    pub(crate) async fn put_for(&self, app: AppId, table: Table, rows: &[Row]) {
        let batches = vec![(table, batch(table, rows))];
        self.store
            .append(AppendRequest { app, batches })
            .await
            .unwrap();
    }

    /// Somebody who may see everything and asks for the shop.
    pub(crate) fn everyone(&self) -> Caller {
        Caller {
            principal: "someone".into(),
            sender: None,
            endpoint: None,
            wait: None,
            access: Access::All,
            app: self.shop,
        }
    }

    /// Somebody who may see the shop alone.
    pub(crate) fn shopkeeper(&self) -> Caller {
        Caller {
            principal: "someone".into(),
            sender: None,
            endpoint: None,
            wait: None,
            access: Access::Only(vec![self.shop]),
            app: self.shop,
        }
    }

    /// A query over the shop without further parameters.
    pub(crate) fn request(&self, query: &str) -> QueryRequest {
        QueryRequest {
            caller: self.everyone(),
            query: query.into(),
            timespans: Vec::new(),
            applications: Vec::new(),
            workspace_names: false,
            options: QueryOptions::default(),
        }
    }

    /// Runs a request.
    pub(crate) async fn run(
        &self,
        request: &QueryRequest,
    ) -> Result<Arc<QueryResult>, EngineError> {
        self.engine.query(request).await.map(Arc::new)
    }

    /// The rows of a request's first table as text.
    pub(crate) async fn rows_of(&self, request: &QueryRequest) -> Vec<String> {
        match self.run(request).await {
            Ok(result) => rows(&result.tables[0]),
            Err(error) => vec![format!("{error:?}")],
        }
    }

    /// The rows of a query's first table as text.
    pub(crate) async fn rows(&self, query: &str) -> Vec<String> {
        self.rows_of(&self.request(query)).await
    }

    /// Computes a metric.
    pub(crate) async fn metric(
        &self,
        parameters: &MetricParameters,
    ) -> Result<Arc<MetricResult>, EngineError> {
        let result = self.engine.metric(&self.everyone(), parameters).await;
        result.map(Arc::new)
    }

    /// The body of a metric as text, or its error.
    pub(crate) async fn metric_text(&self, parameters: &MetricParameters) -> String {
        match self.metric(parameters).await {
            Ok(result) => body(&result),
            Err(error) => error.to_string(),
        }
    }

    /// Finds events.
    pub(crate) async fn events(
        &self,
        parameters: &EventsParameters,
    ) -> Result<Arc<EventsResult>, EngineError> {
        let result = self.engine.events(&self.everyone(), parameters).await;
        result.map(Arc::new)
    }
}

/// The rows of a table, their values parted by bars.
pub(crate) fn rows(table: &ResultTable) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in &table.batches {
        for i in 0..batch.num_rows() {
            let cells: Vec<String> = table
                .columns
                .iter()
                .zip(batch.columns())
                .map(|(column, array)| value(column.kind, array, i).to_text())
                .collect();
            rows.push(cells.join("|"));
        }
    }
    rows
}

/// The texts of a column.
pub(crate) fn column(table: &ResultTable, name: &str) -> Vec<String> {
    let place = table.columns.iter().position(|c| c.name == name);
    let place = place.unwrap_or_else(|| panic!("there is no column {name}"));
    let kind = table.columns[place].kind;
    let texts = |batch: &RecordBatch| {
        let array = batch.column(place).clone();
        (0..batch.num_rows())
            .map(|i| value(kind, &array, i).to_text())
            .collect::<Vec<_>>()
    };
    table.batches.iter().flat_map(texts).collect()
}

fn value(kind: ScalarType, array: &ArrayRef, i: usize) -> Value {
    if array.is_null(i) {
        return Value::null(kind);
    }
    match kind {
        ScalarType::Bool => Value::Bool(array.as_boolean().value(i)),
        ScalarType::Int => Value::Int(array.as_primitive::<Int32Type>().value(i)),
        ScalarType::Long => Value::Long(array.as_primitive::<Int64Type>().value(i)),
        ScalarType::Real => Value::Real(array.as_primitive::<Float64Type>().value(i)),
        ScalarType::String => Value::String(array.as_string_view().value(i).to_owned()),
        ScalarType::DateTime => Value::DateTime(array.as_primitive::<Int64Type>().value(i)),
        ScalarType::TimeSpan => Value::TimeSpan(array.as_primitive::<Int64Type>().value(i)),
        ScalarType::Dynamic => Value::Dynamic(array.as_binary_view().value(i).to_vec()),
        other => panic!("{other:?} is not read by these tests"),
    }
}

/// `2025-03-06T10:05:00Z` as `10:05`, with seconds where there are some.
pub(crate) fn clock_text(ticks: i64) -> String {
    let text = Value::DateTime(ticks).to_text();
    let time = text.split('T').nth(1).unwrap_or(&text);
    let time = time
        .trim_end_matches('Z')
        .trim_end_matches('0')
        .trim_end_matches('.');
    let whole = if time.len() < 8 { &text[11..19] } else { time };
    whole.strip_suffix(":00").unwrap_or(whole).to_owned()
}

/// A metric's values as text: `avg=1.5 max=-`, `name=a[sum=3], name=b[sum=1]`, `10:00-11:00{sum=3}`.
pub(crate) fn body(result: &MetricResult) -> String {
    let values = |list: &[Option<f64>]| {
        let one = |(name, value): (&String, &Option<f64>)| {
            format!("{name}={}", value.map_or("-".to_owned(), |v| v.to_string()))
        };
        let all: Vec<String> = result.aggregations.iter().zip(list).map(one).collect();
        all.join(" ")
    };
    match &result.body {
        MetricBody::Values(list) => values(list),
        MetricBody::Segments(list) => segments(list, &values),
        MetricBody::Buckets(buckets) => {
            let all: Vec<String> = buckets
                .iter()
                .map(|bucket| {
                    let inner = bucket
                        .values
                        .as_ref()
                        .map_or_else(|| segments(&bucket.segments, &values), |v| values(v));
                    let (start, end) =
                        (clock_text(bucket.range.start), clock_text(bucket.range.end));
                    format!("{start}-{end}{{{inner}}}")
                })
                .collect();
            all.join(" ")
        }
    }
}

fn segments(list: &[MetricSegment], values: &dyn Fn(&[Option<f64>]) -> String) -> String {
    let one = |segment: &MetricSegment| {
        let inner = segment
            .values
            .as_ref()
            .map_or_else(|| segments(&segment.segments, values), |v| values(v));
        let value = match &segment.value {
            Value::Bool(flag) => format!("{flag:?}"),
            Value::Null(_) => "null".to_owned(),
            other => other.to_text(),
        };
        format!("{}={value}[{inner}]", segment.dimension)
    };
    let all: Vec<String> = list.iter().map(one).collect();
    all.join(", ")
}
