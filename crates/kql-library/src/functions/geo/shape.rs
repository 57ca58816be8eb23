//! GeoJSON shapes.

use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder};

use super::sphere::Point;

/// A polygon: its outer ring, then its holes. A ring does not repeat its first point at the end.
pub(crate) type Polygon = Vec<Vec<Point>>;

/// Longitudes and latitudes in degrees.
pub(crate) type Pairs = Vec<(f64, f64)>;

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
    pairs(coordinates)?
        .into_iter()
        .map(|(longitude, latitude)| Point::at(longitude, latitude))
        .collect()
}

/// Pairs of longitude and latitude in degrees.
fn pairs(coordinates: DynamicRef<'_>) -> Option<Pairs> {
    let pair = |pair: DynamicRef<'_>| {
        let number = |index| {
            let value = pair.get_index(index)?;
            value.as_f64().or_else(|| value.as_i64().map(|n| n as f64))
        };
        Some((number(0)?, number(1)?))
    };
    array(coordinates)?.map(pair).collect()
}

/// The lines of a `LineString` or `MultiLineString` in degrees, whatever their range.
pub(crate) fn line_pairs(shape: DynamicRef<'_>) -> Option<Vec<Pairs>> {
    let coordinates = shape.get_key("coordinates")?;
    match shape.get_key("type")?.as_str()? {
        "LineString" => Some(vec![pairs(coordinates)?]),
        "MultiLineString" => array(coordinates)?.map(pairs).collect(),
        _ => None,
    }
}

/// The rings of the polygons of a `Polygon` or `MultiPolygon` in degrees. A ring repeats its first point at the end.
pub(crate) fn ring_pairs(shape: DynamicRef<'_>) -> Option<Vec<Vec<Pairs>>> {
    polygons(shape)?;
    let coordinates = shape.get_key("coordinates")?;
    let rings = |polygon| array(polygon)?.map(pairs).collect();
    match shape.get_key("type")?.as_str()? {
        "Polygon" => Some(vec![rings(coordinates)?]),
        _ => array(coordinates)?.map(rings).collect(),
    }
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

/// Writes a shape of coordinates that are nested to any depth.
fn write_shape(kind: &str, encoder: &mut Encoder, coordinates: impl FnOnce(&mut Encoder)) {
    encoder.begin_bag();
    encoder.key("type");
    encoder.string(kind);
    encoder.key("coordinates");
    coordinates(encoder);
    encoder.end();
}

fn write_pairs(pairs: &[(f64, f64)], encoder: &mut Encoder) {
    encoder.begin_array();
    for pair in pairs {
        write_pair(*pair, encoder);
    }
    encoder.end();
}

/// Writes a `LineString`, or a `MultiLineString` for several lines.
pub(crate) fn write_lines(lines: &[Pairs], encoder: &mut Encoder) {
    match lines {
        [line] => write_shape("LineString", encoder, |encoder| write_pairs(line, encoder)),
        lines => write_shape("MultiLineString", encoder, |encoder| {
            encoder.begin_array();
            lines.iter().for_each(|line| write_pairs(line, encoder));
            encoder.end();
        }),
    }
}

fn write_rings(rings: &[Pairs], encoder: &mut Encoder) {
    encoder.begin_array();
    rings.iter().for_each(|ring| write_pairs(ring, encoder));
    encoder.end();
}

/// Writes a `Polygon`, or a `MultiPolygon` for several polygons. Rings repeat their first point at the end.
pub(crate) fn write_polygons(polygons: &[Vec<Pairs>], encoder: &mut Encoder) {
    match polygons {
        [polygon] => write_shape("Polygon", encoder, |encoder| write_rings(polygon, encoder)),
        polygons => write_shape("MultiPolygon", encoder, |encoder| {
            encoder.begin_array();
            polygons
                .iter()
                .for_each(|polygon| write_rings(polygon, encoder));
            encoder.end();
        }),
    }
}

/// Writes a `Point`, or a `MultiPoint` for several points.
pub(crate) fn write_points(points: &[(f64, f64)], encoder: &mut Encoder) {
    match points {
        [point] => write_point(*point, encoder),
        points => write_shape("MultiPoint", encoder, |encoder| {
            write_pairs(points, encoder)
        }),
    }
}

/// Points, lines and polygons that belong together.
#[derive(Debug, Default)]
pub(crate) struct Collection {
    /// Points.
    pub(crate) points: Vec<Point>,
    /// Lines.
    pub(crate) lines: Vec<Vec<Point>>,
    /// Polygons.
    pub(crate) polygons: Vec<Polygon>,
}

impl Collection {
    /// Writes the shape: a `GeometryCollection` if it has no part, or parts of several kinds.
    pub(crate) fn write(&self, encoder: &mut Encoder) {
        let kinds = [
            self.points.is_empty(),
            self.lines.is_empty(),
            self.polygons.is_empty(),
        ];
        let kinds = kinds.into_iter().filter(|empty| !empty).count();
        if kinds != 1 {
            encoder.begin_bag();
            encoder.key("type");
            encoder.string("GeometryCollection");
            encoder.key("geometries");
            encoder.begin_array();
        }
        if !self.points.is_empty() {
            write_points(&degrees(&self.points), encoder);
        }
        if !self.lines.is_empty() {
            let lines: Vec<_> = self.lines.iter().map(|line| degrees(line)).collect();
            write_lines(&lines, encoder);
        }
        if !self.polygons.is_empty() {
            write_polygons(&closed_degrees(&self.polygons), encoder);
        }
        if kinds != 1 {
            encoder.end();
            encoder.end();
        }
    }
}

fn degrees(points: &[Point]) -> Pairs {
    points.iter().map(|point| point.degrees()).collect()
}

/// The rings of polygons in degrees, with the first point repeated at the end.
fn closed_degrees(polygons: &[Polygon]) -> Vec<Vec<Pairs>> {
    let close = |ring: &Vec<Point>| {
        let mut pairs = degrees(ring);
        pairs.extend(pairs.first().copied());
        pairs
    };
    polygons
        .iter()
        .map(|polygon| polygon.iter().map(close).collect())
        .collect()
}

/// Writes a longitude and latitude pair.
fn write_pair((longitude, latitude): (f64, f64), encoder: &mut Encoder) {
    encoder.begin_array();
    encoder.real(longitude);
    encoder.real(latitude);
    encoder.end();
}
