//! The diagonal metric that steps are measured in (EC.3 of the paper): entries of x whose subgradients are large move
//! less. It is fixed beforehand, or follows the subgradients seen.

/// The largest size of each entry of the subgradients seen.
#[derive(Debug, Clone)]
pub(crate) struct Metric {
    ranges: Vec<f64>,
    diagonal: Vec<f64>,
    power: i32,
    normalised: bool,
    is_fixed: bool,
}

/// The paper's value for an entry that is zero in every subgradient.
const LEAST: f64 = 1e-8;

impl Metric {
    /// The paper's H, made of the subgradients seen: entries in proportion to the ranges, and det H = 1. It fixes the
    /// unit of α₀.
    pub(crate) fn of_paper(dim: usize) -> Self {
        Self { ranges: vec![0.0; dim], diagonal: vec![1.0; dim], power: 1, normalised: true, is_fixed: false }
    }

    /// The paper's H as printed: `H_ii ∝ max{size_i, 1e-8}`, det H = 1, fixed for good. The sizes are the largest
    /// absolute values that the entries of subgradients can have.
    pub(crate) fn fixed(sizes: &[f64]) -> Self {
        let ranges: Vec<f64> = sizes.iter().map(|size| size.max(LEAST)).collect();
        let scale = geometric_mean(ranges.iter().copied());
        let diagonal = ranges.iter().map(|range| range / scale).collect();
        Self { ranges, diagonal, power: 1, normalised: true, is_fixed: true }
    }

    /// H in proportion to the squares of the ranges: steps toward a level are then the same whatever units x is
    /// measured in.
    pub(crate) fn free_of_units(dim: usize) -> Self {
        Self { ranges: vec![0.0; dim], diagonal: vec![1.0; dim], power: 2, normalised: false, is_fixed: false }
    }

    /// Looks at a subgradient; true if the metric changed.
    pub(crate) fn see(&mut self, subgradient: &[f64]) -> bool {
        if self.is_fixed {
            return false;
        }
        let mut changed = false;
        for (range, entry) in self.ranges.iter_mut().zip(subgradient) {
            if entry.abs() > *range {
                *range = entry.abs();
                changed = true;
            }
        }
        if changed {
            self.update();
        }
        changed
    }

    fn update(&mut self) {
        let most = self.ranges.iter().fold(0.0_f64, |most, &range| most.max(range));
        let least = (LEAST * most).max(f64::MIN_POSITIVE);
        let scale = if self.normalised {
            // det H = 1.
            geometric_mean(self.ranges.iter().map(|range| range.max(least)))
        } else {
            most
        };
        for (entry, range) in self.diagonal.iter_mut().zip(&self.ranges) {
            *entry = (range.max(least) / scale).powi(self.power);
        }
    }

    /// How far two decisions are from one another.
    pub(crate) fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.diagonal).map(|((a, b), h)| h * (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// The diagonal of H.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }
}

fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_metric_has_determinant_one_and_follows_the_ranges() {
        let mut metric = Metric::of_paper(3);
        assert!(metric.see(&[1.0, -8.0, 0.5]) && metric.see(&[-2.0, 1.0, 0.5]) && !metric.see(&[0.0, 1.0, 0.1]));
        let product: f64 = metric.diagonal().iter().product();
        assert!((product - 1.0).abs() < 1e-12);
        assert!((metric.diagonal()[1] / metric.diagonal()[0] - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_fixed_metric_stays_and_has_the_papers_floor() {
        let mut metric = Metric::fixed(&[4.0, 0.0, 2.0]);
        let product: f64 = metric.diagonal().iter().product();
        assert!((product - 1.0).abs() < 1e-12);
        assert!((metric.diagonal()[1] / metric.diagonal()[0] / 2.5e-9 - 1.0).abs() < 1e-12);
        assert!(!metric.see(&[100.0, 100.0, 100.0]) && metric.diagonal()[2] == 0.5 * metric.diagonal()[0]);
    }
}
