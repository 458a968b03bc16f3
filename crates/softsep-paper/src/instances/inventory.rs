//! Inventory with transshipment: stock is ordered at n stores before demand is known; then stores help each other out.
//!
//! Store i demands `d_i(ξ) = d̄_i + d̂_i ξ_i`. Of the stock `x_i ≥ 0`, ordered at `c_i` apiece, `t_ij ≥ 0` goes to
//! store j at a cost that grows with the distance; missing stock is a lost sale `l_i ≥ 0`, and leftover stock must be
//! stored or disposed of, `h_i ≥ 0`. The recourse to (x, ξ) is
//!
//! ```text
//! min  Σ t_ij·transship_ij + Σ l_i·lose_i + Σ h_i·keep_i
//! s.t. x_i + Σ_j t_ji − Σ_j t_ij + l_i − h_i = d_i(ξ)   for every store i
//! ```
//!
//! so that low demand is costly as well as high demand, and its location matters. Every decision has recourse.

use super::plane::Plane;
use super::random::Streams;
use super::uncertain::{InstanceError, Uncertain, most, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same `n` and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inventory {
    /// Number of stores, and of entries of ξ.
    pub n: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    Points = 16,
    OrderCosts,
    LostSales,
    Leftovers,
    Demands,
    Swings,
}

impl Inventory {
    fn integers(&self, data: Data, from: i32, to: i32) -> Vec<f64> {
        Streams { seed: self.seed }.integers(data as u64, self.n, from, to)
    }

    fn first_stage(&self, most: f64) -> FirstStageDefinition {
        let stocks = (0..self.n).zip(self.integers(Data::OrderCosts, 10, 20));
        FirstStageDefinition {
            variables: stocks.map(|(i, cost)| Variable::new(stock(i), cost).bounded(0.0, most)).collect(),
            ..Default::default()
        }
    }

    fn recourse(&self, plane: &Plane, demands: &[f64], swings: &[f64]) -> RecourseDefinition {
        let lost = self.integers(Data::LostSales, 60, 100);
        let left = self.integers(Data::Leftovers, 4, 10);
        let others = |i: usize| (0..self.n).filter(move |&j| j != i);
        let mut stage = RecourseDefinition::default();
        for i in 0..self.n {
            let costs = others(i).map(|j| (transship(i, j), 5.0 + (0.3 * plane.distance(i, j)).round()));
            stage.variables.extend(costs.map(|(name, cost)| Variable::new(name, cost)));
            stage.variables.push(Variable::new(format!("lost_{}", i + 1), lost[i]));
            stage.variables.push(Variable::new(format!("left_{}", i + 1), left[i]));
            let arrives = others(i).map(|j| (transship(j, i), 1.0));
            let leaves = others(i).map(|j| (transship(i, j), -1.0));
            let ends = [(format!("lost_{}", i + 1), 1.0), (format!("left_{}", i + 1), -1.0)];
            stage.constraints.push(Row {
                y: arrives.chain(leaves).chain(ends).collect(),
                x: vec![(stock(i), 1.0)],
                xi: vec![(xi(i), -swings[i])],
                lower: demands[i],
                upper: demands[i],
                ..Row::new(format!("balance_{}", i + 1))
            });
        }
        stage
    }
}

fn stock(i: usize) -> String {
    format!("stock_{}", i + 1)
}

fn transship(i: usize, j: usize) -> String {
    format!("transship_{}_{}", i + 1, j + 1)
}

/// Draws an instance.
pub fn inventory(settings: &Inventory) -> Result<ProblemDefinition, InstanceError> {
    let Inventory { n, uncertainty: set, seed } = *settings;
    set.validate(n, 1)?;
    let streams = Streams { seed };
    let demands = settings.integers(Data::Demands, 100, 200);
    let swings = streams.shares(Data::Swings as u64, &demands, 0.4, 1.0);
    let uncertainty = set.draw(n, streams);
    let most = demands.iter().sum::<f64>() + most(&uncertainty, &swings)?;
    Ok(ProblemDefinition {
        name: format!("inventory with transshipment, n = {n}, {}, seed {seed}", set.title("store")),
        first_stage: settings.first_stage(most),
        uncertainty,
        recourse: settings.recourse(&Plane::draw(n, streams.of(Data::Points as u64)), &demands, &swings),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn settings(uncertainty: Uncertain) -> Inventory {
        Inventory { n: 5, uncertainty, seed: 3 }
    }

    #[test]
    fn transshipments_leave_one_store_and_arrive_at_another() {
        let drawn = inventory(&settings(Uncertain::Ellipsoid)).unwrap();
        assert_eq!((drawn.recourse.variables.len(), drawn.recourse.constraints.len()), (5 * 4 + 2 * 5, 5));
        assert!(
            drawn.recourse.constraints.iter().all(|row| row.lower == row.upper && (100.0..=200.0).contains(&row.lower))
        );
        for variable in &drawn.recourse.variables {
            let within =
                |row: &Row| row.y.iter().filter(|term| term.0 == variable.name).map(|term| term.1).sum::<f64>();
            let sum: f64 = drawn.recourse.constraints.iter().map(within).sum();
            let want = if variable.name.starts_with("transship") { 0.0 } else { sum.signum() };
            assert_eq!(sum, want, "{}", variable.name);
        }
    }

    #[test]
    fn sets_share_costs_and_demands() {
        let [a, b] =
            [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.5 }].map(|set| inventory(&settings(set)).unwrap());
        assert_eq!(a.recourse, b.recourse);
        assert_eq!(a, inventory(&settings(Uncertain::Ellipsoid)).unwrap());
        assert_ne!(a.recourse, inventory(&Inventory { seed: 4, ..settings(Uncertain::Ellipsoid) }).unwrap().recourse);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |settings: Inventory| inventory(&settings).unwrap_err();
        let nothing = Inventory { n: 0, ..settings(Uncertain::Ellipsoid) };
        assert_eq!(refused(nothing), InstanceError::TooSmall { n: 0, least: 1 });
        assert_eq!(refused(settings(Uncertain::Scenarios(0))), InstanceError::NoScenarios);
        assert_eq!(refused(settings(Uncertain::Budget { gamma: -0.1 })), InstanceError::Gamma(-0.1));
    }
}
