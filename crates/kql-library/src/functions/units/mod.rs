//! `convert_angle` and its kin: a number from one unit of measure into another.
//!
//! Factors are those that the language's answers show, which for some units are rounded (an acre-foot is 1/0.000810714
//! m³, a mile 1609.34 m).

mod angle;
mod energy;
mod factor;
mod force;
mod length;
mod mass;
mod speed;
mod temperature;
mod volume;

use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &angle::DEF,
    &energy::DEF,
    &force::DEF,
    &length::DEF,
    &mass::DEF,
    &speed::DEF,
    &temperature::DEF,
    &volume::DEF,
];
