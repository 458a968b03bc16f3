//! A tree over the rows of a list: rows under one node are near each other.

use rand::RngExt;

use crate::definition::ScenarioList;
use crate::run::Random;

/// Nodes of fewer rows are leaves, so that each part of a split has at least two rows.
const LEAST_SPLIT: usize = 4;

/// The rows of a node from which its widest coordinate is found: a sample of them does.
const SAMPLE: usize = 128;

/// A k-d tree. Its nodes are ranges of positions that are halved: the root has all positions, and the rows of a node
/// are split at the median of the coordinate in which they differ most, in units of the whole list's range.
pub(super) struct RowTree {
    /// The row at each position, and the position of each row.
    rows: Vec<u32>,
    positions: Vec<u32>,
    /// The number of levels.
    levels: usize,
}

impl RowTree {
    pub(super) fn new(points: &ScenarioList) -> Self {
        let mut rows: Vec<u32> = (0..points.len() as u32).collect();
        let mut widths = vec![0.0; points.dim()];
        let all: Vec<u32> = rows.clone();
        ranges(points, &all, &mut widths);
        let units: Vec<f64> = widths.iter().map(|width| if *width > 0.0 { width.recip() } else { 0.0 }).collect();
        split(points, &units, &mut rows);
        let mut positions = vec![0; rows.len()];
        rows.iter().enumerate().for_each(|(position, &row)| positions[row as usize] = position as u32);
        let (mut levels, mut size) = (1, points.len());
        while size >= LEAST_SPLIT {
            (levels, size) = (levels + 1, size.div_ceil(2));
        }
        Self { rows, positions, levels }
    }

    /// The node of a position on a level, or the leaf above it.
    fn node(&self, position: usize, level: usize) -> (usize, usize) {
        let (mut start, mut end) = (0, self.rows.len());
        for _ in 0..level {
            if end - start < LEAST_SPLIT {
                break;
            }
            let middle = start.midpoint(end);
            *(if position < middle { &mut end } else { &mut start }) = middle;
        }
        (start, end)
    }

    /// Draws another row of a node around `row` on a level that is drawn uniformly. Both rows are in the node, so that
    /// the move is symmetric. Returns `row` if there is no other.
    pub(super) fn draw(&self, row: usize, random: &mut Random) -> usize {
        let position = self.positions[row] as usize;
        let (start, end) = self.node(position, random.random_range(0..self.levels));
        if end - start < 2 {
            return row;
        }
        let other = random.random_range(start..end - 1);
        self.rows[if other < position { other } else { other + 1 }] as usize
    }

    /// The probability of a draw.
    pub(super) fn probability(&self, from: usize, to: usize) -> f64 {
        let (from, to) = (self.positions[from] as usize, self.positions[to] as usize);
        let on_level = |level: usize| {
            let (start, end) = self.node(from, level);
            match (from == to, end - start) {
                (true, 1) => 1.0,
                (false, size) if (start..end).contains(&to) => 1.0 / (size - 1) as f64,
                _ => 0.0,
            }
        };
        (0..self.levels).map(on_level).sum::<f64>() / self.levels as f64
    }
}

/// Writes the range of each coordinate over some rows.
fn ranges(points: &ScenarioList, rows: &[u32], widths: &mut [f64]) {
    for (entry, width) in widths.iter_mut().enumerate() {
        let values = rows.iter().map(|&row| points.row(row as usize)[entry]);
        let (least, most) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (value.min(least), value.max(most)));
        *width = most - least;
    }
}

/// Orders the rows of a node and of all nodes below it.
fn split(points: &ScenarioList, units: &[f64], rows: &mut [u32]) {
    if rows.len() < LEAST_SPLIT {
        return;
    }
    let mut widths = vec![0.0; units.len()];
    let step = rows.len().div_ceil(SAMPLE);
    let sample: Vec<u32> = rows.iter().step_by(step).copied().collect();
    ranges(points, &sample, &mut widths);
    let widest = (0..units.len()).max_by(|&a, &b| (widths[a] * units[a]).total_cmp(&(widths[b] * units[b])));
    let widest = widest.unwrap_or(0);
    let middle = rows.len() / 2;
    let value = |row: u32| points.row(row as usize).get(widest).copied().unwrap_or(0.0);
    // Equal values are ordered by row, so that the tree is the same each time.
    rows.select_nth_unstable_by(middle, |&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
    let (low, high) = rows.split_at_mut(middle);
    split(points, units, low);
    split(points, units, high);
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn moves_are_symmetric_and_reach_all_rows_and_most_are_short() {
        let mut random = Random::seed_from_u64(5);
        for count in [1, 2, 3, 4, 7, 64, 333] {
            let mut points = ScenarioList::new(2);
            (0..count).for_each(|_| points.push(&[random.random(), 1e3 * random.random::<f64>()]));
            let tree = RowTree::new(&points);
            for from in 0..count {
                let all: f64 = (0..count).map(|to| tree.probability(from, to)).sum();
                assert!((all - 1.0).abs() < 1e-12, "{count} rows: {all}");
                for to in 0..count {
                    assert_eq!(tree.probability(from, to), tree.probability(to, from));
                    assert!(from == to || tree.probability(from, to) > 0.0);
                }
            }
        }
        let mut points = ScenarioList::new(2);
        (0..4096).for_each(|_| points.push(&[random.random(), random.random()]));
        let tree = RowTree::new(&points);
        let length = |a: &[f64], b: &[f64]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let mut lengths: Vec<f64> =
            (0..4000).map(|row| length(points.row(row), points.row(tree.draw(row, &mut random)))).collect();
        lengths.sort_by(f64::total_cmp);
        assert!(lengths[2000] < 0.2 && lengths[3990] > 0.5, "{} and {}", lengths[2000], lengths[3990]);
    }
}
