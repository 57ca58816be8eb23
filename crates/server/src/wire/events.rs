//! Events as JSON: flat columns become the nested objects that were recorded for each type (`docs/api-facts.md §3`).
//!
//! The shapes are not written down here: they are the OData paths of the store's columns.

use std::collections::HashMap;
use std::sync::LazyLock;

use arrow::record_batch::RecordBatch;
use hindsight_engine::{EventsResult, ResultTable};
use hindsight_kql_types::{DynamicRef, dynamic::Kind};
use hindsight_store::Table;

use super::cell::{Cells, DynamicForm};
use super::{json, missing};

/// A property of an event: its key and the column that holds it.
struct Property {
    key: &'static str,
    column: &'static str,
}

/// A nested object of an event.
struct Section {
    name: &'static str,
    properties: Vec<Property>,
}

/// The shape of one type's events.
struct Shape {
    /// Whether the events have `count`.
    counted: bool,
    /// `request`, `trace`, …
    own: Section,
    /// `customDimensions` and `customMeasurements`.
    bags: Vec<&'static str>,
    /// `operation`, `session`, …
    common: Vec<Section>,
}

static SHAPES: LazyLock<HashMap<&'static str, Shape>> = LazyLock::new(|| {
    Table::ALL
        .into_iter()
        .map(|table| (table.item_type(), shape(table)))
        .collect()
});

fn shape(table: Table) -> Shape {
    let mut own = Section {
        name: table.item_type(),
        properties: Vec::new(),
    };
    let mut bags = Vec::new();
    let mut common: Vec<Section> = Vec::new();
    for column in table.columns() {
        let Some(path) = column.odata_path else {
            continue;
        };
        let Some((section, key)) = path.split_once('/') else {
            if path.starts_with("custom") {
                bags.push(column.name);
            }
            continue;
        };
        let property = Property {
            key,
            column: column.name,
        };
        if section == own.name {
            own.properties.push(property);
        } else if let Some(known) = common.iter_mut().find(|known| known.name == section) {
            known.properties.push(property);
        } else {
            common.push(Section {
                name: section,
                properties: vec![property],
            });
        }
    }
    Shape {
        counted: table.column("itemCount").is_some(),
        own,
        bags,
        common,
    }
}

/// The address of the metadata document that a reply names.
pub(crate) struct Context<'a> {
    /// `http://host/v1/apps/{app}/events`, with the app as it was written in the URL.
    pub(crate) base: &'a str,
    /// The event type as it was written.
    pub(crate) event_type: &'a str,
    /// One event by its id.
    pub(crate) single: bool,
}

impl Context<'_> {
    fn address(&self, result: &EventsResult) -> String {
        let Context {
            base,
            event_type,
            single,
        } = self;
        match (*event_type, single) {
            // The properties of what `$apply` makes are those that it made (OData Data Aggregation 4.0 §3.10).
            (name, _) if result.applied => {
                let columns = result.table.columns.iter();
                let names: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
                format!("{base}/$metadata#{name}({})", names.join(","))
            }
            ("$all", _) => format!("{base}/$metadata#Collection(Edm.EntityType)"),
            (name, true) => format!("{base}/{name}/$metadata#{name}"),
            (name, false) => format!("{base}/$metadata#{name}"),
        }
    }
}

/// The envelope with its events.
pub(crate) fn reply(result: &EventsResult, context: &Context<'_>) -> String {
    let mut out = String::with_capacity(256 + result.table.rows() * 1024);
    out.push_str("{\"@odata.context\":");
    json::string(&context.address(result), &mut out);
    if let Some(count) = result.count {
        out.push_str(&format!(",\"@odata.count\":{count}"));
    }
    missing::messages(&result.messages, &result.missing, &mut out);
    out.push_str(",\"value\":[");
    let selection = Selection(result.select.as_deref());
    let mut first = true;
    for batch in &result.table.batches {
        let row = Reader::new(&result.table, batch);
        for index in 0..batch.num_rows() {
            if !first {
                out.push(',');
            }
            first = false;
            if result.applied {
                row.applied(index, &mut out);
            } else {
                row.event(index, selection, &result.computed, &mut out);
            }
        }
    }
    out.push_str("]}");
    out
}

/// `$select`: which paths are shown.
#[derive(Clone, Copy)]
struct Selection<'a>(Option<&'a [String]>);

impl Selection<'_> {
    /// Whether anything at or under a top-level name is shown.
    fn touches(self, name: &str) -> bool {
        self.any(|path| {
            path == name
                || path
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Whether `section/key` is shown.
    fn shows(self, section: &str, key: &str) -> bool {
        self.any(|path| {
            path == section
                || path
                    .strip_prefix(section)
                    .and_then(|rest| rest.strip_prefix('/'))
                    == Some(key)
        })
    }

    fn any(self, test: impl Fn(&str) -> bool) -> bool {
        self.0
            .is_none_or(|paths| paths.iter().any(|path| path == "*" || test(path)))
    }
}

/// A batch's columns by name.
struct Reader<'a> {
    names: Vec<&'a str>,
    cells: Vec<Cells<'a>>,
}

impl<'a> Reader<'a> {
    fn new(table: &'a ResultTable, batch: &'a RecordBatch) -> Reader<'a> {
        let names = table
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let cells = table
            .columns
            .iter()
            .zip(batch.columns())
            .map(|(column, array)| Cells::new(column.kind, array))
            .collect();
        Reader { names, cells }
    }

    fn cell(&self, name: &str) -> Option<&Cells<'a>> {
        let index = self.names.iter().position(|known| *known == name)?;
        self.cells.get(index)
    }

    fn write(&self, column: &str, row: usize, out: &mut String) {
        match self.cell(column) {
            Some(cell) => cell.write(row, DynamicForm::Nested, out),
            None => out.push_str("null"),
        }
    }

    fn text(&self, column: &str, row: usize) -> &'a str {
        self.cell(column).map_or("", |cell| cell.text(row))
    }

    /// A row of `$apply`: paths in column names become nested objects.
    fn applied(&self, row: usize, out: &mut String) {
        let mut sections: Vec<(&str, Vec<(&str, &Cells<'a>)>)> = Vec::new();
        for (name, cell) in self.names.iter().zip(&self.cells) {
            let (section, key) = name.split_once('/').unwrap_or((name, ""));
            match sections.iter_mut().find(|(known, _)| *known == section) {
                Some((_, members)) if !key.is_empty() => members.push((key, cell)),
                _ => sections.push((section, vec![(key, cell)])),
            }
        }
        out.push('{');
        json::list(sections, out, |(name, members), out| {
            json::key(name, out);
            match members.as_slice() {
                [("", cell)] => cell.write(row, DynamicForm::Nested, out),
                members => {
                    out.push('{');
                    json::list(members, out, |(key, cell), out| {
                        json::key(key, out);
                        cell.write(row, DynamicForm::Nested, out);
                    });
                    out.push('}');
                }
            }
        });
        out.push('}');
    }

    fn event(
        &self,
        row: usize,
        selection: Selection<'_>,
        computed: &[(String, String)],
        out: &mut String,
    ) {
        let item_type = self.text("itemType", row);
        let mut object = Object::open(out);
        self.top(&mut object, "id", "itemId", row, selection);
        let shape = SHAPES.get(item_type);
        if shape.is_none_or(|shape| shape.counted) {
            self.top(&mut object, "count", "itemCount", row, selection);
        }
        self.top(&mut object, "type", "itemType", row, selection);
        self.top(&mut object, "timestamp", "timestamp", row, selection);
        if let Some(shape) = shape {
            self.section(&mut object, &shape.own, row, selection);
            self.derived(&mut object, item_type, row, selection);
            for bag in &shape.bags {
                self.bag(&mut object, bag, row, selection);
            }
            for section in &shape.common {
                self.section(&mut object, section, row, selection);
            }
        }
        for (key, column) in computed {
            self.top(&mut object, key, column, row, selection);
        }
        object.close();
    }

    fn top(
        &self,
        object: &mut Object<'_>,
        key: &str,
        column: &str,
        row: usize,
        selection: Selection<'_>,
    ) {
        if selection.touches(key) {
            self.write(column, row, object.value(key));
        }
    }

    fn section(
        &self,
        object: &mut Object<'_>,
        section: &Section,
        row: usize,
        selection: Selection<'_>,
    ) {
        if !selection.touches(section.name) {
            return;
        }
        let mut inner = Object::open(object.value(section.name));
        for property in &section.properties {
            if selection.shows(section.name, property.key) {
                self.write(property.column, row, inner.value(property.key));
            }
        }
        self.derived_properties(&mut inner, section.name, row, selection);
        inner.close();
    }

    /// Properties that are computed and not stored (`schema.json`, extra properties).
    fn derived_properties(
        &self,
        inner: &mut Object<'_>,
        section: &str,
        row: usize,
        selection: Selection<'_>,
    ) {
        match section {
            "browserTiming" => {
                let (host, path) = split_url(self.text("url", row));
                for (key, value) in [("urlPath", path), ("urlHost", host)] {
                    if selection.shows(section, key) {
                        json::string(value, inner.value(key));
                    }
                }
            }
            "performanceCounter" if selection.shows(section, "instanceName") => {
                self.write("instance", row, inner.value("instanceName"));
            }
            _ => {}
        }
    }

    fn derived(
        &self,
        object: &mut Object<'_>,
        item_type: &str,
        row: usize,
        selection: Selection<'_>,
    ) {
        if item_type == "browserTiming" && selection.touches("clientPerformance") {
            let mut inner = Object::open(object.value("clientPerformance"));
            self.write("name", row, inner.value("name"));
            inner.close();
        }
    }

    fn bag(&self, object: &mut Object<'_>, column: &str, row: usize, selection: Selection<'_>) {
        if !selection.touches(column) {
            return;
        }
        let out = object.value(column);
        let bytes = match self.cell(column) {
            Some(Cells::Dynamic(array)) if !arrow::array::Array::is_null(*array, row) => {
                array.value(row)
            }
            _ => return out.push_str("null"),
        };
        let bag = DynamicRef::new(bytes);
        if bag.kind() != Kind::Bag || selection.any(|path| path == column) {
            return bag.write_json(out);
        }
        let mut inner = Object::open(out);
        for (key, value) in bag.iter_bag() {
            if selection.shows(column, key) {
                value.write_json(inner.value(key));
            }
        }
        inner.close();
    }
}

/// Host and path of an address.
fn split_url(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    }
}

/// An object being written.
struct Object<'o> {
    out: &'o mut String,
    empty: bool,
}

impl<'o> Object<'o> {
    fn open(out: &'o mut String) -> Object<'o> {
        out.push('{');
        Object { out, empty: true }
    }

    /// Where the value of the next key goes.
    fn value(&mut self, key: &str) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        json::key(key, self.out);
        self.out
    }

    fn close(self) {
        self.out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        ArrayRef, BinaryViewArray, Float64Array, Int32Array, Int64Array, StringViewArray,
    };
    use hindsight_engine::ResultColumn;
    use hindsight_kql_types::{BagBuilder, ScalarType, datetime};
    use std::sync::Arc;

    /// One row of a table, with the given texts and nothing else but a time.
    fn result(table: Table, texts: &[(&str, &str)], select: Option<&[&str]>) -> EventsResult {
        let text = |name: &str| {
            texts
                .iter()
                .find(|(known, _)| *known == name)
                .map_or("", |(_, text)| *text)
        };
        let mut bag = BagBuilder::new();
        bag.string("plan", "pro");
        bag.string("a b", "1");
        let bag = bag.finish();
        let arrays: Vec<ArrayRef> = table
            .columns()
            .iter()
            .map(|column| -> ArrayRef {
                match column.scalar_type {
                    ScalarType::Int => Arc::new(Int32Array::from(vec![1])),
                    ScalarType::Long => Arc::new(Int64Array::from(vec![1])),
                    ScalarType::Real => Arc::new(Float64Array::from(vec![Some(2.0)])),
                    ScalarType::DateTime => Arc::new(Int64Array::from(vec![
                        datetime::parse("2024-05-06").unwrap(),
                    ])),
                    ScalarType::Dynamic if column.name == "customDimensions" => {
                        Arc::new(BinaryViewArray::from(vec![bag.as_slice()]))
                    }
                    ScalarType::Dynamic => Arc::new(BinaryViewArray::from(vec![None::<&[u8]>])),
                    _ if column.name == "itemType" => {
                        Arc::new(StringViewArray::from(vec![table.item_type()]))
                    }
                    _ => Arc::new(StringViewArray::from(vec![text(column.name)])),
                }
            })
            .collect();
        let columns = table.columns().iter().map(|c| ResultColumn {
            name: c.name.to_owned(),
            kind: c.scalar_type,
        });
        EventsResult {
            missing: vec![],
            messages: vec![("AddedLimitToQuery".to_owned(), "cut".to_owned())],
            count: None,
            table: ResultTable {
                name: String::new(),
                columns: columns.collect(),
                batches: vec![RecordBatch::try_new(table.arrow_schema(), arrays).unwrap()],
            },
            computed: Vec::new(),
            select: select.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()),
            applied: false,
        }
    }

    fn event(table: Table, texts: &[(&str, &str)], select: Option<&[&str]>) -> serde_json::Value {
        let context = Context {
            base: "http://h/v1/apps/a/events",
            event_type: table.name(),
            single: false,
        };
        let text = reply(&result(table, texts, select), &context);
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["value"][0].clone()
    }

    #[test]
    fn every_type_has_its_own_object_and_the_common_ones() {
        for table in Table::ALL {
            let event = event(table, &[], None);
            for section in [
                table.item_type(),
                "operation",
                "session",
                "user",
                "application",
                "client",
                "cloud",
                "ai",
            ] {
                assert!(event[section].is_object(), "{table}: {section} in {event}");
            }
            let counted = !matches!(table, Table::CustomMetrics | Table::PerformanceCounters);
            assert_eq!(event.get("count").is_some(), counted, "{table}");
            assert_eq!(
                event.get("customMeasurements").is_some(),
                counted,
                "{table}"
            );
            assert_eq!(
                event["customDimensions"].to_string(),
                r#"{"plan":"pro","a b":"1"}"#
            );
            assert_eq!(event["timestamp"], "2024-05-06T00:00:00Z");
        }
    }

    #[test]
    fn a_request_has_the_recorded_keys_in_order() {
        let event = event(
            Table::Requests,
            &[("success", "True"), ("itemId", "i"), ("id", "r")],
            None,
        );
        let keys: Vec<_> = event.as_object().unwrap().keys().take(5).cloned().collect();
        assert_eq!(keys, ["id", "count", "type", "timestamp", "request"]);
        assert_eq!(
            (&event["id"], &event["request"]["id"]),
            (&"i".into(), &"r".into())
        );
        assert_eq!(
            (&event["request"]["success"], &event["request"]["duration"]),
            (&"True".into(), &2.into())
        );
    }

    #[test]
    fn computed_properties_are_there() {
        let timing = event(
            Table::BrowserTimings,
            &[("url", "https://shop.example/cart?x=1"), ("name", "Cart")],
            None,
        );
        assert_eq!(timing["browserTiming"]["urlHost"], "shop.example");
        assert_eq!(timing["browserTiming"]["urlPath"], "/cart");
        assert_eq!(timing["clientPerformance"]["name"], "Cart");
        let counter = event(Table::PerformanceCounters, &[("instance", "w3wp")], None);
        assert_eq!(counter["performanceCounter"]["instanceName"], "w3wp");
    }

    #[test]
    fn a_selection_shows_its_paths_only() {
        let select = ["id", "request/name", "customDimensions/plan"];
        let event = event(
            Table::Requests,
            &[("name", "GET /"), ("itemId", "i")],
            Some(&select),
        );
        assert_eq!(
            event.to_string(),
            r#"{"id":"i","request":{"name":"GET /"},"customDimensions":{"plan":"pro"}}"#
        );
    }

    #[test]
    fn the_context_names_the_metadata_as_recorded() {
        let check = |event_type: &str, single: bool, expected: &str| {
            let context = Context {
                base: "B",
                event_type,
                single,
            };
            let mut result = result(Table::Requests, &[], None);
            assert_eq!(context.address(&result), expected);
            result.applied = true;
            result.table.columns.truncate(2);
            let made = format!("B/$metadata#{event_type}(timestamp,id)");
            assert_eq!(context.address(&result), made);
        };
        check("requests", false, "B/$metadata#requests");
        check("requests", true, "B/requests/$metadata#requests");
        check("$all", false, "B/$metadata#Collection(Edm.EntityType)");
    }
}
