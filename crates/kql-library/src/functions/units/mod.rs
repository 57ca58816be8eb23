//! `convert_angle` and related functions: conversion between units of measure.
//!
//! The factors are those that the measured engine's results show; some of them are rounded (an acre-foot is 1/0.000810714
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
