//! The discrete Fourier transform of series of any length.

use std::f64::consts::{PI, TAU};
use std::ops::{Add, Mul, Sub};

use crate::work::CancellationToken;

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Complex {
    /// The real part.
    pub(crate) re: f64,
    /// The imaginary part.
    pub(crate) im: f64,
}

impl Complex {
    const ZERO: Complex = Complex { re: 0.0, im: 0.0 };

    /// A quarter turn clockwise.
    const QUARTER_TURN: Complex = Complex { re: 0.0, im: -1.0 };

    /// The number on the unit circle at an angle in radians.
    fn at(angle: f64) -> Complex {
        Complex {
            re: angle.cos(),
            im: angle.sin(),
        }
    }

    fn conjugate(self) -> Complex {
        Complex {
            re: self.re,
            im: -self.im,
        }
    }

    fn scaled(self, factor: f64) -> Complex {
        Complex {
            re: self.re * factor,
            im: self.im * factor,
        }
    }

    /// The square of the absolute value.
    pub(crate) fn power(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Complex {
        Complex { re, im: 0.0 }
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// The transform: element `k` is the sum of `x[j] · e^(-2πi·jk/n)`. The result is meaningless if the query is cancelled.
pub(crate) fn forward(series: &[Complex]) -> Vec<Complex> {
    if series.len() < 2 {
        series.to_vec()
    } else if series.len().is_power_of_two() {
        radix_2(series.to_vec())
    } else {
        bluestein(series)
    }
}

/// The inverse of [`forward`].
pub(crate) fn inverse(series: &[Complex]) -> Vec<Complex> {
    let conjugates: Vec<Complex> = series.iter().map(|x| x.conjugate()).collect();
    let factor = 1.0 / series.len() as f64;
    forward(&conjugates)
        .into_iter()
        .map(|x| x.conjugate().scaled(factor))
        .collect()
}

/// The algorithm of Cooley and Tukey for a length that is a power of two.
fn radix_2(mut values: Vec<Complex>) -> Vec<Complex> {
    let cancellation = CancellationToken::current();
    let n = values.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            values.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n && !cancellation.is_cancelled() {
        let turns: Vec<Complex> = (0..half)
            .map(|k| {
                // The cosine of the double nearest to a quarter turn is not 0.
                if 2 * k == half {
                    Complex::QUARTER_TURN
                } else {
                    Complex::at(-PI * k as f64 / half as f64)
                }
            })
            .collect();
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), turn) in low.iter_mut().zip(high).zip(&turns) {
                let product = *b * *turn;
                (*a, *b) = (*a + product, *a - product);
            }
        }
        half *= 2;
    }
    values
}

/// Bluestein's algorithm: the transform of any length as a convolution whose length is a power of two.
fn bluestein(series: &[Complex]) -> Vec<Complex> {
    let n = series.len();
    let padded = (2 * n - 1).next_power_of_two();
    // The square is reduced modulo 2n before it becomes an angle, so that long series lose no digits.
    let chirp: Vec<Complex> = (0..n as u64)
        .map(|k| k.wrapping_mul(k) % (2 * n as u64))
        .map(|square| Complex::at(-TAU / 2.0 * square as f64 / n as f64))
        .collect();
    let mut left: Vec<Complex> = series.iter().zip(&chirp).map(|(x, c)| *x * *c).collect();
    left.resize(padded, Complex::ZERO);
    let mut right: Vec<Complex> = chirp.iter().map(|c| c.conjugate()).collect();
    right.resize(padded - n + 1, Complex::ZERO);
    right.extend(chirp.iter().skip(1).rev().map(|c| c.conjugate()));
    let product: Vec<Complex> = radix_2(left)
        .into_iter()
        .zip(radix_2(right))
        .map(|(a, b)| a * b)
        .collect();
    inverse(&product)
        .into_iter()
        .zip(&chirp)
        .map(|(x, c)| x * *c)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, in quadratic time.
    fn definition(series: &[Complex]) -> Vec<Complex> {
        let n = series.len();
        (0..n)
            .map(|k| {
                series
                    .iter()
                    .enumerate()
                    .map(|(j, x)| *x * Complex::at(-TAU * (j * k % n) as f64 / n as f64))
                    .fold(Complex::ZERO, Complex::add)
            })
            .collect()
    }

    #[test]
    fn every_length_agrees_with_the_definition() {
        for n in 1..70_u32 {
            let series: Vec<Complex> = (0..n)
                .map(|i| Complex {
                    re: f64::from(i * i % 17) - 5.0,
                    im: f64::from(i * 7 % 11),
                })
                .collect();
            let result = forward(&series);
            for (a, b) in result.iter().zip(definition(&series)) {
                assert!((*a - b).power() < 1e-20, "{n}: {a:?} is not {b:?}");
            }
            for (a, b) in inverse(&result).iter().zip(&series) {
                assert!((*a - *b).power() < 1e-20, "{n}: {a:?} is not {b:?}");
            }
        }
    }
}
