//! The value types of percentiles: their order, their distances for a digest, and their bytes in the state of a group.

use std::cmp::Ordering;

use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float64Type, Int64Type};

/// A value type that supports percentiles.
pub(crate) trait Ranked: ArrowPrimitiveType<Native: Send + Sync> + Send + Sync {
    /// The order of values.
    fn order(a: &Self::Native, b: &Self::Native) -> Ordering;
    /// Sorts values by [`Ranked::order`].
    fn sort(values: &mut [Self::Native]) {
        values.sort_unstable_by(Self::order);
    }
    /// The distance from `origin`, for the digest; not finite if the value is not.
    fn distance(value: Self::Native, origin: Self::Native) -> f64;
    /// The value at this distance.
    fn at(distance: f64, origin: Self::Native) -> Self::Native;
    /// The value encoded in 16 bytes, for [`Ranked::read`].
    fn write(value: Self::Native) -> [u8; 16];
    /// Decodes a value from 16 bytes.
    fn read(bytes: [u8; 16]) -> Self::Native;
    /// The number of significant bytes of the 16.
    const WIDTH: usize;
    /// Appends the significant bytes of values.
    fn write_all(values: &[Self::Native], out: &mut Vec<u8>);
    /// Appends the values whose significant bytes these are.
    fn read_all(bytes: &[u8], out: &mut Vec<Self::Native>);
}

/// The two methods of [`Ranked`] for many values of a type with little-endian bytes.
macro_rules! many_values {
    ($native:ty) => {
        fn write_all(values: &[$native], out: &mut Vec<u8>) {
            let start = out.len();
            out.resize(start + size_of_val(values), 0);
            let (places, _) = out.get_mut(start..).unwrap_or_default().as_chunks_mut();
            for (place, value) in places.iter_mut().zip(values) {
                *place = value.to_le_bytes();
            }
        }

        fn read_all(bytes: &[u8], out: &mut Vec<$native>) {
            let (values, _) = bytes.as_chunks();
            out.extend(values.iter().map(|value| <$native>::from_le_bytes(*value)));
        }
    };
}

fn low_bytes(value: u64) -> [u8; 16] {
    u128::from(value).to_le_bytes()
}

impl Ranked for Int64Type {
    const WIDTH: usize = 8;

    many_values!(i64);

    fn order(a: &i64, b: &i64) -> Ordering {
        a.cmp(b)
    }

    fn distance(value: i64, origin: i64) -> f64 {
        (i128::from(value) - i128::from(origin)) as f64
    }

    fn at(distance: f64, origin: i64) -> i64 {
        origin.saturating_add(distance.round() as i64)
    }

    fn write(value: i64) -> [u8; 16] {
        low_bytes(value as u64)
    }

    fn read(bytes: [u8; 16]) -> i64 {
        u128::from_le_bytes(bytes) as u64 as i64
    }
}

/// An integer that orders reals as [`f64::total_cmp`] does: the bits other than the sign of a negative number are inverted.
fn key(value: f64) -> i64 {
    inverted(value.to_bits().cast_signed())
}

fn of_key(key: i64) -> f64 {
    f64::from_bits(inverted(key).cast_unsigned())
}

fn inverted(bits: i64) -> i64 {
    bits ^ (bits >> 63) & i64::MAX
}

impl Ranked for Float64Type {
    const WIDTH: usize = 8;

    many_values!(f64);

    fn order(a: &f64, b: &f64) -> Ordering {
        a.total_cmp(b)
    }

    fn sort(values: &mut [f64]) {
        let mut keys: Vec<i64> = values.iter().map(|value| key(*value)).collect();
        // Integers are compared without a conversion for each comparison.
        keys.sort_unstable();
        for (value, key) in values.iter_mut().zip(keys) {
            *value = of_key(key);
        }
    }

    fn distance(value: f64, _: f64) -> f64 {
        value
    }

    fn at(distance: f64, _: f64) -> f64 {
        distance
    }

    fn write(value: f64) -> [u8; 16] {
        low_bytes(value.to_bits())
    }

    fn read(bytes: [u8; 16]) -> f64 {
        f64::from_bits(u128::from_le_bytes(bytes) as u64)
    }
}

impl Ranked for Decimal128Type {
    const WIDTH: usize = 16;

    many_values!(i128);

    fn order(a: &i128, b: &i128) -> Ordering {
        a.cmp(b)
    }

    fn distance(value: i128, origin: i128) -> f64 {
        value.saturating_sub(origin) as f64
    }

    fn at(distance: f64, origin: i128) -> i128 {
        origin.saturating_add(distance.round() as i128)
    }

    fn write(value: i128) -> [u8; 16] {
        value.to_le_bytes()
    }

    fn read(bytes: [u8; 16]) -> i128 {
        i128::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_sorted_in_the_total_order() {
        let mut values = vec![
            1.5,
            -0.0,
            f64::NAN,
            0.0,
            f64::NEG_INFINITY,
            -2.5,
            -f64::NAN,
            f64::INFINITY,
            f64::MIN_POSITIVE,
            -f64::MAX,
        ];
        let mut expected = values.clone();
        expected.sort_by(f64::total_cmp);
        Float64Type::sort(&mut values);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&values), bits(&expected));
    }
}
