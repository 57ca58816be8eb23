//! The least-squares polynomial through points.

use crate::work::CancellationToken;

/// A polynomial.
pub(crate) struct Polynomial {
    /// The coefficients from the highest power down.
    pub(crate) coefficients: Vec<f64>,
    /// The values at the points.
    pub(crate) values: Vec<f64>,
}

/// The least-squares polynomial of a degree; `None` if the points do not determine one. The basis is orthogonalized over the
/// points (Forsythe's method), after the x values are moved to [-1, 1], so that high degrees keep their digits.
pub(crate) fn polynomial(x: &[f64], y: &[f64], degree: usize) -> Option<Polynomial> {
    if x.len() <= degree || x.iter().chain(y).any(|v| !v.is_finite()) {
        return None;
    }
    let cancellation = CancellationToken::current();
    let least = x.iter().copied().reduce(f64::min)?;
    let most = x.iter().copied().reduce(f64::max)?;
    let (middle, half) = ((least + most) / 2.0, (most - least) / 2.0);
    if degree > 0 && half == 0.0 {
        return None;
    }
    let half = if half == 0.0 { 1.0 } else { half };
    let t: Vec<f64> = x.iter().map(|x| (x - middle) / half).collect();
    let mut values = vec![0.0; x.len()];
    let mut powers = vec![0.0; degree + 1];
    let mut previous = Basis {
        values: vec![0.0; x.len()],
        powers: vec![0.0; degree + 1],
        norm: 1.0,
    };
    let mut current = Basis::constant(x.len(), degree);
    for step in 0..=degree {
        if cancellation.is_cancelled() {
            return None;
        }
        // The residual instead of y corrects what earlier steps rounded off.
        let residual = y.iter().zip(&values).map(|(y, v)| y - v);
        let share = dot(residual, &current.values) / current.norm;
        for (value, basis) in values.iter_mut().zip(&current.values) {
            *value += share * basis;
        }
        for (power, basis) in powers.iter_mut().zip(&current.powers) {
            *power += share * basis;
        }
        if step < degree {
            let next = current.next(&previous, &t);
            // Fewer distinct x values than coefficients leave nothing of the next basis.
            if next.norm <= f64::EPSILON * f64::EPSILON * current.norm {
                return None;
            }
            previous = std::mem::replace(&mut current, next);
        }
    }
    let mut coefficients = substituted(&powers, middle, half);
    coefficients.reverse();
    Some(Polynomial {
        coefficients,
        values,
    })
}

/// A polynomial that is orthogonal to those of lower degree over the points.
struct Basis {
    values: Vec<f64>,
    /// The coefficients from power 0 up.
    powers: Vec<f64>,
    /// The sum of the squared values.
    norm: f64,
}

impl Basis {
    fn constant(points: usize, degree: usize) -> Basis {
        let mut powers = vec![0.0; degree + 1];
        if let Some(first) = powers.first_mut() {
            *first = 1.0;
        }
        Basis {
            values: vec![1.0; points],
            powers,
            norm: points as f64,
        }
    }

    /// The basis of the next degree, by the three-term recurrence.
    fn next(&self, previous: &Basis, t: &[f64]) -> Basis {
        let raised = self.values.iter().zip(t).map(|(v, t)| v * t);
        let alpha = dot(raised, &self.values) / self.norm;
        let beta = self.norm / previous.norm;
        let values: Vec<f64> = self
            .values
            .iter()
            .zip(&previous.values)
            .zip(t)
            .map(|((v, p), t)| (t - alpha) * v - beta * p)
            .collect();
        let raised = std::iter::once(0.0).chain(self.powers.iter().copied());
        let powers = raised
            .zip(&self.powers)
            .zip(&previous.powers)
            .map(|((raised, own), previous)| raised - alpha * own - beta * previous)
            .collect();
        let norm = values.iter().map(|v| v * v).sum();
        Basis {
            values,
            powers,
            norm,
        }
    }
}

fn dot(a: impl Iterator<Item = f64>, b: &[f64]) -> f64 {
    a.zip(b).map(|(a, b)| a * b).sum()
}

/// The coefficients in x, from power 0 up, of a polynomial in (x - middle) / half, by Horner's rule.
fn substituted(powers: &[f64], middle: f64, half: f64) -> Vec<f64> {
    let mut result = vec![0.0; powers.len()];
    for power in powers.iter().rev() {
        let raised: Vec<f64> = std::iter::once(0.0).chain(result.iter().copied()).collect();
        for (value, raised) in result.iter_mut().zip(raised) {
            *value = (raised - middle * *value) / half;
        }
        if let Some(first) = result.first_mut() {
            *first += power;
        }
    }
    result
}
