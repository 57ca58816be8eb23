//! `events/$metadata`: what events look like, as an OData CSDL document (`D16`).
//!
//! It follows from the OData paths of the store's columns, as the events themselves do.

use std::fmt::Write;

use hindsight_kql_types::ScalarType;
use hindsight_store::Table;

/// The document's namespace.
const NAMESPACE: &str = "ApplicationInsights";

/// A nested object of events, or one table's own object.
struct Complex {
    /// The object's key in an event, such as `operation`.
    key: &'static str,
    properties: Vec<(&'static str, &'static str)>,
}

/// The whole document.
pub(crate) fn document() -> String {
    let mut out = String::from(concat!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
        "<edmx:Edmx Version=\"4.0\" xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\">",
        "<edmx:DataServices>",
    ));
    let _ = write!(
        out,
        "<Schema Namespace=\"{NAMESPACE}\" xmlns=\"http://docs.oasis-open.org/odata/ns/edm\">"
    );
    let mut known: Vec<&'static str> = Vec::new();
    for table in Table::ALL {
        bags(table, &mut out);
        for complex in complexes(table) {
            if !known.contains(&complex.key) {
                known.push(complex.key);
                complex_type(&complex, &mut out);
            }
        }
    }
    for table in Table::ALL {
        entity(table, &mut out);
    }
    out.push_str("</Schema>");
    container(&mut out);
    out.push_str("</edmx:DataServices></edmx:Edmx>");
    out
}

/// `customEvent` gives `CustomEvent`.
fn pascal(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

fn edm(kind: ScalarType) -> &'static str {
    match kind {
        ScalarType::Bool => "Edm.Boolean",
        ScalarType::Int | ScalarType::Long | ScalarType::Real | ScalarType::Decimal => "Edm.Double",
        ScalarType::DateTime => "Edm.DateTimeOffset",
        ScalarType::TimeSpan => "Edm.Duration",
        ScalarType::Guid => "Edm.Guid",
        _ => "Edm.String",
    }
}

/// The nested objects of a table's events, its own first as in the events.
fn complexes(table: Table) -> Vec<Complex> {
    let mut found: Vec<Complex> = Vec::new();
    for column in table.columns() {
        let Some((key, property)) = column.odata_path.and_then(|path| path.split_once('/')) else {
            continue;
        };
        let property = (property, edm(column.scalar_type));
        match found.iter_mut().find(|complex| complex.key == key) {
            Some(complex) => complex.properties.push(property),
            None => found.push(Complex {
                key,
                properties: vec![property],
            }),
        }
    }
    found
}

fn has_bag(table: Table, bag: &str) -> bool {
    table
        .columns()
        .iter()
        .any(|column| column.odata_path == Some(bag))
}

/// The open types of a table's bags: their keys are what applications send.
fn bags(table: Table, out: &mut String) {
    let name = pascal(table.item_type());
    for bag in BAGS.into_iter().filter(|bag| has_bag(table, bag)) {
        let _ = write!(
            out,
            "<ComplexType Name=\"{name}{}Type\" OpenType=\"True\"></ComplexType>",
            pascal(bag)
        );
    }
}

/// The bags of events.
const BAGS: [&str; 2] = ["customDimensions", "customMeasurements"];

fn complex_type(complex: &Complex, out: &mut String) {
    let _ = write!(out, "<ComplexType Name=\"{}Type\">", pascal(complex.key));
    for (name, kind) in &complex.properties {
        property(name, kind, out);
    }
    out.push_str("</ComplexType>");
}

fn property(name: &str, kind: &str, out: &mut String) {
    let _ = write!(out, "<Property Name=\"{name}\" Type=\"{kind}\"/>");
}

fn entity(table: Table, out: &mut String) {
    let name = pascal(table.item_type());
    let _ = write!(
        out,
        "<EntityType Name=\"{name}\"><Key><PropertyRef Name=\"id\"/></Key>"
    );
    property("timestamp", "Edm.DateTimeOffset", out);
    out.push_str("<Property Name=\"id\" Type=\"Edm.String\" Nullable=\"false\"/>");
    property("type", "Edm.String", out);
    if table.column("itemCount").is_some() {
        property("count", "Edm.Double", out);
    }
    for bag in BAGS.into_iter().filter(|bag| has_bag(table, bag)) {
        property(bag, &format!("{NAMESPACE}.{name}{}Type", pascal(bag)), out);
    }
    for complex in complexes(table) {
        let kind = format!("{NAMESPACE}.{}Type", pascal(complex.key));
        property(complex.key, &kind, out);
    }
    out.push_str("</EntityType>");
}

fn container(out: &mut String) {
    out.push_str(concat!(
        "<Schema Namespace=\"Default\" xmlns=\"http://docs.oasis-open.org/odata/ns/edm\">",
        "<EntityContainer Name=\"Container\">",
    ));
    for table in Table::ALL {
        let _ = write!(
            out,
            "<EntitySet Name=\"{}\" EntityType=\"{NAMESPACE}.{}\"/>",
            table.name(),
            pascal(table.item_type())
        );
    }
    out.push_str("</EntityContainer></Schema>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_an_entity_of_its_columns() {
        let text = document();
        for part in [
            r#"<EntityType Name="CustomEvent"><Key><PropertyRef Name="id"/></Key>"#,
            r#"<Property Name="request" Type="ApplicationInsights.RequestType"/>"#,
            r#"<ComplexType Name="RequestType"><Property Name="id" Type="Edm.String"/>"#,
            r#"<Property Name="duration" Type="Edm.Double"/>"#,
            r#"<EntitySet Name="pageViews" EntityType="ApplicationInsights.PageView"/>"#,
            r#"<ComplexType Name="TraceCustomDimensionsType" OpenType="True">"#,
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn what_is_named_is_declared_once() {
        let text = document();
        let references = text.split("Type=\"ApplicationInsights.").skip(1);
        for name in references.filter_map(|rest| rest.split('"').next()) {
            let complex = format!("<ComplexType Name=\"{name}\"");
            let entity = format!("<EntityType Name=\"{name}\"");
            let declared = text.matches(&complex).count() + text.matches(&entity).count();
            assert_eq!(declared, 1, "{name}");
        }
    }

    #[test]
    fn every_element_that_opens_is_closed() {
        let text = document();
        for name in [
            "Schema",
            "ComplexType",
            "EntityType",
            "EntityContainer",
            "Key",
        ] {
            let opened = text.matches(&format!("<{name} ")).count()
                + text.matches(&format!("<{name}>")).count();
            assert_eq!(
                opened,
                text.matches(&format!("</{name}>")).count(),
                "{name}"
            );
        }
    }
}
