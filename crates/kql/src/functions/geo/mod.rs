//! Geography on the sphere: longitude first, degrees, metres (`semantics.md §27`).
//!
//! Offered are the functions whose answers follow from the sphere alone; those that cut, join or buffer shapes are not.

mod geohash;
mod lines;
mod points;
mod polygons;
mod s2cell;
mod shape;
mod sphere;

use super::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &geohash::FROM_POINT,
    &geohash::CENTRAL_POINT,
    &lines::LENGTH,
    &lines::CENTROID,
    &lines::INTERPOLATE,
    &lines::DISTANCE,
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
