//! Products, norms and distances of dense vectors. Arguments of one call have the same length.

/// The dot product `aᵀb`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The dot product `aᵀb`, summed in four independent lanes: a sum of one lane waits for each addition.
pub(crate) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = dot(a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for lane in 0..4 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

/// The Euclidean norm.
pub(crate) fn norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

/// The Euclidean distance between two points.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
