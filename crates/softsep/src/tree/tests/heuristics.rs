//! Primal heuristics of the tree.

use super::*;

/// Two of three binaries are open at least, which a relaxation leaves fractional, and z is paid for. The recourse cost
/// is above many tangents of a parabola in z.
fn covered_parabola() -> (ProblemDefinition, Vec<Cut>) {
    let mut variables: Vec<Variable> = (0..3).map(|j| Variable::binary(format!("b{j}"), 5.0)).collect();
    variables.push(Variable::new("z", 1.0).bounded(0.0, 20.0));
    let mut cover = Row::new("cover");
    cover.x = (0..3).map(|j| (format!("b{j}"), 3.0)).collect();
    cover.lower = 5.0;
    let tangent = |at: f64| {
        let slope = 2.0 * (at - 7.3);
        Cut {
            kind: CutKind::Optimality,
            intercept: (at - 7.3) * (at - 7.3) - slope * at,
            slope: vec![0.0, 0.0, 0.0, slope],
        }
    };
    (stage(variables, vec![cover]), (0..=80).map(|k| tangent(f64::from(k) / 4.0)).collect())
}

#[test]
fn a_dive_ends_with_the_best_continuous_columns_for_its_integers() {
    let (file, cuts) = covered_parabola();
    let problem = Problem::new(&file).unwrap();
    let optimum = reference(&problem, &cuts).unwrap();
    let mut callback = HiddenCuts::new(&problem, &cuts, Some(optimum));
    // The root alone, with cuts of one point: the dive from there is the only source of decisions.
    let settings = TreeSettings { nodes: Some(1), root_rounds: 1, ..TreeSettings::default() };
    let (ended, work) = search(&problem, settings, &mut callback);
    assert_eq!((ended, work.nodes), (Ok(Some(Stop::IterationLimit)), 1));
    let value = callback.best.unwrap().1;
    assert!((value - optimum).abs() <= 1e-6, "{value} instead of {optimum} after {} evaluations", work.considered);
}
