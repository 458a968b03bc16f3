//! The robust location–transportation problem of the soft-separation paper's experiments (after Zeng and Zhao, 2013).
//!
//! Capacity is bought at n sites before the demand of n customers is known. Then goods are shipped; what cannot be shipped comes from a
//! dear emergency source, so that every capacity is feasible. Customer j asks for `d̄_j + d̂_j ξ_j`.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::random::{on_ellipsoid, rotation};
use crate::format::{
    Complaints, FirstStageFile, Points, ProblemFile, RecourseFile, Row, SetFile, Sides, UncertaintyFile, Variable,
};
use crate::uncertainty::{self, SetError};

/// Which instance to draw. The same `n` and `seed` give the same costs and demands whatever the set, and the same ellipsoid under
/// `Ellipsoid` and `Scenarios`.
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

/// The three uncertainty sets of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Uncertain {
    /// A rotated ellipsoid around ½.
    Ellipsoid,
    /// So many points drawn uniformly from the boundary of that ellipsoid.
    Scenarios(usize),
    /// `0 ≤ ξ ≤ 1`, `Σξ ≤ n·gamma`.
    Budget {
        /// The budget per customer, in [0, 1].
        gamma: f64,
    },
}

/// Settings that describe no instance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InstanceError {
    /// `n` is zero.
    #[error("n is 0; there must be at least one site and one customer")]
    NoSites,
    /// No scenarios were asked for.
    #[error("the number of scenarios is 0; there must be at least one")]
    NoScenarios,
    /// `gamma` is out of range.
    #[error("gamma is {0}; it must lie between 0 and 1")]
    Gamma(f64),
    /// The set drawn was refused.
    #[error("the uncertainty set drawn is refused: {0}")]
    Refused(Complaints),
    /// The largest demand could not be computed.
    #[error(transparent)]
    Set(#[from] SetError),
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    CapacityCosts = 1,
    ShippingCosts,
    EmergencyCosts,
    Demands,
    Sensitivities,
    Ellipsoid,
    Scenarios,
    SetupCosts,
    Sizes,
}

impl LocationTransportation {
    fn stream(&self, data: Data) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream((data as u64) << 32);
        rng
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        let mut rng = self.stream(data);
        (0..count).map(|_| f64::from(rng.random_range(from..=to))).collect()
    }

    fn validate(&self) -> Result<(), InstanceError> {
        match self.uncertainty {
            _ if self.n == 0 => Err(InstanceError::NoSites),
            Uncertain::Scenarios(0) => Err(InstanceError::NoScenarios),
            Uncertain::Budget { gamma } if !(0.0..=1.0).contains(&gamma) => Err(InstanceError::Gamma(gamma)),
            _ => Ok(()),
        }
    }

    fn set(&self) -> SetFile {
        let n = self.n;
        if let Uncertain::Budget { gamma } = self.uncertainty {
            return SetFile::Budget { budget: n as f64 * gamma, sides: Sides::One, center: vec![0.0; n], scale: vec![1.0; n] };
        }
        let mut rng = self.stream(Data::Ellipsoid);
        let semi_axes: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..=0.5)).collect();
        let rotation = rotation(n, &mut rng);
        let center = vec![0.5; n];
        let matrix: Vec<Vec<f64>> =
            (0..n).map(|row| (0..n).map(|axis| rotation[(row, axis)] * semi_axes[axis]).collect()).collect();
        let Uncertain::Scenarios(count) = self.uncertainty else { return SetFile::Ellipsoid { center, matrix } };
        let mut rng = self.stream(Data::Scenarios);
        let mut points = Points::new(n);
        for _ in 0..count {
            let u = on_ellipsoid(&semi_axes, &mut rng);
            let along = |row: &Vec<f64>| row.iter().zip(&u).map(|(entry, u)| entry * u).sum::<f64>();
            let xi: Vec<f64> = center.iter().zip(&matrix).map(|(center, row)| center + along(row)).collect();
            points.push(&xi);
        }
        SetFile::Scenarios { points, file: None }
    }

    fn title(&self) -> String {
        let set = match self.uncertainty {
            Uncertain::Ellipsoid => "ellipsoid".to_owned(),
            Uncertain::Scenarios(count) => format!("{count} scenarios"),
            Uncertain::Budget { gamma } => format!("budget {gamma} per customer"),
        };
        let kind = if self.mixed_integer { "mixed-integer " } else { "" };
        format!("{kind}location-transportation, n = {}, {set}, seed {}", self.n, self.seed)
    }

    /// Capacities, and in the mixed-integer version whether to open; `most` is the largest total demand.
    fn first_stage(&self, most: f64) -> FirstStageFile {
        let costs = self.integers(Data::CapacityCosts, self.n, 10, 30);
        let capacities = (1..).zip(costs).map(|(i, cost)| Variable::new(format!("capacity_{i}"), cost));
        if !self.mixed_integer {
            return FirstStageFile {
                variables: capacities.map(|capacity| capacity.bounded(0.0, most)).collect(),
                ..Default::default()
            };
        }
        let setup_costs = self.integers(Data::SetupCosts, self.n, 300, 400);
        let sizes = self.integers(Data::Sizes, self.n, 800, 1200);
        let mut stage = FirstStageFile::default();
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
    fn recourse(&self, demands: &[f64], sensitivities: &[f64]) -> RecourseFile {
        let n = self.n;
        let shipping = self.integers(Data::ShippingCosts, n * n, 20, 40);
        let emergency = self.integers(Data::EmergencyCosts, n, 100, 200);
        let ship = |i: usize, j: usize| format!("ship_{}_{}", i + 1, j + 1);
        let mut stage = RecourseFile::default();
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
                xi: vec![(format!("xi_{}", j + 1), -sensitivities[j])],
                lower: demands[j],
                ..Row::new(format!("demand_{}", j + 1))
            });
        }
        stage
    }
}

/// Draws an instance.
pub fn location_transportation(settings: &LocationTransportation) -> Result<ProblemFile, InstanceError> {
    settings.validate()?;
    let n = settings.n;
    let demands = settings.integers(Data::Demands, n, 200, 300);
    let mut rng = settings.stream(Data::Sensitivities);
    let sensitivities: Vec<f64> = demands.iter().map(|demand| rng.random_range(0.1..=0.5) * demand).collect();
    let parameters: Vec<String> = (1..=n).map(|j| format!("xi_{j}")).collect();
    let set = settings.set();
    let mut complaints = Complaints::new();
    let built = uncertainty::build(&set, &parameters, "uncertainty.set", &mut complaints);
    let most = demands.iter().sum::<f64>()
        + built.ok_or(InstanceError::Refused(complaints))?.support(&sensitivities, &mut vec![0.0; n])?;
    Ok(ProblemFile {
        name: settings.title(),
        first_stage: settings.first_stage(most),
        uncertainty: UncertaintyFile { parameters, set },
        recourse: settings.recourse(&demands, &sensitivities),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn settings(uncertainty: Uncertain) -> LocationTransportation {
        LocationTransportation { n: 6, uncertainty, mixed_integer: false, seed: 7 }
    }

    fn draw(uncertainty: Uncertain) -> ProblemFile {
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
            let costs = |start| drawn.recourse.variables.iter().filter(move |v| v.name.starts_with(start)).map(|v| v.cost);
            assert_eq!((costs("ship").count(), costs("emergency").count()), (36, 6));
            assert!(whole_and_within(costs("ship"), 20.0, 40.0) && whole_and_within(costs("emergency"), 100.0, 200.0));
            let demand: Vec<&Row> = drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("demand")).collect();
            assert!(whole_and_within(demand.iter().map(|row| row.lower), 200.0, 300.0));
            assert!(demand.iter().all(|row| (0.1..=0.5).contains(&(-row.xi[0].1 / row.lower))));
        }
    }

    #[test]
    fn sets_share_costs_demands_and_the_ellipsoid() {
        let [ellipsoid, scenarios, budget] =
            [Uncertain::Ellipsoid, Uncertain::Scenarios(200), Uncertain::Budget { gamma: 0.5 }].map(draw);
        assert!(ellipsoid.recourse == scenarios.recourse && scenarios.recourse == budget.recourse);
        let costs = |file: &ProblemFile| file.first_stage.variables.iter().map(|v| v.cost).collect::<Vec<_>>();
        assert!(costs(&ellipsoid) == costs(&scenarios) && costs(&scenarios) == costs(&budget));
        let names = &ellipsoid.uncertainty.parameters;
        let body = uncertainty::build(&ellipsoid.uncertainty.set, names, "", &mut Complaints::new()).unwrap();
        let SetFile::Scenarios { points, .. } = &scenarios.uncertainty.set else { panic!("not a list") };
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
        assert!(whole_and_within(drawn.first_stage.variables[6..].iter().map(|capacity| capacity.upper), 800.0, 1200.0));
        assert_eq!(drawn.recourse, continuous.recourse);
        assert_eq!(drawn.uncertainty, continuous.uncertainty);
        assert_eq!(drawn, location_transportation(&mixed).unwrap());
        assert_ne!(drawn.recourse, location_transportation(&LocationTransportation { seed: 8, ..mixed }).unwrap().recourse);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |settings: LocationTransportation| location_transportation(&settings).unwrap_err();
        assert_eq!(refused(LocationTransportation { n: 0, ..settings(Uncertain::Ellipsoid) }), InstanceError::NoSites);
        assert_eq!(refused(settings(Uncertain::Scenarios(0))), InstanceError::NoScenarios);
        assert_eq!(refused(settings(Uncertain::Budget { gamma: 1.5 })), InstanceError::Gamma(1.5));
    }
}
