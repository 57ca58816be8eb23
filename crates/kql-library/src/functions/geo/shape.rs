//! GeoJSON shapes.

use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder};

use super::sphere::Point;

/// A polygon: its outer ring, then its holes. A ring does not repeat its first point at the end.
pub(crate) type Polygon = Vec<Vec<Point>>;

/// The lines of a `LineString` or `MultiLineString`; `None` if one has fewer than two points or repeats a point.
pub(crate) fn lines(shape: DynamicRef<'_>) -> Option<Vec<Vec<Point>>> {
    let coordinates = shape.get_key("coordinates")?;
    let lines = match shape.get_key("type")?.as_str()? {
        "LineString" => vec![points(coordinates)?],
        "MultiLineString" => array(coordinates)?
            .map(points)
            .collect::<Option<Vec<_>>>()?,
        _ => return None,
    };
    let valid = |line: &Vec<Point>| line.len() > 1 && !has_empty_edge(line);
    (!lines.is_empty() && lines.iter().all(valid)).then_some(lines)
}

/// The polygons of a `Polygon` or `MultiPolygon`; `None` if a ring is open, has fewer than three corners or repeats one.
pub(crate) fn polygons(shape: DynamicRef<'_>) -> Option<Vec<Polygon>> {
    let coordinates = shape.get_key("coordinates")?;
    let polygons = match shape.get_key("type")?.as_str()? {
        "Polygon" => vec![polygon(coordinates)?],
        "MultiPolygon" => array(coordinates)?
            .map(polygon)
            .collect::<Option<Vec<_>>>()?,
        _ => return None,
    };
    (!polygons.is_empty()).then_some(polygons)
}

fn polygon(rings: DynamicRef<'_>) -> Option<Polygon> {
    let rings = array(rings)?.map(ring).collect::<Option<Polygon>>()?;
    (!rings.is_empty()).then_some(rings)
}

fn ring(coordinates: DynamicRef<'_>) -> Option<Vec<Point>> {
    let mut ring = points(coordinates)?;
    let valid = ring.len() > 3 && ring.first() == ring.last() && !has_empty_edge(&ring);
    ring.pop();
    valid.then_some(ring)
}

fn has_empty_edge(line: &[Point]) -> bool {
    line.windows(2).any(|edge| matches!(edge, [a, b] if a == b))
}

fn array(value: DynamicRef<'_>) -> Option<impl Iterator<Item = DynamicRef<'_>>> {
    (value.kind() == Kind::Array).then(|| value.iter_array())
}

fn points(coordinates: DynamicRef<'_>) -> Option<Vec<Point>> {
    let point = |pair: DynamicRef<'_>| {
        let number = |index| {
            let value = pair.get_index(index)?;
            value.as_f64().or_else(|| value.as_i64().map(|n| n as f64))
        };
        Point::at(number(0)?, number(1)?)
    };
    array(coordinates)?.map(point).collect()
}

/// Writes a `Point`.
pub(crate) fn write_point((longitude, latitude): (f64, f64), encoder: &mut Encoder) {
    encoder.begin_bag();
    encoder.key("type");
    encoder.string("Point");
    encoder.key("coordinates");
    write_pair((longitude, latitude), encoder);
    encoder.end();
}

/// Writes a `Polygon` without holes; the ring repeats its first point at the end.
pub(crate) fn write_polygon(ring: impl IntoIterator<Item = (f64, f64)>, encoder: &mut Encoder) {
    encoder.begin_bag();
    encoder.key("type");
    encoder.string("Polygon");
    encoder.key("coordinates");
    encoder.begin_array();
    encoder.begin_array();
    for corner in ring {
        write_pair(corner, encoder);
    }
    encoder.end();
    encoder.end();
    encoder.end();
}

/// Writes a longitude and latitude pair.
fn write_pair((longitude, latitude): (f64, f64), encoder: &mut Encoder) {
    encoder.begin_array();
    encoder.real(longitude);
    encoder.real(latitude);
    encoder.end();
}
