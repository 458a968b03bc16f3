//! Unit commitment: which power plants run in which hour?
//!
//! Starting a plant and keeping it on is decided a day ahead, in binaries. Then the demand is known, and running plants
//! are dispatched between their least and largest output; unserved load is shed at a high price. Demand deviates upward
//! in at most three hours (a budget of uncertainty).

use softsep::{Error, Expr, GenerationSettings, MethodSettings, Model, RecourseVar, SetDefinition, Settings, Sides};

struct Plant {
    name: &'static str,
    least: f64,
    most: f64,
    start: f64,
    hour: f64,
    energy: f64,
}

const PLANTS: [Plant; 3] = [
    Plant { name: "coal", least: 60.0, most: 150.0, start: 900.0, hour: 250.0, energy: 18.0 },
    Plant { name: "gas", least: 30.0, most: 100.0, start: 350.0, hour: 120.0, energy: 29.0 },
    Plant { name: "oil", least: 10.0, most: 60.0, start: 80.0, hour: 40.0, energy: 47.0 },
];

const DEMAND: [f64; 8] = [95.0, 88.0, 110.0, 150.0, 190.0, 205.0, 170.0, 120.0];
const DEVIATION: [f64; 8] = [10.0, 10.0, 20.0, 35.0, 45.0, 50.0, 40.0, 20.0];
const SHED: f64 = 400.0;
const BUDGET: f64 = 3.0;
/// The optimum; two methods agree on it below.
const OPTIMUM: f64 = 29_844.0;

pub(crate) fn main() -> Result<(), Error> {
    let hours = DEMAND.len();
    let mut m = Model::new("unit commitment");

    // ξ: the share of its largest deviation that the demand of each hour takes. The set is given below, so that the
    // parameters have no bounds of their own.
    let deviation = m.uncertain_vec("deviation", hours, ..);
    m.uncertainty(SetDefinition::budget(BUDGET, Sides::One, vec![0.0; hours], vec![1.0; hours]));

    let mut cost = Expr::default();
    let mut outputs: Vec<Vec<RecourseVar>> = Vec::new();
    for plant in &PLANTS {
        let on = m.binary_vec(&format!("{} on", plant.name), hours);
        let start = m.binary_vec(&format!("{} starts", plant.name), hours);
        let output = m.recourse_vec(&format!("{} output", plant.name), hours, 0.0..);
        for t in 0..hours {
            cost += plant.start * start[t] + plant.hour * on[t] + plant.energy * output[t];
            // All plants are off before the first hour.
            let before = if t == 0 { Expr::from(0.0) } else { on[t - 1].into() };
            m.add(format!("{} start {t}", plant.name), start[t].ge(on[t] - before));
            m.add(format!("{} least {t}", plant.name), output[t].ge(plant.least * on[t]));
            m.add(format!("{} most {t}", plant.name), output[t].le(plant.most * on[t]));
        }
        outputs.push(output);
    }
    let shed = m.recourse_vec("shed", hours, 0.0..);
    for t in 0..hours {
        cost += SHED * shed[t];
        // Surplus is curtailed for free, so that supply may exceed demand.
        let supply = outputs.iter().map(|output| output[t]).sum::<Expr>() + shed[t];
        m.add(format!("balance {t}"), supply.ge(DEMAND[t] + DEVIATION[t] * deviation[t]));
    }
    m.minimize(cost);

    let settings = Settings::default().gap(1e-6);
    let result = m.solve(&settings)?;
    for plant in &PLANTS {
        let on = (0..hours).map(|t| result[format!("{} on[{t}]", plant.name).as_str()]);
        println!("{:5} {}", plant.name, on.map(|on| if on > 0.5 { '#' } else { '.' }).collect::<String>());
    }
    let hit: Vec<usize> = (0..hours).filter(|&t| result[deviation[t]] > 1e-6).collect();
    println!("cost {:.2}; the worst case raises the demand of hours {hit:?}", result.objective().unwrap_or(f64::NAN));

    // The same optimum by Benders decomposition.
    let again = m.solve(&settings.method(MethodSettings::Benders(GenerationSettings::default())))?;
    for solution in [&result, &again] {
        assert!(
            solution.objective().is_some_and(|cost| (cost - OPTIMUM).abs() < 1e-5 * OPTIMUM),
            "{:?}",
            solution.objective()
        );
    }
    Ok(())
}
