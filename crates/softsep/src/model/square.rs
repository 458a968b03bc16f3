//! The square root of a positive semidefinite matrix, which turns a quadratic cost in a constraint into a second-order
//! cone.

use faer::{Mat, Side};

use super::Symmetric;

/// Rows L with `LᵀL = M` up to rounding, as sparse terms; M must be positive semidefinite.
///
/// Then `t ≥ ½ vᵀMv` is `‖(√2·Lv, t − 1)‖ ≤ t + 1`: squared, `2‖Lv‖² ≤ 4t`.
pub(crate) fn square_root(matrix: &Symmetric) -> Option<Vec<Vec<(usize, f64)>>> {
    let mut involved: Vec<usize> = matrix.iter().flat_map(|(i, j, _)| [i, j]).collect();
    involved.sort_unstable();
    involved.dedup();
    let position = |index: usize| involved.binary_search(&index).ok();
    let mut dense = Mat::<f64>::zeros(involved.len(), involved.len());
    for (i, j, value) in matrix.iter() {
        let (i, j) = (position(i)?, position(j)?);
        dense[(i, j)] = value;
        dense[(j, i)] = value;
    }
    let eigen = dense.self_adjoint_eigen(Side::Lower).ok()?;
    let (vectors, values) = (eigen.U(), eigen.S());
    let largest = (0..involved.len()).map(|k| values[k].abs()).fold(0.0, f64::max);
    let rows = (0..involved.len())
        .filter(|&k| values[k] > 1e-12 * largest)
        .map(|k| {
            let root = values[k].sqrt();
            involved
                .iter()
                .enumerate()
                .map(|(i, &index)| (index, root * vectors[(i, k)]))
                .filter(|(_, entry)| *entry != 0.0)
                .collect()
        })
        .collect();
    Some(rows)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_root_squares_to_the_matrix() {
        let mut matrix = Symmetric::default();
        for (i, j, value) in [(1, 1, 2.0), (3, 1, -1.0), (3, 3, 0.5), (4, 4, 3.0)] {
            matrix.push(i, j, value);
        }
        let root = square_root(&matrix).unwrap();
        assert_eq!(root.len(), 2, "one eigenvalue is zero");
        let v = [7.0, 0.3, 9.0, -1.2, 0.8];
        let square: f64 = root.iter().map(|row| row.iter().map(|&(i, entry)| entry * v[i]).sum::<f64>().powi(2)).sum();
        assert!((0.5 * square - matrix.half_square(&v)).abs() < 1e-12);
    }
}
