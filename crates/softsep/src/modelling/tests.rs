//! Models against the definitions that they should make, and the faults that they should name.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::outcome::Status;
use crate::uncertainty::Sides;

fn faults(model: &Model) -> Vec<String> {
    model.problem().err().map_or(Vec::new(), |faults| faults.iter().map(ToString::to_string).collect())
}

#[test]
fn rows_are_assigned_to_stages_and_the_set() {
    let mut m = Model::new("rows");
    let x = m.first_stage("x", 0.0..=5.0);
    let (g, h) = (m.uncertain("g", 0.0..=1.0), m.uncertain("h", -1.0..=1.0));
    let y = m.recourse("y", ..);
    m.add("first", (2.0 * x + 1.0).le(x + 4.0));
    m.add("set", (g + h).between(-1.0, 1.5));
    m.add("recourse", (y + x).ge(3.0 * g - h / 2.0));
    m.add("both", x.eq(g * 2.0 - g));
    m.minimize(1.5 + x - (-y) + y * g + 2.0 * (h * y) + y * g);
    let definition = m.definition();
    assert_eq!(
        definition.first_stage.constraints,
        [Row { x: vec![("x".into(), 1.0)], upper: 3.0, ..Row::new("first") }]
    );
    let SetDefinition::Polyhedron { lower, upper, constraints } = &definition.uncertainty.set else { panic!("a box") };
    assert_eq!((lower.as_slice(), upper.as_slice()), ([0.0, -1.0].as_slice(), [1.0, 1.0].as_slice()));
    assert_eq!((constraints[0].lower, constraints[0].upper), (-1.0, 1.5));
    let row = &definition.recourse.constraints[0];
    assert_eq!(row.xi, [("g".to_owned(), -3.0), ("h".to_owned(), 0.5)]);
    assert_eq!((row.lower, row.upper), (0.0, f64::INFINITY));
    assert_eq!(definition.recourse.constraints[1].xi, [("g".to_owned(), -1.0)]);
    let cost = &definition.recourse.variables[0];
    assert_eq!((cost.cost, definition.first_stage.constant), (1.0, 1.5));
    assert_eq!(cost.cost_xi, [("g".to_owned(), 2.0), ("h".to_owned(), 2.0)]);
    assert_eq!((faults(&m), m.name(h)), (Vec::<String>::new(), "h"));
}

#[test]
fn a_result_is_read_by_handle_and_by_name() {
    let mut m = Model::new("order");
    let order = m.integer("order", 0.0..=50.0);
    let demand = m.uncertain_vec("demand", 2, 5.0..=15.0);
    let short = m.recourse("short", 0.0..);
    let serve = m.recourse("serve", 0.0..);
    m.minimize(5.0 * order + 9.0 * short + serve);
    m.add("cover", (short + order).ge(serve));
    m.add("served", serve.eq(demand.iter().sum::<Expr>()));
    let result = m.solve(&Settings::default().gap(1e-9)).unwrap();
    assert_eq!((result.status(), result.objective()), (Status::Optimal, Some(180.0)));
    assert_eq!((result[order], result["order"], result[demand[1]], result[short]), (30.0, 30.0, 15.0, 0.0));
    assert_eq!((result.value("demand[0]"), result.value("nothing")), (Some(15.0), None));
    let other = Model::new("other").binary("a");
    assert_eq!(result.value(other), None);
}

#[test]
fn faults_name_their_variable_or_constraint() {
    let mut other = Model::new("other");
    let (stranger, foreign) = (other.binary("stranger"), other.recourse("foreign", 0.0..));
    let mut m = Model::new("faults");
    let g = m.uncertain("g", 0.0..=1.0);
    let y = m.recourse("y", 0.0..3.0);
    m.add("row", (y + stranger).le(1.0));
    m.add("product", (y * g).le(1.0));
    m.minimize(y + g + foreign);
    m.uncertainty(SetDefinition::budget(1.0, Sides::One, [0.0], [1.0]));
    m.add("late", g.le(0.5));
    assert_eq!(
        faults(&m),
        [
            "recourse.variables[0] \"y\": its range excludes the upper bound 3.0; write ..=3.0",
            "the constraint \"row\": has a first-stage variable of another model",
            "the constraint \"product\": has a product of a recourse variable and an uncertain parameter; an objective \
             may have one",
            "the objective: has a recourse variable of another model",
            "the objective: has a term in the uncertain parameter \"g\" alone; add a recourse variable that an \
             equality fixes to it, and give that the cost",
            "uncertainty.parameters[0] \"g\": has bounds beside a set, which says all; write .. for its bounds",
            "the constraint \"late\": has uncertain parameters only, and the set is given already",
        ]
    );
    let mut twice = Model::new("twice");
    twice.first_stage_vec("x", 1, 0.0..);
    twice.binary("x[0]");
    twice.uncertain("g", ..);
    assert_eq!(faults(&twice).len(), 3, "{:?}", faults(&twice));
    twice.scenarios([vec![1.0], vec![1.0, 2.0]]);
    assert!(faults(&twice)[0].starts_with("scenarios[1]: has 2 values"), "{:?}", faults(&twice));
}
