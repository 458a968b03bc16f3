//! Network design: which links to build, before the traffic is known.
//!
//! A link has a fixed price, and a capacity that is bought by the unit. Traffic between three pairs of nodes is
//! uncertain: each demand has bounds, and together they are at most 24. Constraints in ξ alone make a polyhedron of the
//! box. Then traffic is routed; unrouted traffic has a price.

use softsep::{Error, Expr, GenerationSettings, MethodSettings, Model, SeparationKind, Settings};

const NODES: usize = 5;
const LINKS: [(usize, usize, f64, f64); 8] = [
    // From, to, fixed price, price of a unit of capacity.
    (0, 1, 20.0, 2.0),
    (0, 2, 25.0, 2.0),
    (1, 2, 10.0, 1.0),
    (1, 3, 30.0, 3.0),
    (2, 3, 18.0, 2.0),
    (2, 4, 28.0, 3.0),
    (3, 4, 12.0, 1.0),
    (0, 4, 60.0, 4.0),
];
/// Origin, destination, least and largest demand.
const TRAFFIC: [(usize, usize, f64, f64); 3] = [(0, 3, 4.0, 12.0), (0, 4, 3.0, 10.0), (1, 4, 2.0, 9.0)];
const TOTAL: f64 = 24.0;
const LOST: f64 = 25.0;
/// The optimum; two methods agree on it below.
const OPTIMUM: f64 = 185.0;

pub(crate) fn main() -> Result<(), Error> {
    let mut m = Model::new("network design");
    let build = m.binary_vec("build", LINKS.len());
    let capacity = m.first_stage_vec("capacity", LINKS.len(), 0.0..=40.0);
    let mut cost = Expr::default();
    for (l, &(_, _, fixed, unit)) in LINKS.iter().enumerate() {
        cost += fixed * build[l] + unit * capacity[l];
        m.add(format!("link {l}"), capacity[l].le(40.0 * build[l]));
    }

    let mut total = Expr::default();
    let mut load = vec![Expr::default(); LINKS.len()];
    for (k, &(origin, destination, least, most)) in TRAFFIC.iter().enumerate() {
        let demand = m.uncertain(format!("demand {k}"), least..=most);
        total += demand;
        let flow = m.recourse_vec(&format!("flow {k}"), LINKS.len(), 0.0..);
        let lost = m.recourse(format!("lost {k}"), 0.0..);
        cost += LOST * lost;
        // The flow out of a node minus the flow into it.
        for node in 0..NODES {
            let mut net = Expr::default();
            for (l, &(from, to, _, _)) in LINKS.iter().enumerate() {
                if from == node {
                    net += flow[l];
                }
                if to == node {
                    net -= flow[l];
                }
            }
            let sent = match node {
                _ if node == origin => demand - lost,
                _ if node == destination => lost - demand,
                _ => Expr::default(),
            };
            m.add(format!("node {node}, traffic {k}"), net.eq(sent));
        }
        for (l, load) in load.iter_mut().enumerate() {
            *load += flow[l];
        }
    }
    for (l, load) in load.into_iter().enumerate() {
        m.add(format!("capacity {l}"), load.le(capacity[l]));
    }
    m.add("total traffic", total.le(TOTAL));
    m.minimize(cost);

    let settings = Settings::default().gap(1e-6);
    let result = m.solve(&settings)?;
    for (l, (from, to, _, _)) in LINKS.iter().enumerate().filter(|(l, _)| result[build[*l]] > 0.5) {
        println!("build {from} -> {to} with capacity {:.3}", result[capacity[l]]);
    }
    println!("cost {:.3}", result.objective().unwrap_or(f64::NAN));

    // The same by column-and-constraint generation with another separation, a mixed-integer program over ξ.
    let bilinear = GenerationSettings::default().with_separation(SeparationKind::Bilinear);
    let again = m.solve(&settings.method(MethodSettings::Ccg(bilinear)))?;
    for solution in [&result, &again] {
        assert!(
            solution.objective().is_some_and(|cost| (cost - OPTIMUM).abs() < 1e-5 * OPTIMUM),
            "{:?}",
            solution.objective()
        );
    }
    Ok(())
}
