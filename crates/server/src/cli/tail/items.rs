//! The items of a reply, and their lines.

use hindsight_kql_types::datetime;
use serde_json::value::RawValue;

use crate::cli::answer::{Answer, text};
use crate::cli::terminal::{Screen, columns, cut, printable};

/// The column with the time of arrival.
pub(super) const ARRIVED: &str = "$arrived";
/// The widest type of an item.
const TYPE_WIDTH: usize = 18;

/// What of an item its line shows, by `itemType`.
const SHOWN: [(&str, &[&str]); 10] = [
    (
        "request",
        &["name", "resultCode", "duration", "cloud_RoleName"],
    ),
    (
        "dependency",
        &[
            "type",
            "target",
            "name",
            "resultCode",
            "duration",
            "cloud_RoleName",
        ],
    ),
    ("exception", &["type", "outerMessage", "cloud_RoleName"]),
    ("trace", &["severityLevel", "message", "cloud_RoleName"]),
    ("customEvent", &["name", "cloud_RoleName"]),
    ("pageView", &["name", "duration", "client_City"]),
    ("availabilityResult", &["name", "location", "message"]),
    ("customMetric", &["name", "value", "cloud_RoleName"]),
    (
        "performanceCounter",
        &["name", "value", "cloud_RoleInstance"],
    ),
    ("browserTiming", &["name", "totalDuration"]),
];
/// The names of severity levels.
const LEVELS: [&str; 5] = ["Verbose", "Information", "Warning", "Error", "Critical"];

/// An item.
pub(super) struct Item<'a> {
    /// Its time of arrival, in ticks.
    pub(super) arrived: i64,
    /// Its `itemId`.
    pub(super) id: String,
    /// The columns in which it has a value.
    cells: Vec<(&'a str, &'a RawValue)>,
}

/// The items of a reply; `None` if it has not their columns.
pub(super) fn read<'a>(answer: &'a Answer<'_>) -> Option<Vec<Item<'a>>> {
    let table = answer.tables.first()?;
    let rows = table.rows.iter();
    let items = rows.map(|row| {
        let names = table.columns.iter().map(|column| column.name.as_str());
        let cells = names.zip(row.iter().copied());
        let filled = cells.filter(|(_, cell)| !matches!(cell.get(), "null" | "\"\""));
        let mut cells: Vec<(&str, &RawValue)> = filled.collect();
        let value = |name: &str| {
            let found = cells.iter().find(|(column, _)| *column == name);
            found.map(|(_, cell)| text(cell))
        };
        let (arrived, id) = (value(ARRIVED)?, value("itemId")?);
        cells.retain(|(column, _)| *column != ARRIVED);
        Some(Item {
            arrived: datetime::parse(&arrived)?,
            id,
            cells,
        })
    });
    items.collect()
}

impl Item<'_> {
    fn value(&self, name: &str) -> Option<String> {
        let found = self.cells.iter().find(|(column, _)| *column == name);
        found.map(|(_, cell)| text(cell))
    }

    /// Appends the item as an object of JSON.
    pub(super) fn write_json(&self, out: &mut String) {
        let members = self.cells.iter().map(|(name, cell)| {
            let name = serde_json::Value::from(*name);
            format!("{name}:{}", cell.get())
        });
        out.push_str(&format!("{{{}}}\n", members.collect::<Vec<_>>().join(",")));
    }

    /// Appends a line for people, as wide as the screen.
    pub(super) fn write_text(&self, screen: Screen, out: &mut String) {
        let time = self.value("timestamp").unwrap_or_default();
        // The date is today's nearly always.
        let time = time.split_once('T').map_or(time.as_str(), |(_, time)| time);
        let time: String = time.trim_end_matches('Z').chars().take(12).collect();
        let kind = self.value("itemType").unwrap_or_default();
        let shown = SHOWN.iter().find(|(name, _)| *name == kind);
        let shown = shown.map_or(&["name"][..], |(_, columns)| columns);
        let values = shown.iter().filter_map(|column| {
            let value = self.value(column)?;
            Some(match *column {
                "severityLevel" => level(&value),
                "duration" | "totalDuration" => format!("{} ms", short(&value)),
                _ => printable(&value),
            })
        });
        let values: Vec<String> = values.collect();
        let padding = " ".repeat(TYPE_WIDTH.saturating_sub(kind.len()));
        let line = format!("{time:<12}  {kind}{padding}  {}", values.join("  "));
        let line = if screen.terminal {
            cut(&line, screen.width.saturating_sub(1))
        } else {
            line
        };
        debug_assert!(!screen.terminal || columns(&line) < screen.width);
        let line = match self.color() {
            Some(color) => screen.painted(color, &line),
            None => line,
        };
        out.push_str(&line);
        out.push('\n');
    }

    /// Red for failures and errors, yellow for warnings.
    fn color(&self) -> Option<&'static str> {
        let level = self
            .value("severityLevel")
            .and_then(|level| level.parse::<u8>().ok());
        let failed = self
            .value("success")
            .is_some_and(|success| matches!(success.as_str(), "False" | "false" | "0"));
        match level {
            _ if failed => Some("31"),
            Some(3..) => Some("31"),
            Some(2) => Some("33"),
            None if self.value("itemType").as_deref() == Some("exception") => Some("31"),
            _ => None,
        }
    }
}

/// The name of a severity level, or its number.
fn level(text: &str) -> String {
    let name = text
        .parse::<usize>()
        .ok()
        .and_then(|level| LEVELS.get(level));
    name.map_or_else(|| printable(text), |name| (*name).to_owned())
}

/// A number of milliseconds with at most one digit after the point.
fn short(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.fract() != 0.0 => format!("{value:.1}"),
        _ => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: &str = r#"{"tables":[{"columns":[{"name":"timestamp","type":"datetime"},{"name":"itemType","type":"string"},{"name":"itemId","type":"string"},
        {"name":"name","type":"string"},{"name":"success","type":"string"},{"name":"resultCode","type":"string"},{"name":"duration","type":"real"},{"name":"url","type":"string"},{"name":"$arrived","type":"datetime"}],
        "rows":[["2026-11-23T06:31:20.0878193Z","request","i1","GET /a\u001b[2J","False","500",12.3456,"","2026-11-23T06:31:21Z"]]}]}"#;

    #[test]
    fn an_item_is_a_line_of_text_or_json() {
        let answer: Answer<'_> = serde_json::from_str(REPLY).unwrap();
        let items = read(&answer).unwrap();
        let item = items.first().unwrap();
        assert_eq!(item.id, "i1");
        let mut screen = Screen {
            width: 200,
            height: 10,
            terminal: true,
            colors: false,
        };
        let mut out = String::new();
        item.write_text(screen, &mut out);
        assert_eq!(
            out,
            "06:31:20.087  request             GET /a [2J  500  12.3 ms\n"
        );
        screen.width = 30;
        screen.colors = true;
        out.clear();
        item.write_text(screen, &mut out);
        assert_eq!(out, "\u{1b}[31m06:31:20.087  request       …\u{1b}[0m\n");
        out.clear();
        item.write_json(&mut out);
        assert!(
            out.starts_with(
                r#"{"timestamp":"2026-11-23T06:31:20.0878193Z","itemType":"request","itemId":"i1""#
            ),
            "{out}"
        );
        assert!(!out.contains("url") && !out.contains("arrived"), "{out}");
    }
}
