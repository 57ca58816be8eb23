//! The conversions `to*()` of a dynamic: as what it holds (`docs/semantics.md §8`); arrays and bags are null.

use super::{DynamicRef, Kind};
use crate::{convert, datetime, decimal, guid, number, real, timespan};

impl DynamicRef<'_> {
    /// `tolong`.
    pub fn to_long(self) -> Option<i64> {
        match self.kind() {
            Kind::Long => self.as_i64(),
            Kind::Real => convert::long_from_real(self.as_f64()?),
            Kind::Bool => self.as_bool().map(i64::from),
            Kind::String => number::parse_long(self.as_str()?),
            Kind::DateTime => self.as_datetime(),
            _ => None,
        }
    }

    /// `toint`: a long wraps, a double saturates.
    pub fn to_int(self) -> Option<i32> {
        match self.kind() {
            Kind::Real => convert::int_from_real(self.as_f64()?),
            Kind::String => number::parse_int(self.as_str()?),
            _ => self.to_long().map(convert::int_from_long),
        }
    }

    /// `toreal`.
    pub fn to_real(self) -> Option<f64> {
        match self.kind() {
            Kind::Real => self.as_f64(),
            Kind::String => real::parse_real(self.as_str()?),
            _ => self.to_long().map(convert::real_from_long),
        }
    }

    /// `todecimal`, scaled as [`crate::decimal`] does.
    pub fn to_decimal(self) -> Option<i128> {
        match self.kind() {
            Kind::Real => decimal::from_f64(self.as_f64()?),
            Kind::String => decimal::parse(self.as_str()?),
            _ => self.to_long().map(decimal::from_i64),
        }
    }

    /// `tobool`.
    pub fn to_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::Bool => self.as_bool(),
            Kind::Long => self.as_i64().map(convert::bool_from_long),
            Kind::Real => self.as_f64().map(convert::bool_from_real),
            Kind::String => number::parse_bool(self.as_str()?),
            _ => None,
        }
    }

    /// `todatetime`, in ticks.
    pub fn to_datetime(self) -> Option<i64> {
        match self.kind() {
            Kind::DateTime => self.as_datetime(),
            Kind::Long => convert::datetime_from_long(self.as_i64()?),
            Kind::Real => convert::datetime_from_real(self.as_f64()?),
            Kind::String => datetime::parse(self.as_str()?),
            _ => None,
        }
    }

    /// `totimespan`, in ticks.
    pub fn to_timespan(self) -> Option<i64> {
        match self.kind() {
            Kind::Real => convert::timespan_from_real(self.as_f64()?),
            Kind::String => timespan::parse(self.as_str()?),
            _ => self.to_long(),
        }
    }

    /// `toguid`.
    pub fn to_guid(self) -> Option<[u8; 16]> {
        guid::parse(self.as_str()?)
    }
}
