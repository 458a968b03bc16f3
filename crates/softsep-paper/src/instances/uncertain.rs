//! The uncertainty sets of all families, and the errors of settings.

use rand::RngExt;

use super::random::{Streams, on_ellipsoid, rotation};
use softsep::definition::{Complaints, Row, ScenarioList};
use softsep::internals::uncertainty::build;
use softsep::uncertainty::SetError;
use softsep::uncertainty::{SetDefinition, Sides, UncertaintyDefinition};

/// The three uncertainty sets of the paper, and two more. Every entry of ξ lies between 0 and 1, or between −1 and 1 in
/// families whose amounts go both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Uncertain {
    /// A rotated ellipsoid around ½.
    Ellipsoid,
    /// So many points drawn uniformly from the boundary of that ellipsoid.
    Scenarios(usize),
    /// `0 ≤ ξ ≤ 1`, `Σξ ≤ gamma` times the number of entries.
    Budget {
        /// The budget per entry of ξ, in [0, 1].
        gamma: f64,
    },
    /// The same with `Σξ ≤ total`, whatever the number of entries.
    TotalBudget {
        /// The largest sum, positive.
        total: f64,
    },
    /// `0 ≤ ξ ≤ 1`, and a budget for each half of the entries: their sum is at most `gamma` times their number.
    Polyhedron {
        /// The budget per entry of ξ, in [0, 1].
        gamma: f64,
    },
}

/// The ways in which uncertain amounts of a family deviate from their nominal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deviations {
    /// From the value at ξ = 0 to the one at ξ = 1.
    OneWay,
    /// From the value at ξ = 0 up to ξ = 1 and down to ξ = −1.
    BothWays,
}

/// Settings that describe no instance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InstanceError {
    /// `n` is too small.
    #[error("n is {n}; the smallest instance has n = {least}")]
    TooSmall {
        /// The n of the settings.
        n: usize,
        /// The smallest n of the family.
        least: usize,
    },
    /// The number of scenarios is 0.
    #[error("the number of scenarios is 0; there must be at least one")]
    NoScenarios,
    /// `gamma` is out of range.
    #[error("gamma is {0}; it must lie between 0 and 1")]
    Gamma(f64),
    /// The total budget is not positive.
    #[error("the budget is {0}; it must be a positive number")]
    Total(f64),
    /// A number of periods, customers or commodities is 0.
    #[error("the number of {0} is 0; there must be at least one")]
    None(&'static str),
    /// The set drawn was refused.
    #[error("the uncertainty set drawn is refused: {0}")]
    Refused(Complaints),
    /// The largest demand could not be computed.
    #[error(transparent)]
    Set(#[from] SetError),
}

/// The streams of the set, the same in every family. The data of a family come from other streams.
const ELLIPSOID: u64 = 6;
const SCENARIOS: u64 = 7;

impl Uncertain {
    /// Checks the settings for a family whose smallest instance has n = `least`.
    pub(super) fn validate(self, n: usize, least: usize) -> Result<(), InstanceError> {
        match self {
            _ if n < least => Err(InstanceError::TooSmall { n, least }),
            Uncertain::Scenarios(0) => Err(InstanceError::NoScenarios),
            Uncertain::Budget { gamma } | Uncertain::Polyhedron { gamma } if !(0.0..=1.0).contains(&gamma) => {
                Err(InstanceError::Gamma(gamma))
            }
            Uncertain::TotalBudget { total } if !(total > 0.0 && total.is_finite()) => Err(InstanceError::Total(total)),
            _ => Ok(()),
        }
    }

    /// Draws the set of the parameters `xi_1`, `xi_2`, … The ellipsoid is the same under `Ellipsoid` and `Scenarios`.
    pub(super) fn draw(self, dim: usize, streams: Streams) -> UncertaintyDefinition {
        self.draw_deviations(Deviations::OneWay, dim, streams)
    }

    /// The same for a family whose amounts deviate so. Where they go both ways, the ellipsoid is around 0 with twice
    /// the semi-axes, and budgets are two-sided.
    pub(super) fn draw_deviations(self, ways: Deviations, dim: usize, streams: Streams) -> UncertaintyDefinition {
        UncertaintyDefinition { parameters: (0..dim).map(xi).collect(), set: self.set(ways, dim, streams) }
    }

    fn set(self, ways: Deviations, dim: usize, streams: Streams) -> SetDefinition {
        let total = match self {
            Uncertain::Budget { gamma } => Some(dim as f64 * gamma),
            Uncertain::TotalBudget { total } => Some(total.min(dim as f64)),
            _ => None,
        };
        if let Some(budget) = total {
            let sides = if ways == Deviations::OneWay { Sides::One } else { Sides::Two };
            return SetDefinition::Budget { budget, sides, center: vec![0.0; dim], scale: vec![1.0; dim] };
        }
        if let Uncertain::Polyhedron { gamma } = self {
            return two_budgets(ways, dim, gamma);
        }
        let (middle, stretch) = if ways == Deviations::OneWay { (0.5, 1.0) } else { (0.0, 2.0) };
        let mut rng = streams.of(ELLIPSOID);
        let semi_axes: Vec<f64> = (0..dim).map(|_| stretch * rng.random_range(0.1..=0.5)).collect();
        let rotation = rotation(dim, &mut rng);
        let center = vec![middle; dim];
        let matrix: Vec<Vec<f64>> =
            (0..dim).map(|row| (0..dim).map(|axis| rotation[(row, axis)] * semi_axes[axis]).collect()).collect();
        let ellipsoid = SetDefinition::ellipsoid(center.clone(), matrix.clone());
        let Uncertain::Scenarios(count) = self else { return ellipsoid };
        let mut rng = streams.of(SCENARIOS);
        let mut points = ScenarioList::new(dim);
        for _ in 0..count {
            let u = on_ellipsoid(&semi_axes, &mut rng);
            let along = |row: &Vec<f64>| row.iter().zip(&u).map(|(entry, u)| entry * u).sum::<f64>();
            let xi: Vec<f64> = center.iter().zip(&matrix).map(|(center, row)| center + along(row)).collect();
            points.push(&xi);
        }
        SetDefinition::Scenarios { points, file: None, drawn_from: Some(Box::new(ellipsoid)) }
    }

    /// The set in a title; `each` names the object of an entry of ξ.
    pub(super) fn title(self, each: &str) -> String {
        match self {
            Uncertain::Ellipsoid => "ellipsoid".to_owned(),
            Uncertain::Scenarios(count) => format!("{count} scenarios"),
            Uncertain::Budget { gamma } => format!("budget {gamma} per {each}"),
            Uncertain::TotalBudget { total } => format!("budget {total}"),
            Uncertain::Polyhedron { gamma } => format!("two budgets {gamma} per {each}"),
        }
    }
}

/// A box with a row over each half of the entries: their sum is at most `gamma` times their number, and at least the
/// negative of that where deviations go both ways.
fn two_budgets(ways: Deviations, dim: usize, gamma: f64) -> SetDefinition {
    let least = if ways == Deviations::OneWay { 0.0 } else { -1.0 };
    let half = |name: &str, entries: std::ops::Range<usize>| {
        let most = gamma * entries.len() as f64;
        let lower = if ways == Deviations::OneWay { f64::NEG_INFINITY } else { -most };
        Row { xi: entries.map(|entry| (xi(entry), 1.0)).collect(), lower, upper: most, ..Row::new(name) }
    };
    let rows = [half("first_half", 0..dim / 2), half("second_half", dim / 2..dim)];
    let constraints = rows.into_iter().filter(|row| !row.xi.is_empty()).collect();
    SetDefinition::Polyhedron { lower: vec![least; dim], upper: vec![1.0; dim], constraints }
}

/// The name of an entry of ξ, counted from 0.
pub(super) fn xi(entry: usize) -> String {
    format!("xi_{}", entry + 1)
}

/// The maximum of `weights · ξ` over the set.
pub(super) fn most(drawn: &UncertaintyDefinition, weights: &[f64]) -> Result<f64, InstanceError> {
    let mut complaints = Complaints::new();
    let built = build(&drawn.set, &drawn.parameters, "uncertainty.set", &mut complaints);
    Ok(built.ok_or(InstanceError::Refused(complaints))?.support(weights, &mut vec![0.0; weights.len()])?)
}
