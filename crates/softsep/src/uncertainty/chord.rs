//! Chords of a convex set: all t for which `point + t·direction` is a member, zero among them.

/// Within `lower ≤ z ≤ upper` for each of the triples (how far below, how far above, the direction's entry): the ratio
/// test.
pub(super) fn between(entries: impl Iterator<Item = (f64, f64, f64)>) -> (f64, f64) {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for (below, above, step) in entries {
        // Rounding may have left the point a little outside.
        let (below, above) = (below.max(0.0), above.max(0.0));
        if step > 0.0 {
            (least, most) = (least.max(-below / step), most.min(above / step));
        } else if step < 0.0 {
            (least, most) = (least.max(above / step), most.min(-below / step));
        }
    }
    (least, most)
}

/// Within `‖z‖ ≤ 1`, given `‖z‖²`, `⟨z, d⟩` and `‖d‖²` of the direction d.
pub(super) fn in_ball(square: f64, along: f64, step: f64) -> (f64, f64) {
    let left = (1.0 - square).max(0.0);
    if !(step > 0.0) {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    // The larger root of step·t² + 2·along·t = left in size first; the other from their product −left/step.
    let root = (along * along + step * left).sqrt();
    let far = -(along + root.copysign(along)) / step;
    let near = if far == 0.0 { 0.0 } else { -left / (step * far) };
    (far.min(near), far.max(near))
}

/// Within `|z| ≤ 1` (or `0 ≤ z ≤ 1` if `one_sided`) and `Σ|z| ≤ budget`, for pairs of z and the direction's entry.
///
/// The sum is convex and piecewise linear in t: Newton's steps from where the bounds end go down along its pieces and
/// end at the root, after as many steps at most as there are pieces.
pub(super) fn deviations(
    entries: impl Iterator<Item = (f64, f64)> + Clone,
    budget: f64,
    one_sided: bool,
) -> (f64, f64) {
    let lower = if one_sided { 0.0 } else { -1.0 };
    let (least, most) = between(entries.clone().map(|(z, step)| (z - lower, 1.0 - z, step)));
    let shorten = |mut t: f64| {
        while t.is_finite() {
            let (mut spent, mut rise) = (0.0, 0.0);
            for (z, step) in entries.clone() {
                let there = z + t * step;
                spent += there.abs();
                // At a kink, the slope of the side that the step goes to.
                rise += if there == 0.0 { -t.signum() * step.abs() } else { there.signum() * step };
            }
            let next = t - (spent - budget) / rise;
            // Within the budget, or a step that rounding has turned round or stopped.
            if spent <= budget || !(next.abs() < t.abs()) {
                break;
            }
            t = if next * t > 0.0 { next } else { 0.0 };
        }
        t
    };
    (shorten(least), shorten(most))
}
