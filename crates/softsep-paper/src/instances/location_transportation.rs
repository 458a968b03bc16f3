//! The robust location–transportation problem of the soft-separation paper's experiments (after Zeng and Zhao, 2013).
//!
//! Capacity is bought at n sites before the demand of n customers is known. Then goods are shipped; what cannot be
//! shipped comes from an expensive emergency source, so that every capacity is feasible. Customer j demands `d̄_j +
//! d̂_j ξ_j`.

use super::random::Streams;
use super::uncertain::{InstanceError, Uncertain, most, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same `n` and `seed` give the same costs and demands whatever the set, and the same
/// ellipsoid under `Ellipsoid` and `Scenarios`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocationTransportation {
    /// Number of sites, and of customers.
    pub n: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// Whether a site must be opened, at a setup cost, before capacity is bought there.
    pub mixed_integer: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    CapacityCosts = 1,
    ShippingCosts,
    EmergencyCosts,
    Demands,
    Sensitivities,
    SetupCosts = 8,
    Sizes,
}

impl LocationTransportation {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    fn title(&self) -> String {
        let set = self.uncertainty.title("customer");
        let kind = if self.mixed_integer { "mixed-integer " } else { "" };
        format!("{kind}location-transportation, n = {}, {set}, seed {}", self.n, self.seed)
    }

    /// Capacities, and in the mixed-integer version whether to open; `most` is the largest total demand.
    fn first_stage(&self, most: f64) -> FirstStageDefinition {
        let costs = self.integers(Data::CapacityCosts, self.n, 10, 30);
        let capacities = (1..).zip(costs).map(|(i, cost)| Variable::new(format!("capacity_{i}"), cost));
        if !self.mixed_integer {
            return FirstStageDefinition {
                variables: capacities.map(|capacity| capacity.bounded(0.0, most)).collect(),
                ..Default::default()
            };
        }
        let setup_costs = self.integers(Data::SetupCosts, self.n, 300, 400);
        let sizes = self.integers(Data::Sizes, self.n, 800, 1200);
        let mut stage = FirstStageDefinition::default();
        stage.variables.extend((1..).zip(setup_costs).map(|(i, cost)| Variable::binary(format!("open_{i}"), cost)));
        stage.variables.extend(capacities.zip(&sizes).map(|(capacity, &size)| capacity.bounded(0.0, size)));
        stage.constraints.extend((1..).zip(sizes).map(|(i, size)| Row {
            x: vec![(format!("capacity_{i}"), 1.0), (format!("open_{i}"), -size)],
            upper: 0.0,
            ..Row::new(format!("link_{i}"))
        }));
        stage
    }

    /// Shipping within the capacities, and the emergency source.
    fn recourse(&self, demands: &[f64], sensitivities: &[f64]) -> RecourseDefinition {
        let n = self.n;
        let shipping = self.integers(Data::ShippingCosts, n * n, 20, 40);
        let emergency = self.integers(Data::EmergencyCosts, n, 100, 200);
        let ship = |i: usize, j: usize| format!("ship_{}_{}", i + 1, j + 1);
        let mut stage = RecourseDefinition::default();
        for i in 0..n {
            stage.variables.extend((0..n).map(|j| Variable::new(ship(i, j), shipping[i * n + j])));
            stage.constraints.push(Row {
                y: (0..n).map(|j| (ship(i, j), -1.0)).collect(),
                x: vec![(format!("capacity_{}", i + 1), 1.0)],
                lower: 0.0,
                ..Row::new(format!("supply_{}", i + 1))
            });
        }
        for j in 0..n {
            let source = format!("emergency_{}", j + 1);
            stage.variables.push(Variable::new(&source, emergency[j]));
            stage.constraints.push(Row {
                y: (0..n).map(|i| (ship(i, j), 1.0)).chain([(source, 1.0)]).collect(),
                xi: vec![(xi(j), -sensitivities[j])],
                lower: demands[j],
                ..Row::new(format!("demand_{}", j + 1))
            });
        }
        stage
    }
}

/// Draws an instance.
pub fn location_transportation(settings: &LocationTransportation) -> Result<ProblemDefinition, InstanceError> {
    settings.uncertainty.validate(settings.n, 1)?;
    let demands = settings.integers(Data::Demands, settings.n, 200, 300);
    let sensitivities = settings.streams().shares(Data::Sensitivities as u64, &demands, 0.1, 0.5);
    let uncertainty = settings.uncertainty.draw(settings.n, settings.streams());
    let most = demands.iter().sum::<f64>() + most(&uncertainty, &sensitivities)?;
    Ok(ProblemDefinition {
        name: settings.title(),
        first_stage: settings.first_stage(most),
        uncertainty,
        recourse: settings.recourse(&demands, &sensitivities),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use softsep::definition::Complaints;
    use softsep::internals::uncertainty::build;
    use softsep::uncertainty::SetDefinition;

    fn settings(uncertainty: Uncertain) -> LocationTransportation {
        LocationTransportation { n: 6, uncertainty, mixed_integer: false, seed: 7 }
    }

    fn draw(uncertainty: Uncertain) -> ProblemDefinition {
        location_transportation(&settings(uncertainty)).unwrap()
    }

    fn whole_and_within(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> bool {
        values.into_iter().all(|value| value.fract() == 0.0 && (from..=to).contains(&value))
    }

    #[test]
    fn data_lie_in_the_ranges_of_the_text() {
        let mut wanted = settings(Uncertain::Ellipsoid);
        for seed in 0..20 {
            wanted.seed = seed;
            let drawn = location_transportation(&wanted).unwrap();
            assert!(whole_and_within(drawn.first_stage.variables.iter().map(|v| v.cost), 10.0, 30.0));
            let costs =
                |start| drawn.recourse.variables.iter().filter(move |v| v.name.starts_with(start)).map(|v| v.cost);
            assert_eq!((costs("ship").count(), costs("emergency").count()), (36, 6));
            assert!(whole_and_within(costs("ship"), 20.0, 40.0) && whole_and_within(costs("emergency"), 100.0, 200.0));
            let demand: Vec<&Row> =
                drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("demand")).collect();
            assert!(whole_and_within(demand.iter().map(|row| row.lower), 200.0, 300.0));
            assert!(demand.iter().all(|row| (0.1..=0.5).contains(&(-row.xi[0].1 / row.lower))));
        }
    }

    #[test]
    fn sets_share_costs_demands_and_the_ellipsoid() {
        let [ellipsoid, scenarios, budget] =
            [Uncertain::Ellipsoid, Uncertain::Scenarios(200), Uncertain::Budget { gamma: 0.5 }].map(draw);
        assert!(ellipsoid.recourse == scenarios.recourse && scenarios.recourse == budget.recourse);
        let costs = |file: &ProblemDefinition| file.first_stage.variables.iter().map(|v| v.cost).collect::<Vec<_>>();
        assert!(costs(&ellipsoid) == costs(&scenarios) && costs(&scenarios) == costs(&budget));
        let names = &ellipsoid.uncertainty.parameters;
        let body = build(&ellipsoid.uncertainty.set, names, "", &mut Complaints::new()).unwrap();
        let SetDefinition::Scenarios { points, .. } = &scenarios.uncertainty.set else { panic!("not a list") };
        assert_eq!(points.len(), 200);
        for point in points.iter() {
            assert!(body.contains(point, 1e-12), "outside");
            let beyond: Vec<f64> = point.iter().map(|xi| 0.5 + 1.0001 * (xi - 0.5)).collect();
            assert!(!body.contains(&beyond, 1e-12), "inside, not on the boundary");
        }
    }

    #[test]
    fn the_budget_bounds_the_capacities_by_the_largest_demand() {
        let drawn = draw(Uncertain::Budget { gamma: 1.0 });
        let demand = drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("demand"));
        let most: f64 = demand.map(|row| row.lower - row.xi[0].1).sum();
        assert!(drawn.first_stage.variables.iter().all(|capacity| (capacity.upper - most).abs() < 1e-9 * most));
    }

    #[test]
    fn sites_are_opened_in_the_mixed_integer_version() {
        let continuous = draw(Uncertain::Ellipsoid);
        let mixed = LocationTransportation { mixed_integer: true, ..settings(Uncertain::Ellipsoid) };
        let drawn = location_transportation(&mixed).unwrap();
        assert_eq!((drawn.first_stage.variables.len(), drawn.first_stage.constraints.len()), (12, 6));
        assert!(whole_and_within(drawn.first_stage.variables[..6].iter().map(|open| open.cost), 300.0, 400.0));
        assert!(whole_and_within(
            drawn.first_stage.variables[6..].iter().map(|capacity| capacity.upper),
            800.0,
            1200.0
        ));
        assert_eq!(drawn.recourse, continuous.recourse);
        assert_eq!(drawn.uncertainty, continuous.uncertainty);
        assert_eq!(drawn, location_transportation(&mixed).unwrap());
        assert_ne!(
            drawn.recourse,
            location_transportation(&LocationTransportation { seed: 8, ..mixed }).unwrap().recourse
        );
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |settings: LocationTransportation| location_transportation(&settings).unwrap_err();
        assert_eq!(
            refused(LocationTransportation { n: 0, ..settings(Uncertain::Ellipsoid) }),
            InstanceError::TooSmall { n: 0, least: 1 }
        );
        assert_eq!(refused(settings(Uncertain::Scenarios(0))), InstanceError::NoScenarios);
        assert_eq!(refused(settings(Uncertain::Budget { gamma: 1.5 })), InstanceError::Gamma(1.5));
    }
}
