//! Product form of basis changes: `B = B₀ E₁ E₂ …`, where each E is the identity but for one column.

/// Basis changes since a factorization, in order.
#[derive(Default)]
pub(super) struct EtaFile {
    etas: Vec<Eta>,
    entries: Vec<(u32, f64)>,
}

/// One basis change. Its column `B⁻¹a` is `pivot` at `position`; the other entries are those of `entries` from the end
/// of the previous change up to `end`.
#[derive(Clone, Copy)]
struct Eta {
    position: usize,
    pivot: f64,
    end: usize,
}

impl EtaFile {
    pub(super) fn is_empty(&self) -> bool {
        self.etas.is_empty()
    }

    /// Number of basis changes.
    pub(super) fn len(&self) -> usize {
        self.etas.len()
    }

    /// Number of stored entries, pivots not counted.
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Copies `other` into the memory of `self`.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.etas.clone_from(&other.etas);
        self.entries.clone_from(&other.entries);
    }

    /// Appends the change that puts the variable with column `column = B⁻¹a` at `position`.
    pub(super) fn push(&mut self, position: usize, column: &[f64]) {
        let others = column.iter().enumerate().filter(|&(row, &entry)| entry != 0.0 && row != position);
        self.entries.extend(others.map(|(row, &entry)| (row as u32, entry)));
        self.etas.push(Eta { position, pivot: column[position], end: self.entries.len() });
    }

    /// Applies the inverses of the changes, first one first. Completes a solve with the factors of B₀.
    pub(super) fn ftran(&self, values: &mut [f64]) {
        let mut start = 0;
        for eta in &self.etas {
            let step = values[eta.position] / eta.pivot;
            if step != 0.0 {
                for &(row, entry) in &self.entries[start..eta.end] {
                    values[row as usize] -= entry * step;
                }
            }
            values[eta.position] = step;
            start = eta.end;
        }
    }

    /// Applies the transposed inverses of the changes, last one first. Precedes a transposed solve with the factors of
    /// B₀.
    pub(super) fn btran(&self, values: &mut [f64]) {
        for (change, eta) in self.etas.iter().enumerate().rev() {
            let start = change.checked_sub(1).map_or(0, |last| self.etas[last].end);
            let rest: f64 = self.entries[start..eta.end].iter().map(|&(row, entry)| entry * values[row as usize]).sum();
            values[eta.position] = (values[eta.position] - rest) / eta.pivot;
        }
    }
}
