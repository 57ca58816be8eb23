//! Geography on the sphere: longitude first, degrees, metres (`docs/semantics.md §27`).
//!
//! The supported functions are those whose results follow from the sphere alone; functions that cut, join or buffer shapes
//! are not supported.

mod angle;
mod geohash;
mod grid;
mod h3cell;
mod intersection;
mod lines;
mod points;
mod polygons;
mod s2cell;
mod shape;
mod sphere;

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
];
