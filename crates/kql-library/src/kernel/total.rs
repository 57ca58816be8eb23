//! Sums of reals.

/// The sum of the values; 0 of none, where `Iterator::sum` answers -0.
pub(crate) fn total(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |sum, value| sum + value)
}
