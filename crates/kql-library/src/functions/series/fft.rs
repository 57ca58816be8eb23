//! `series_fft` and `series_ifft`: the discrete Fourier transform (`docs/semantics.md §26`).

use super::fourier::{Complex, forward, inverse};
use super::numbers::{reals, write_reals};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static FFT: ScalarFunction = function(
    &["series_fft(series: dynamic, [series_imaginary: dynamic]) -> dynamic"],
    "The discrete Fourier transform of a series of real or complex numbers: the real and the imaginary parts, in a column each.",
    ResultName::None,
    &[example(
        "print y = dynamic([1, 2, 3, 4]) | project series_fft(y)",
        "series_fft_y_real:dynamic, series_fft_y_imag:dynamic\n[10.0,-2.0,-2.0,-2.0] | [0.0,2.0,0.0,-2.0]",
    )],
    |args| {
        each(args, |row, encoder| {
            write_reals(&real_parts(&transformed(row, forward)?), encoder);
            Some(())
        })
    },
);

pub(crate) static IFFT: ScalarFunction = function(
    &["series_ifft(series: dynamic, [series_imaginary: dynamic]) -> dynamic"],
    "The inverse discrete Fourier transform: the real and the imaginary parts, in a column each.",
    ResultName::None,
    &[example(
        "print (re, im) = series_ifft(dynamic([10, -2, -2, -2]), dynamic([0, 2, 0, -2])) | project re",
        "re:dynamic\n[1.0,2.0,3.0,4.0]",
    )],
    |args| {
        each(args, |row, encoder| {
            write_reals(&real_parts(&transformed(row, inverse)?), encoder);
            Some(())
        })
    },
);

/// The columns of both functions.
pub(crate) static COLUMNS: &[(&str, ScalarType)] =
    &[("real", ScalarType::Dynamic), ("imag", ScalarType::Dynamic)];

/// The values of the columns of `series_fft` as an array.
pub(crate) fn all_forward(args: &KernelArgs<'_>) -> KernelResult {
    all(args, forward)
}

/// The values of the columns of `series_ifft` as an array.
pub(crate) fn all_inverse(args: &KernelArgs<'_>) -> KernelResult {
    all(args, inverse)
}

fn all(args: &KernelArgs<'_>, transform: fn(&[Complex]) -> Vec<Complex>) -> KernelResult {
    each(args, |row, encoder| {
        let values = transformed(row, transform)?;
        let imaginary: Vec<f64> = values.iter().map(|x| x.im).collect();
        encoder.begin_array();
        write_reals(&real_parts(&values), encoder);
        write_reals(&imaginary, encoder);
        encoder.end();
        Some(())
    })
}

fn real_parts(values: &[Complex]) -> Vec<f64> {
    values.iter().map(|x| x.re).collect()
}

/// The transform of one row; `None` if the parts are not series of numbers of equal lengths.
fn transformed(row: Row<'_>, transform: fn(&[Complex]) -> Vec<Complex>) -> Option<Vec<Complex>> {
    let real = reals(row, 0)?;
    let imaginary = match row.value(1) {
        None => vec![0.0; real.len()],
        Some(_) => reals(row, 1)?,
    };
    if real.len() != imaginary.len() {
        return None;
    }
    let series: Vec<Complex> = real
        .into_iter()
        .zip(imaginary)
        .map(|(re, im)| Complex { re, im })
        .collect();
    Some(transform(&series))
}
