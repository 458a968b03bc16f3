//! The worst scenario by a dense grid over ξ and a pattern search from its best point. It shares nothing with the
//! library.

use softsep::uncertainty::{SetDefinition, Sides};

/// The smallest step of a pattern search, in the unit coordinates of a set.
const FINE: f64 = 1e-5;

/// The relative difference of a solver's answers to the same problem: a search that follows it does not end.
const NOISE: f64 = 1e-9;

/// The least distance of two peaks in some coordinate.
const APART: f64 = 0.3;

/// The unit coordinates of a set: `ξ = center + scale·z`, and the domain of z.
pub(crate) struct Body<'s> {
    set: &'s SetDefinition,
    dim: usize,
    from: f64,
}

impl<'s> Body<'s> {
    pub(crate) fn new(set: &'s SetDefinition) -> Self {
        let (dim, from) = match set {
            SetDefinition::Ellipsoid { matrix, .. } => (matrix[0].len(), -1.0),
            SetDefinition::Box { lower, .. } => (lower.len(), -1.0),
            SetDefinition::Budget { center, sides, .. } => {
                (center.len(), if *sides == Sides::One { 0.0 } else { -1.0 })
            }
            other => panic!("no unit coordinates for {other:?}"),
        };
        Self { set, dim, from }
    }

    /// The member of the set at z.
    pub(crate) fn point(&self, z: &[f64]) -> Vec<f64> {
        match self.set {
            SetDefinition::Ellipsoid { center, matrix } => center
                .iter()
                .zip(matrix)
                .map(|(center, row)| center + row.iter().zip(z).map(|(a, z)| a * z).sum::<f64>())
                .collect(),
            SetDefinition::Box { lower, upper } => lower
                .iter()
                .zip(upper)
                .zip(z)
                .map(|((lower, upper), z)| 0.5 * (lower + upper) + 0.5 * (upper - lower) * z)
                .collect(),
            SetDefinition::Budget { center, scale, .. } => {
                center.iter().zip(scale).zip(z).map(|((c, s), z)| c + s * z).collect()
            }
            _ => unreachable!(),
        }
    }

    /// The gauge of z: 1 on the boundary, less inside.
    pub(crate) fn used(&self, z: &[f64]) -> f64 {
        let largest = z.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        match self.set {
            SetDefinition::Ellipsoid { .. } => z.iter().map(|z| z * z).sum::<f64>().sqrt(),
            SetDefinition::Budget { budget, .. } => largest.max(z.iter().map(|z| z.abs()).sum::<f64>() / budget),
            _ => largest,
        }
    }

    fn pull_in(&self, z: &mut [f64]) {
        z.iter_mut().for_each(|z| *z = z.clamp(self.from, 1.0));
        let used = self.used(z);
        if used > 1.0 {
            z.iter_mut().for_each(|z| *z /= used);
        }
    }

    fn spacing(&self, per_axis: usize) -> f64 {
        (1.0 - self.from) / (per_axis - 1) as f64
    }

    /// The z of every point of a grid. Points outside are moved to the boundary, which is thus covered as densely as
    /// the inside.
    pub(crate) fn grid(&self, per_axis: usize) -> impl Iterator<Item = Vec<f64>> {
        (0..per_axis.pow(self.dim as u32)).map(move |index| {
            let position = |entry: usize| index / per_axis.pow(entry as u32) % per_axis;
            let mut z: Vec<f64> =
                (0..self.dim).map(|entry| self.from + self.spacing(per_axis) * position(entry) as f64).collect();
            self.pull_in(&mut z);
            z
        })
    }

    /// The largest value over the set, and the z of it: by pattern searches from so many of the best points of a grid
    /// that are far from one another. The best of them need not be at the highest peak.
    pub(crate) fn worst(&self, per_axis: usize, peaks: usize, value: &dyn Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
        let mut best: Vec<(f64, Vec<f64>)> = Vec::with_capacity(peaks + 1);
        for z in self.grid(per_axis) {
            let found = value(&self.point(&z));
            let is_near = |other: &[f64]| other.iter().zip(&z).all(|(a, b)| (a - b).abs() < APART);
            if best.len() == peaks && best[peaks - 1].0 >= found
                || best.iter().any(|(other, at)| *other >= found && is_near(at))
            {
                continue;
            }
            best.retain(|(_, at)| !is_near(at));
            best.insert(best.partition_point(|(other, _)| *other >= found), (found, z));
            best.truncate(peaks);
        }
        let climbed = best.into_iter().map(|peak| self.climb(peak, self.spacing(per_axis), value));
        climbed.fold((f64::NEG_INFINITY, vec![0.0; self.dim]), |a, b| if b.0 > a.0 { b } else { a })
    }

    /// A pattern search.
    fn climb(&self, mut best: (f64, Vec<f64>), mut step: f64, value: &dyn Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
        let mut z = vec![0.0; self.dim];
        while step > FINE {
            let mut gained = false;
            for direction in 0..3_usize.pow(self.dim as u32) {
                let mut rest = direction;
                z.copy_from_slice(&best.1);
                for z in &mut z {
                    *z += step * ((rest % 3) as f64 - 1.0);
                    rest /= 3;
                }
                self.pull_in(&mut z);
                let found = value(&self.point(&z));
                if found > best.0 + NOISE * best.0.abs().max(1.0) {
                    best = (found, z.clone());
                    gained = true;
                }
            }
            if !gained {
                step *= 0.5;
            }
        }
        best
    }
}
