//! The uncertainty sets of all families, and the errors of settings.

use rand::RngExt;

use super::random::{Streams, on_ellipsoid, rotation};
use softsep::definition::{Complaints, ScenarioList};
use softsep::uncertainty::{self, SetError};
use softsep::uncertainty::{SetDefinition, Sides, UncertaintyDefinition};

/// The three uncertainty sets of the paper. Every entry of ξ lies between 0 and 1.
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
            Uncertain::Budget { gamma } if !(0.0..=1.0).contains(&gamma) => Err(InstanceError::Gamma(gamma)),
            _ => Ok(()),
        }
    }

    /// Draws the set of the parameters `xi_1`, `xi_2`, … The ellipsoid is the same under `Ellipsoid` and `Scenarios`.
    pub(super) fn draw(self, dim: usize, streams: Streams) -> UncertaintyDefinition {
        UncertaintyDefinition { parameters: (0..dim).map(xi).collect(), set: self.set(dim, streams) }
    }

    fn set(self, dim: usize, streams: Streams) -> SetDefinition {
        if let Uncertain::Budget { gamma } = self {
            let (center, scale) = (vec![0.0; dim], vec![1.0; dim]);
            return SetDefinition::Budget { budget: dim as f64 * gamma, sides: Sides::One, center, scale };
        }
        let mut rng = streams.of(ELLIPSOID);
        let semi_axes: Vec<f64> = (0..dim).map(|_| rng.random_range(0.1..=0.5)).collect();
        let rotation = rotation(dim, &mut rng);
        let center = vec![0.5; dim];
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
        }
    }
}

/// The name of an entry of ξ, counted from 0.
pub(super) fn xi(entry: usize) -> String {
    format!("xi_{}", entry + 1)
}

/// The maximum of `weights · ξ` over the set.
pub(super) fn most(drawn: &UncertaintyDefinition, weights: &[f64]) -> Result<f64, InstanceError> {
    let mut complaints = Complaints::new();
    let built = uncertainty::build(&drawn.set, &drawn.parameters, "uncertainty.set", &mut complaints);
    Ok(built.ok_or(InstanceError::Refused(complaints))?.support(weights, &mut vec![0.0; weights.len()])?)
}
