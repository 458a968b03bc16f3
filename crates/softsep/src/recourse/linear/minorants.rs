//! Values of the affine minorants of a pool at the current (x, ξ), updated by the change of ξ.
//!
//! The minorant of a dual π has the slope −Uᵀπ in ξ. At a fixed x a change of a few entries of ξ therefore changes the
//! value of each minorant by a few products, where the product πᵀs has one term per row. The values only choose which
//! basis is tested: rounding errors of the updates can cost time and cannot make an answer wrong.

/// Updates after which the values are computed anew, so that rounding errors stay below those of the ties.
const MAX_UPDATES: u32 = 500;

/// One column per basis of a pool.
#[derive(Default)]
pub(super) struct Minorants {
    /// Slopes in ξ, entry by entry: the slopes of entry e start at `e · stride`.
    slopes: Vec<f64>,
    stride: usize,
    pub(super) values: Vec<f64>,
    /// The ξ of `values`, and whether it is: otherwise the values must be computed anew.
    xi: Vec<f64>,
    is_current: bool,
    updates: u32,
    changes: Vec<(u32, f64)>,
}

impl Minorants {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.is_current = false;
    }

    /// Makes the next scan compute all values anew.
    pub(super) fn invalidate(&mut self) {
        self.is_current = false;
    }

    /// Writes the minorant of the basis at `index`, which is at most the number of minorants. `value` is its value at
    /// the ξ of the last scan.
    pub(super) fn set(&mut self, index: usize, slope_xi: &[f64], value: f64) {
        if index >= self.stride {
            self.widen(slope_xi.len(), index + 1);
        }
        for (row, slope) in self.slopes.chunks_exact_mut(self.stride).zip(slope_xi) {
            row[index] = *slope;
        }
        if index < self.values.len() {
            self.values[index] = value;
        } else {
            self.values.push(value);
        }
    }

    /// Removes the minorant at `index` and moves the last one there.
    pub(super) fn swap_remove(&mut self, index: usize) {
        let last = self.values.len() - 1;
        self.slopes.chunks_exact_mut(self.stride).for_each(|row| row[index] = row[last]);
        self.values.swap_remove(index);
    }

    fn widen(&mut self, dim: usize, count: usize) {
        let stride = count.max(2 * self.stride).max(64);
        let mut slopes = vec![0.0; dim * stride];
        if self.stride > 0 {
            for (new, old) in slopes.chunks_exact_mut(stride).zip(self.slopes.chunks_exact(self.stride)) {
                new[..self.stride].copy_from_slice(old);
            }
        }
        (self.slopes, self.stride) = (slopes, stride);
    }

    /// Moves the values to `xi`. `exact` computes the value of one minorant from the right-hand side. Returns the
    /// number of products per minorant if updates sufficed.
    pub(super) fn move_to(&mut self, xi: &[f64], exact: impl Fn(usize) -> f64) -> Option<usize> {
        let count = self.values.len();
        if !self.is_current || self.updates >= MAX_UPDATES {
            self.values.iter_mut().enumerate().for_each(|(index, value)| *value = exact(index));
            self.xi.clear();
            self.xi.extend_from_slice(xi);
            self.is_current = true;
            self.updates = 0;
            return None;
        }
        self.changes.clear();
        for (entry, (old, &new)) in self.xi.iter_mut().zip(xi).enumerate() {
            if *old != new {
                self.changes.push((entry as u32, new - *old));
                *old = new;
            }
        }
        let row = |entry: u32| &self.slopes[entry as usize * self.stride..][..count];
        let mut pairs = self.changes.chunks_exact(2);
        for pair in &mut pairs {
            let (a, b) = (pair[0].1, pair[1].1);
            for ((value, slope_a), slope_b) in self.values.iter_mut().zip(row(pair[0].0)).zip(row(pair[1].0)) {
                *value += a * slope_a + b * slope_b;
            }
        }
        for &(entry, change) in pairs.remainder() {
            self.values.iter_mut().zip(row(entry)).for_each(|(value, slope)| *value += change * slope);
        }
        self.updates += 1;
        Some(self.changes.len())
    }

    /// Returns the index of the largest value, `favourite` if it is one of them.
    pub(super) fn largest(&self, favourite: usize) -> Option<usize> {
        let start = *self.values.get(favourite)?;
        // Independent maxima of eight lanes: one chain of comparisons would wait for each.
        let mut lanes = [start; 8];
        let mut chunks = self.values.chunks_exact(8);
        for chunk in &mut chunks {
            for (lane, &value) in lanes.iter_mut().zip(chunk) {
                *lane = if value > *lane { value } else { *lane };
            }
        }
        let rest = chunks.remainder().iter();
        let largest = lanes.iter().chain(rest).fold(start, |most, &value| if value > most { value } else { most });
        if largest == start {
            return Some(favourite);
        }
        self.values.iter().position(|&value| value == largest)
    }
}
