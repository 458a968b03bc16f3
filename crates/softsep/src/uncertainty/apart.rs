//! A plane between a box and an ellipsoid: the proof that a part of the ellipsoid has no members.

use super::shape::{Ball, Polytope};
use crate::numeric::dot;

/// Steps of the search. Parts that are so close that it takes more are left to solvers.
const STEPS: usize = 200;

/// Whether the polytope and the ball are on two sides of a plane, further apart than the tolerance in units of the
/// ball's reach. `false` proves nothing.
///
/// Gilbert's search for the shortest difference v of a member of each: v moves to the shortest one on the way to the
/// difference z that is least along v. All differences are vᵀz or more along v, so that vᵀz > 0 is the proof, also for
/// a rounded v. Of the polytope only `0 ≤ ζ ≤ 1` is used.
pub(super) fn are_apart(polytope: &Polytope, ball: &Ball, tolerance: f64) -> bool {
    let dim = ball.center.len();
    let reach: Vec<f64> = (0..dim).map(|entry| ball.half_width(entry)).collect();
    // An entry in which the ball is flat is not used here.
    let in_units = |entry: usize, length: f64| if reach[entry] > 0.0 { length / reach[entry] } else { 0.0 };
    let from_center: Vec<f64> =
        (0..dim).map(|entry| in_units(entry, polytope.base[entry] - ball.center[entry])).collect();
    let mut shortest = from_center.clone();
    let (mut least, mut towards) = (vec![0.0; dim], vec![0.0; ball.columns.len()]);
    for _ in 0..STEPS {
        least.copy_from_slice(&from_center);
        for &(entry, step) in &polytope.columns {
            let step = in_units(entry, step);
            if step * shortest[entry] < 0.0 {
                least[entry] += step;
            }
        }
        for (along, column) in towards.iter_mut().zip(&ball.columns) {
            *along = (0..dim).map(|entry| in_units(entry, column[entry]) * shortest[entry]).sum();
        }
        let length = dot(&towards, &towards).sqrt();
        if length > 0.0 {
            for (along, column) in towards.iter().zip(&ball.columns) {
                least
                    .iter_mut()
                    .enumerate()
                    .for_each(|(entry, least)| *least -= in_units(entry, column[entry]) * along / length);
            }
        }
        let (square, ahead) = (dot(&shortest, &shortest), dot(&shortest, &least));
        if ahead > tolerance * square.sqrt() {
            return true;
        }
        if square <= tolerance * tolerance {
            return false;
        }
        let share = ((square - ahead) / (square - 2.0 * ahead + dot(&least, &least))).min(1.0);
        shortest.iter_mut().zip(&least).for_each(|(shortest, least)| *shortest += share * (least - *shortest));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes beside the disc of radius 1 scaled by (1, 1000): the nearest corner decides whether they meet.
    #[test]
    fn boxes_beside_a_disc_are_apart_where_their_nearest_corner_is_outside() {
        let ball = Ball { center: vec![0.0, 0.0], columns: vec![vec![1.0, 0.0], vec![0.0, 1000.0]] };
        for i in -12..12_i32 {
            for j in -12..12_i32 {
                let (low, high) =
                    ([f64::from(i) / 10.0, f64::from(j) / 10.0], [f64::from(i + 1) / 10.0, f64::from(j + 1) / 10.0]);
                let nearest = |entry: usize| 0.0_f64.clamp(low[entry], high[entry]);
                let distance = nearest(0).hypot(nearest(1));
                let part = Polytope::between(&[low[0], 1000.0 * low[1]], &[high[0], 1000.0 * high[1]]);
                let apart = are_apart(&part, &ball, 1e-9);
                assert!(!apart || distance > 1.0, "{low:?} is {distance} from the center");
                assert!(apart || distance < 1.01, "{low:?} is {distance} from the center, and that was not seen");
            }
        }
    }

    /// A flat ball misses a box beside its plane.
    #[test]
    fn a_segment_is_apart_from_a_box_that_it_passes_by() {
        let segment = Ball { center: vec![1.0, 1.0], columns: vec![vec![1.0, 1.0]] };
        assert!(are_apart(&Polytope::between(&[1.2, 0.2], &[1.6, 0.8]), &segment, 1e-9));
        assert!(!are_apart(&Polytope::between(&[1.2, 0.2], &[1.6, 1.3]), &segment, 1e-9));
    }
}
