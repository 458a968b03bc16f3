//! Lot sizing: set-ups and production of n items over T periods are planned before demand is known.
//!
//! Item i demands `d_it(ξ) = d̄_it + d̂_it ξ_it` in period t, more or less than its mean. The first stage decides where
//! to set up (`z_it` binary) and how much to produce (`x_it`), within a capacity that the items share. The recourse
//! keeps stock `s_it` or owes demand `b_it`, each at a price:
//!
//! ```text
//! first stage:  x_it ≤ M_it z_it,   Σ_i x_it ≤ C
//! recourse:     min  Σ hold_i·s_it + Σ owe_i·b_it
//!               s.t. s_i,t−1 − b_i,t−1 + x_it − s_it + b_it = d_it(ξ)      for every i and t
//! ```
//!
//! Everything may be owed at the end, so that recourse is always possible.

use super::random::Streams;
use super::uncertain::{Deviations, InstanceError, Uncertain, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same sizes and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LotSizing {
    /// Number of items.
    pub n: usize,
    /// Number of periods. ξ has an entry for each item and period.
    pub periods: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    SetupCosts = 16,
    UnitCosts,
    HoldingCosts,
    BacklogCosts,
    Demands,
    Swings,
}

/// Capacity of a period over its mean demand.
const CAPACITY: f64 = 1.6;

/// Periods whose mean demand a lot holds at most.
const LOT: f64 = 4.0;

impl LotSizing {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    /// The cells (item, period), by item first; the position is that of the entry of ξ.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let periods = self.periods;
        (0..self.n).flat_map(move |i| (0..periods).map(move |t| (i, t)))
    }

    fn first_stage(&self, demands: &[f64]) -> FirstStageDefinition {
        let setups = self.integers(Data::SetupCosts, self.n, 100, 300);
        let units = self.integers(Data::UnitCosts, self.n, 1, 5);
        let capacity = (CAPACITY * demands.iter().sum::<f64>() / self.periods as f64).round();
        let mean = demands.iter().sum::<f64>() / demands.len() as f64;
        let most = (LOT * mean).round().min(capacity);
        let mut stage = FirstStageDefinition::default();
        for (i, t) in self.cells() {
            stage.variables.push(Variable::binary(named("setup", i, t), setups[i]));
            stage.variables.push(Variable::new(named("produce", i, t), units[i]).bounded(0.0, most));
            stage.constraints.push(Row {
                x: vec![(named("produce", i, t), 1.0), (named("setup", i, t), -most)],
                upper: 0.0,
                ..Row::new(named("lot", i, t))
            });
        }
        stage.constraints.extend((0..self.periods).map(|t| Row {
            x: (0..self.n).map(|i| (named("produce", i, t), 1.0)).collect(),
            upper: capacity,
            ..Row::new(format!("capacity_{}", t + 1))
        }));
        stage
    }

    fn recourse(&self, demands: &[f64]) -> RecourseDefinition {
        let swings = self.streams().shares(Data::Swings as u64, demands, 0.2, 0.5);
        let holding = self.integers(Data::HoldingCosts, self.n, 1, 3);
        let backlog = self.integers(Data::BacklogCosts, self.n, 8, 15);
        let mut stage = RecourseDefinition::default();
        for (entry, (i, t)) in self.cells().enumerate() {
            stage.variables.push(Variable::new(named("stock", i, t), holding[i]));
            stage.variables.push(Variable::new(named("owed", i, t), backlog[i]));
            let mut y = vec![(named("stock", i, t), -1.0), (named("owed", i, t), 1.0)];
            if t > 0 {
                y.extend([(named("stock", i, t - 1), 1.0), (named("owed", i, t - 1), -1.0)]);
            }
            stage.constraints.push(Row {
                y,
                x: vec![(named("produce", i, t), 1.0)],
                xi: vec![(xi(entry), -swings[entry])],
                lower: demands[entry],
                upper: demands[entry],
                ..Row::new(named("balance", i, t))
            });
        }
        stage
    }
}

fn named(what: &str, i: usize, t: usize) -> String {
    format!("{what}_{}_{}", i + 1, t + 1)
}

/// Draws an instance.
pub fn lot_sizing(settings: &LotSizing) -> Result<ProblemDefinition, InstanceError> {
    let LotSizing { n, periods, uncertainty: set, seed } = *settings;
    set.validate(n, 1)?;
    if periods == 0 {
        return Err(InstanceError::None("periods"));
    }
    let demands = settings.integers(Data::Demands, n * periods, 20, 100);
    Ok(ProblemDefinition {
        name: format!("lot sizing, {n} items, {periods} periods, {}, seed {seed}", set.title("demand")),
        first_stage: settings.first_stage(&demands),
        uncertainty: set.draw_deviations(Deviations::BothWays, n * periods, settings.streams()),
        recourse: settings.recourse(&demands),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn stock_and_debt_are_carried_into_the_next_period() {
        let settings = LotSizing { n: 2, periods: 4, uncertainty: Uncertain::Ellipsoid, seed: 3 };
        let drawn = lot_sizing(&settings).unwrap();
        assert_eq!((drawn.first_stage.variables.len(), drawn.first_stage.constraints.len()), (16, 8 + 4));
        assert_eq!(drawn.recourse.constraints.len(), 8);
        for y in &drawn.recourse.variables {
            let terms = drawn.recourse.constraints.iter().flat_map(|row| &row.y).filter(|term| term.0 == y.name);
            let want = if y.name.ends_with("_4") { (1, 1.0) } else { (2, 0.0) };
            let found = terms.fold((0, 0.0), |(count, sum), term| (count + 1, sum + term.1));
            assert_eq!((found.0, found.1.abs()), want, "{}", y.name);
        }
        let none = lot_sizing(&LotSizing { periods: 0, ..settings });
        assert_eq!(none.unwrap_err().to_string(), "the number of periods is 0; there must be at least one");
    }
}
