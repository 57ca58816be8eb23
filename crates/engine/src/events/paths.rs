//! The property paths of events and the columns behind them.

use hindsight_kql_syntax::ast::{BinaryOp, Expr, Literal};
use hindsight_kql_syntax::suggest;
use hindsight_kql_types::ScalarType;
use hindsight_store::{Column, Table};

use super::source::Source;
use crate::odata::{Fault, Kind, Resolved};

const DIMENSIONS: &str = "customDimensions";
const MEASUREMENTS: &str = "customMeasurements";

/// Paths that the API shows beside those of the columns: the table, the path, the column and the part of its URL.
const DERIVED: &[(Table, &str, &str, Option<&str>)] = &[
    (
        Table::BrowserTimings,
        "browserTiming/urlPath",
        "url",
        Some("Path"),
    ),
    (
        Table::BrowserTimings,
        "browserTiming/urlHost",
        "url",
        Some("Host"),
    ),
    (
        Table::BrowserTimings,
        "clientPerformance/name",
        "name",
        None,
    ),
    (
        Table::PerformanceCounters,
        "performanceCounter/instanceName",
        "instance",
        None,
    ),
];

/// The KQL of a path in rows of `source`. A property that only other event types have is absent: null or empty.
pub(super) fn resolve(source: Source, path: &str) -> Result<Resolved, String> {
    if let Some(k) = path.strip_prefix("customDimensions/") {
        return Ok(Resolved {
            expr: Expr::call("tostring", vec![Expr::key(Expr::name(DIMENSIONS), k)]),
            kind: Kind::Loose,
        });
    }
    if let Some(k) = path.strip_prefix("customMeasurements/") {
        let present = source
            .columns()
            .iter()
            .any(|column| column.name == MEASUREMENTS);
        let value = Expr::call("todouble", vec![Expr::key(Expr::name(MEASUREMENTS), k)]);
        return Ok(Resolved {
            expr: if present {
                value
            } else {
                absent(ScalarType::Real)
            },
            kind: Kind::Number,
        });
    }
    if let Some((table, _, column, part)) =
        DERIVED.iter().find(|(_, derived, _, _)| *derived == path)
    {
        let value = match part {
            Some(part) => Expr::call(
                "tostring",
                vec![Expr::key(
                    Expr::call("parse_url", vec![Expr::name(*column)]),
                    part,
                )],
            ),
            None => Expr::name(*column),
        };
        return Ok(Resolved {
            expr: owned(source, *table, value, ScalarType::String),
            kind: Kind::Text,
        });
    }
    let owners: Vec<(Table, &Column)> = owners(path);
    let Some((table, column)) = owners.first() else {
        return Err(unknown(source, path));
    };
    let kind = match column.name {
        "success" => Kind::Flag,
        "details" => Kind::List,
        _ => Kind::of(column.scalar_type),
    };
    // A path of several tables means the same column in each of them; a path of one belongs to its event type.
    let expr = match owners.len() {
        1 => owned(source, *table, Expr::name(column.name), column.scalar_type),
        _ if source
            .tables()
            .iter()
            .any(|t| owners.iter().any(|(owner, _)| owner == t)) =>
        {
            Expr::name(column.name)
        }
        _ => absent(column.scalar_type),
    };
    Ok(Resolved { expr, kind })
}

/// `$select` takes paths, and groups of them such as `request` or `operation`.
pub(super) fn check_selected(source: Source, path: &str, at: usize) -> Result<(), Fault> {
    let group = format!("{path}/");
    let is_group = known_paths(&Table::ALL)
        .iter()
        .any(|known| known.starts_with(&group));
    if is_group {
        Ok(())
    } else {
        resolve(source, path)
            .map(drop)
            .map_err(|message| Fault::new(at, message))
    }
}

/// Whether only events of other types than that of `source` have the property.
pub(super) fn is_of_others(source: Source, path: &str) -> bool {
    let Source::One(own) = source else {
        return false;
    };
    let derived = DERIVED.iter().filter(|(_, known, ..)| *known == path);
    let mut owners = owners(path)
        .into_iter()
        .map(|(table, _)| table)
        .chain(derived.map(|(table, ..)| *table))
        .peekable();
    owners.peek().is_some() && owners.all(|table| table != own)
}

fn owners(path: &str) -> Vec<(Table, &'static Column)> {
    let column = |table: Table| {
        table
            .columns()
            .iter()
            .find(|column| column.odata_path == Some(path))
    };
    Table::ALL
        .into_iter()
        .filter_map(|table| column(table).map(|column| (table, column)))
        .collect()
}

/// The value in rows of its own table; absent in all others, which may have a column of the same name.
fn owned(source: Source, table: Table, value: Expr, kind: ScalarType) -> Expr {
    match source {
        Source::One(this) if this == table => value,
        Source::One(_) => absent(kind),
        Source::All => {
            let is_own = Expr::binary(
                BinaryOp::Equal,
                Expr::name("itemType"),
                Expr::string(table.item_type()),
            );
            Expr::call("iff", vec![is_own, value, absent(kind)])
        }
    }
}

/// No value: text is never null.
fn absent(kind: ScalarType) -> Expr {
    match kind {
        ScalarType::String => Expr::string(""),
        other => Expr::literal(Literal::Null(other)),
    }
}

/// Every path of the tables once, in their order.
fn known_paths(tables: &[Table]) -> Vec<&'static str> {
    let mut paths: Vec<&'static str> = Vec::new();
    let derived = DERIVED
        .iter()
        .filter(|(table, ..)| tables.contains(table))
        .map(|(_, path, ..)| *path);
    for path in tables
        .iter()
        .flat_map(|table| table.columns())
        .filter_map(|column| column.odata_path)
        .chain(derived)
    {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Says that there is no such property, and which are near: those of the same last name, or a few letters away.
fn unknown(source: Source, path: &str) -> String {
    let known = known_paths(source.tables());
    let lower = path.to_lowercase();
    let last = lower.rsplit('/').next().unwrap_or(&lower);
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter_map(|candidate| {
            let candidate_lower = candidate.to_lowercase();
            let same_end = candidate_lower.rsplit('/').next() == Some(last);
            let distance = if same_end {
                1
            } else {
                suggest::edit_distance(&lower, &candidate_lower)?
            };
            (distance <= 3).then_some((distance, *candidate))
        })
        .collect();
    near.sort();
    let near: Vec<&str> = near.into_iter().map(|(_, path)| path).take(3).collect();
    if near.is_empty() {
        let own: Vec<&str> = known
            .into_iter()
            .filter(|path| !path.contains("/") || belongs(source, path))
            .collect();
        return format!(
            "'{path}' is not a property. Some of the properties are {}, operation/name and customDimensions/key.",
            own.join(", ")
        );
    }
    format!("'{path}' is not a property. {}", suggest::hint(&near))
}

fn belongs(source: Source, path: &str) -> bool {
    matches!(source, Source::One(table) if path.split('/').next() == Some(table.item_type()))
}
