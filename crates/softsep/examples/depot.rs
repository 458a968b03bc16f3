//! A first model: one depot, one customer.
//!
//! Now: may the depot be opened, and how much capacity does it get? Demand is 206 plus up to 40. Then: ship from the
//! depot, and buy the rest at a high price. The optimum is the best decision for the worst demand.

use softsep::{Error, ExtensiveSettings, Model, Settings, Status};

pub(crate) fn main() -> Result<(), Error> {
    // A name, for results and messages. Everything else refers to a variable by its handle.
    let mut m = Model::new("one depot, one customer");

    // First stage: decided before the demand is known. Bounds are ranges.
    let open = m.binary("open");
    let capacity = m.first_stage("capacity", 0.0..=800.0);

    // The adversary: any g between 0 and 1.
    let g = m.uncertain("g", 0.0..=1.0);

    // Recourse: decided once g is known, the best answer to it.
    let ship = m.recourse("ship", 0.0..);
    let emergency = m.recourse("emergency", 0.0..);

    // The cost of both stages, the second in the worst case.
    m.minimize(400.0 * open + 18.0 * capacity + 22.0 * ship + 150.0 * emergency);

    // In first-stage variables alone, a constraint is one of the first stage; with ship or g in it, the recourse keeps
    // it for every g.
    m.add("link", capacity.le(800.0 * open));
    m.add("supply", ship.le(capacity));
    m.add("demand", (ship + emergency).ge(206.0 + 40.0 * g));

    let result = m.solve(&Settings::default())?;
    assert_eq!(result.status(), Status::Optimal);
    println!("open {}, capacity {}, worst case g = {}", result[open], result[capacity], result[g]);
    println!("cost {:?}, of which {} is shipped there", result.objective(), result[ship]);

    // Every bound says how it is known.
    let bounds = &result.outcome().bounds;
    println!("between {:?} and {:?}: {:?}", bounds.lower(), bounds.upper(), bounds.certificate());

    // The optimum is 400 + 18·246 + 22·246, and another method agrees.
    assert_eq!((result[open], result[capacity], result.objective()), (1.0, 246.0, Some(10_240.0)));
    let again = m.solve(&Settings::default().method(ExtensiveSettings::default()))?;
    assert_eq!(again.objective(), result.objective());
    Ok(())
}
