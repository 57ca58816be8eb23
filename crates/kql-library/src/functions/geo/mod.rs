//! Geography on the sphere: longitude first, degrees, metres (`docs/semantics.md §27`).
//!
//! Edges are arcs of great circles. [`overlay`] computes the unions and intersections of regions, [`buffers`] moves outlines.

mod angle;
mod arcs;
mod arrangement;
mod buffers;
mod closest;
mod common_parts;
mod coverings;
mod densify;
mod geohash;
mod grid;
mod h3cell;
mod intersection;
mod ip_location;
mod lines;
mod metres;
mod overlay;
mod points;
mod polygons;
mod ring;
mod s2_builder;
mod s2cell;
mod shape;
mod simplify;
mod sphere;
mod unions;
mod wkt;

use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &angle::DEF,
    &geohash::FROM_POINT,
    &geohash::CENTRAL_POINT,
    &geohash::NEIGHBORS,
    &geohash::POLYGON,
    &h3cell::FROM_POINT,
    &h3cell::LEVEL,
    &h3cell::PARENT,
    &h3cell::CHILDREN,
    &h3cell::CENTRAL_POINT,
    &h3cell::POLYGON,
    &h3cell::NEIGHBORS,
    &h3cell::RINGS,
    &ip_location::DEF,
    &lines::LENGTH,
    &lines::CENTROID,
    &lines::INTERPOLATE,
    &lines::DISTANCE,
    &intersection::LINES,
    &intersection::LINE_WITH_POLYGON,
    &intersection::POLYGONS,
    &points::AZIMUTH,
    &points::DISTANCE,
    &points::IN_CIRCLE,
    &polygons::AREA,
    &polygons::PERIMETER,
    &polygons::CENTROID,
    &polygons::CONTAINS,
    &polygons::DISTANCE,
    &s2cell::FROM_POINT,
    &s2cell::CENTRAL_POINT,
    &s2cell::POLYGON,
    &s2cell::NEIGHBORS,
    &closest::ON_LINE,
    &closest::ON_POLYGON,
    &closest::LOCATE,
    &densify::LINE,
    &densify::POLYGON,
    &simplify::LINE,
    &simplify::POLYGON,
    &simplify::ARRAY,
    &wkt::DEF,
    &buffers::POINT,
    &buffers::LINE,
    &buffers::POLYGON,
    &common_parts::LINES,
    &common_parts::POLYGONS,
    &common_parts::LINE_WITH_POLYGON,
    &unions::POLYGONS,
    &unions::LINES,
    &coverings::POLYGON,
    &coverings::LINE,
    &coverings::H3,
];
