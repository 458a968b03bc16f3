//! Facility location with disruptions: sites are opened before it is known which of them fail.
//!
//! Site i has capacity `K_i` and loses the share ξ_i of it. The first stage opens sites (`x_i` binary) at a fixed cost.
//! The recourse serves the share `y_ij` of customer j's demand `d_j` from site i, and pays for demand `u_j` that is not
//! served:
//!
//! ```text
//! min  Σ d_j·carry_ij·y_ij + Σ d_j·unmet_j·u_j
//! s.t. Σ_i y_ij + u_j ≥ 1                      for every customer j
//!      Σ_j d_j y_ij ≤ K_i x_i                   for every site i
//!      Σ_j d_j y_ij ≤ K_i (1 − ξ_i)             for every site i
//! ```

use super::random::Streams;
use super::uncertain::{InstanceError, Uncertain, xi};
use rand::RngExt;
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same sizes and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FacilityLocation {
    /// Number of sites, and of entries of ξ.
    pub n: usize,
    /// Number of customers.
    pub customers: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    Sites = 16,
    Customers,
    Capacities,
    OpeningCosts,
    Demands,
    UnmetCosts,
}

/// Capacity of all sites over the demand of all customers.
const CAPACITY: f64 = 3.0;

impl FacilityLocation {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    /// Points of a square of side 100.
    fn points(&self, data: Data, count: usize) -> Vec<[f64; 2]> {
        let mut rng = self.streams().of(data as u64);
        (0..count).map(|_| [rng.random_range(0.0..=100.0), rng.random_range(0.0..=100.0)]).collect()
    }

    /// The capacity of each site: `CAPACITY` times all demand in all, spread by half of it either way.
    fn capacities(&self, demands: &[f64]) -> Vec<f64> {
        let shares = self.streams().shares(Data::Capacities as u64, &vec![1.0; self.n], 0.5, 1.5);
        let scale = CAPACITY * demands.iter().sum::<f64>() / shares.iter().sum::<f64>();
        shares.iter().map(|share| (share * scale).ceil()).collect()
    }

    fn recourse(&self, demands: &[f64], capacities: &[f64]) -> RecourseDefinition {
        let (sites, places) = (self.points(Data::Sites, self.n), self.points(Data::Customers, self.customers));
        let unmet = self.integers(Data::UnmetCosts, self.customers, 150, 250);
        let serve = |i: usize, j: usize| format!("serve_{}_{}", i + 1, j + 1);
        let mut stage = RecourseDefinition::default();
        for (i, site) in sites.iter().enumerate() {
            stage.variables.extend(places.iter().enumerate().map(|(j, place)| {
                let distance = (site[0] - place[0]).hypot(site[1] - place[1]);
                Variable::new(serve(i, j), demands[j] * distance.round())
            }));
            let load = || demands.iter().enumerate().map(|(j, demand)| (serve(i, j), *demand)).collect();
            stage.constraints.push(Row {
                y: load(),
                x: vec![(format!("open_{}", i + 1), -capacities[i])],
                upper: 0.0,
                ..Row::new(format!("capacity_{}", i + 1))
            });
            stage.constraints.push(Row {
                y: load(),
                xi: vec![(xi(i), capacities[i])],
                upper: capacities[i],
                ..Row::new(format!("disruption_{}", i + 1))
            });
        }
        for j in 0..self.customers {
            let not_served = format!("unmet_{}", j + 1);
            stage.variables.push(Variable::new(&not_served, demands[j] * unmet[j]));
            stage.constraints.push(Row {
                y: (0..self.n).map(|i| (serve(i, j), 1.0)).chain([(not_served, 1.0)]).collect(),
                lower: 1.0,
                ..Row::new(format!("demand_{}", j + 1))
            });
        }
        stage
    }
}

/// Draws an instance.
pub fn facility_location(settings: &FacilityLocation) -> Result<ProblemDefinition, InstanceError> {
    let FacilityLocation { n, customers, uncertainty: set, seed } = *settings;
    set.validate(n, 1)?;
    if customers == 0 {
        return Err(InstanceError::None("customers"));
    }
    let demands = settings.integers(Data::Demands, customers, 5, 35);
    let capacities = settings.capacities(&demands);
    let costs = settings.integers(Data::OpeningCosts, n, 2000, 5000);
    let sites = (1..).zip(costs).map(|(i, cost)| Variable::binary(format!("open_{i}"), cost));
    Ok(ProblemDefinition {
        name: format!("facility location, {n} sites, {customers} customers, {}, seed {seed}", set.title("site")),
        first_stage: FirstStageDefinition { variables: sites.collect(), ..Default::default() },
        uncertainty: set.draw(n, settings.streams()),
        recourse: settings.recourse(&demands, &capacities),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_site_that_is_closed_or_fails_serves_nobody() {
        let settings = FacilityLocation { n: 4, customers: 6, uncertainty: Uncertain::Ellipsoid, seed: 3 };
        let drawn = facility_location(&settings).unwrap();
        for row in drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("capacity")) {
            assert_eq!((row.y.len(), row.upper), (6, 0.0));
        }
        for row in drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("disruption")) {
            assert_eq!(row.upper - row.xi[0].1, 0.0);
        }
        let none = facility_location(&FacilityLocation { customers: 0, ..settings });
        assert_eq!(none, Err(InstanceError::None("customers")));
    }
}
