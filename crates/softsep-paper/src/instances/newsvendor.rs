//! Newsvendor with transshipment: stock of n items is ordered before their demands are known.
//!
//! Item i demands `d_i(ξ) = d̄_i + d̂_i ξ_i`, more or less than its mean. After demand is known each item may replace
//! four others at a cost; unmet demand `s_i` and leftovers `l_i` have prices:
//!
//! ```text
//! min  Σ move_ij·m_ij + Σ short_i·s_i + Σ left_i·l_i
//! s.t. x_i + Σ_j m_ji − Σ_j m_ij + s_i − l_i = d_i(ξ)      for every item i
//!      Σ_j m_ij ≤ x_i                                       for every item i
//! ```

use rand::RngExt;

use super::random::Streams;
use super::uncertain::{Deviations, InstanceError, Uncertain, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same `n` and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newsvendor {
    /// Number of items, and of entries of ξ.
    pub n: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    OrderCosts = 16,
    ShortCosts,
    LeftCosts,
    Substitutes,
    MoveCosts,
    Demands,
    Swings,
}

/// An item replaces so many others.
const SUBSTITUTES: usize = 4;

impl Newsvendor {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    /// The pairs (i, j) of items such that i may replace j.
    fn moves(&self) -> Vec<(usize, usize)> {
        let mut rng = self.streams().of(Data::Substitutes as u64);
        let mut moves = Vec::new();
        for i in 0..self.n {
            let mut others: Vec<usize> = (0..self.n).filter(|&j| j != i).collect();
            for _ in 0..SUBSTITUTES.min(self.n - 1) {
                moves.push((i, others.swap_remove(rng.random_range(0..others.len()))));
            }
        }
        moves
    }

    fn recourse(&self) -> RecourseDefinition {
        let demands = self.integers(Data::Demands, self.n, 20, 60);
        let swings = self.streams().shares(Data::Swings as u64, &demands, 0.2, 0.5);
        let short = self.integers(Data::ShortCosts, self.n, 15, 25);
        let left = self.integers(Data::LeftCosts, self.n, 1, 3);
        let moves = self.moves();
        let costs = self.integers(Data::MoveCosts, moves.len(), 1, 4);
        let mut stage = RecourseDefinition::default();
        let moved = |(i, j): (usize, usize)| format!("move_{}_{}", i + 1, j + 1);
        stage.variables.extend(moves.iter().zip(costs).map(|(&pair, cost)| Variable::new(moved(pair), cost)));
        for i in 0..self.n {
            let [unmet, leftover, order] = ["short", "left", "order"].map(|what| format!("{what}_{}", i + 1));
            stage.variables.extend([Variable::new(&unmet, short[i]), Variable::new(&leftover, left[i])]);
            let arrives = moves.iter().filter(|pair| pair.1 == i).map(|&pair| (moved(pair), 1.0));
            let leaves = || moves.iter().filter(|pair| pair.0 == i).map(|&pair| (moved(pair), -1.0));
            stage.constraints.push(Row {
                y: arrives.chain(leaves()).chain([(unmet, 1.0), (leftover, -1.0)]).collect(),
                x: vec![(order.clone(), 1.0)],
                xi: vec![(xi(i), -swings[i])],
                lower: demands[i],
                upper: demands[i],
                ..Row::new(format!("balance_{}", i + 1))
            });
            if self.n > 1 {
                stage.constraints.push(Row {
                    y: leaves().collect(),
                    x: vec![(order, 1.0)],
                    lower: 0.0,
                    ..Row::new(format!("stock_{}", i + 1))
                });
            }
        }
        stage
    }
}

/// Draws an instance.
pub fn newsvendor(settings: &Newsvendor) -> Result<ProblemDefinition, InstanceError> {
    let Newsvendor { n, uncertainty: set, seed } = *settings;
    set.validate(n, 1)?;
    let costs = settings.integers(Data::OrderCosts, n, 4, 8);
    let orders = (1..).zip(costs).map(|(i, cost)| Variable::new(format!("order_{i}"), cost).bounded(0.0, 200.0));
    Ok(ProblemDefinition {
        name: format!("newsvendor with transshipment, n = {n}, {}, seed {seed}", set.title("item")),
        first_stage: FirstStageDefinition { variables: orders.collect(), ..Default::default() },
        uncertainty: set.draw_deviations(Deviations::BothWays, n, settings.streams()),
        recourse: settings.recourse(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use softsep::uncertainty::{SetDefinition, Sides};

    fn settings(uncertainty: Uncertain) -> Newsvendor {
        Newsvendor { n: 7, uncertainty, seed: 3 }
    }

    #[test]
    fn what_is_moved_leaves_one_balance_for_another() {
        let drawn = newsvendor(&settings(Uncertain::Ellipsoid)).unwrap();
        let moves: Vec<_> = drawn.recourse.variables.iter().filter(|y| y.name.starts_with("move")).collect();
        assert_eq!((moves.len(), drawn.recourse.constraints.len()), (28, 14));
        for y in moves {
            let terms = |with: &str| -> Vec<f64> {
                let rows = drawn.recourse.constraints.iter().filter(|row| row.name.starts_with(with));
                rows.flat_map(|row| &row.y).filter(|term| term.0 == y.name).map(|term| term.1).collect()
            };
            let mut balance = terms("balance");
            balance.sort_by(f64::total_cmp);
            assert_eq!((balance, terms("stock")), (vec![-1.0, 1.0], vec![-1.0]));
        }
    }

    #[test]
    fn budgets_are_two_sided() {
        let drawn = newsvendor(&settings(Uncertain::TotalBudget { total: 5.0 })).unwrap();
        let two_sided =
            SetDefinition::Budget { budget: 5.0, sides: Sides::Two, center: vec![0.0; 7], scale: vec![1.0; 7] };
        assert_eq!(drawn.uncertainty.set, two_sided);
        assert_eq!(newsvendor(&settings(Uncertain::TotalBudget { total: 0.0 })), Err(InstanceError::Total(0.0)));
    }
}
