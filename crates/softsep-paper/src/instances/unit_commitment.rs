//! Unit commitment: n units are committed for every period before demand is known.
//!
//! Demand in period t is `d_t(ξ) = d̄_t + d̂_t ξ_t`, more or less than its forecast. The first stage decides which
//! units run (`u_it` binary), with start-ups `v_it` and shut-downs `w_it`, least times up and down. The recourse
//! dispatches `p_it` within limits and ramps, sheds load `s_t` and spills `o_t`:
//!
//! ```text
//! first stage:  u_it − u_i,t−1 = v_it − w_it,   Σ_{τ > t − up_i} v_iτ ≤ u_it,   Σ_{τ > t − down_i} w_iτ ≤ 1 − u_it
//! recourse:     min  Σ fuel_i·p_it + Σ shed·s_t + Σ spill·o_t
//!               s.t. Σ_i p_it + s_t − o_t = d_t(ξ),   P̲_i u_it ≤ p_it ≤ P̄_i u_it
//!                    p_it − p_i,t−1 ≤ R_i u_i,t−1 + P̲_i v_it,   p_i,t−1 − p_it ≤ R_i u_it + P̲_i w_it
//! ```
//!
//! The first period has no past: units run there without a start-up. Start-ups and shut-downs are continuous: the rows
//! make them integral where the commitments are.

use super::random::Streams;
use super::uncertain::{Deviations, InstanceError, Uncertain, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same sizes and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitCommitment {
    /// Number of units.
    pub n: usize,
    /// Number of periods, and of entries of ξ.
    pub periods: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    Capacities = 16,
    LeastLoads,
    Ramps,
    FuelCosts,
    RunningCosts,
    StartCosts,
    LeastTimes,
    Noise,
    Swings,
}

/// Largest forecast over the capacity of all units.
const PEAK: f64 = 0.7;
const SHEDDING_COST: f64 = 500.0;
const SPILLING_COST: f64 = 20.0;

/// The units and the forecast.
struct Grid {
    capacities: Vec<f64>,
    least_loads: Vec<f64>,
    ramps: Vec<f64>,
    fuel: Vec<f64>,
    demands: Vec<f64>,
    swings: Vec<f64>,
}

impl UnitCommitment {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    fn grid(&self) -> Grid {
        let capacities = self.integers(Data::Capacities, self.n, 80, 300);
        let rounded = |data, from, to| -> Vec<f64> {
            let drawn = self.streams().shares(data as u64, &capacities, from, to);
            drawn.into_iter().map(f64::round).collect()
        };
        let peak = PEAK * capacities.iter().sum::<f64>();
        let noise = self.streams().shares(Data::Noise as u64, &vec![1.0; self.periods], 0.95, 1.0);
        let demands: Vec<f64> = (0..self.periods).map(|t| (peak * noise[t] * profile(t)).round()).collect();
        Grid {
            least_loads: rounded(Data::LeastLoads, 0.3, 0.5),
            ramps: rounded(Data::Ramps, 0.3, 0.6),
            fuel: self.integers(Data::FuelCosts, self.n, 15, 40),
            swings: self.streams().shares(Data::Swings as u64, &demands, 0.1, 0.2),
            demands,
            capacities,
        }
    }

    fn first_stage(&self) -> FirstStageDefinition {
        let running = self.integers(Data::RunningCosts, self.n, 200, 800);
        let starts = self.integers(Data::StartCosts, self.n, 500, 3000);
        let times = self.integers(Data::LeastTimes, 2 * self.n, 2, 5);
        let mut stage = FirstStageDefinition::default();
        for i in 0..self.n {
            for t in 0..self.periods {
                stage.variables.push(Variable::binary(named("on", i, t), running[i]));
                if t == 0 {
                    continue;
                }
                stage.variables.push(Variable::new(named("start", i, t), starts[i]).bounded(0.0, 1.0));
                stage.variables.push(Variable::new(named("stop", i, t), 0.0).bounded(0.0, 1.0));
                let x = [("on", t, 1.0), ("on", t - 1, -1.0), ("start", t, -1.0), ("stop", t, 1.0)];
                stage.constraints.push(Row {
                    x: x.map(|(what, t, value)| (named(what, i, t), value)).to_vec(),
                    lower: 0.0,
                    upper: 0.0,
                    ..Row::new(named("switch", i, t))
                });
                for (what, row, length, sign, upper) in
                    [("start", "up", times[2 * i], -1.0, 0.0), ("stop", "down", times[2 * i + 1], 1.0, 1.0)]
                {
                    let recent = (t + 1).saturating_sub(length as usize).max(1)..t + 1;
                    let terms = recent.map(|past| (named(what, i, past), 1.0));
                    stage.constraints.push(Row {
                        x: terms.chain([(named("on", i, t), sign)]).collect(),
                        upper,
                        ..Row::new(named(row, i, t))
                    });
                }
            }
        }
        stage
    }

    fn recourse(&self, grid: &Grid) -> RecourseDefinition {
        let mut stage = RecourseDefinition::default();
        for t in 0..self.periods {
            let [shed, spill] = ["shed", "spill"].map(|what| format!("{what}_{}", t + 1));
            stage.variables.extend([Variable::new(&shed, SHEDDING_COST), Variable::new(&spill, SPILLING_COST)]);
            stage.constraints.push(Row {
                y: (0..self.n).map(|i| (power(i, t), 1.0)).chain([(shed, 1.0), (spill, -1.0)]).collect(),
                xi: vec![(xi(t), -grid.swings[t])],
                lower: grid.demands[t],
                upper: grid.demands[t],
                ..Row::new(format!("balance_{}", t + 1))
            });
            for i in 0..self.n {
                stage.variables.push(Variable::new(power(i, t), grid.fuel[i]));
                let limit = |name: &str, sign: f64, size: f64| Row {
                    y: vec![(power(i, t), sign)],
                    x: vec![(named("on", i, t), -sign * size)],
                    upper: 0.0,
                    ..Row::new(named(name, i, t))
                };
                stage.constraints.push(limit("most", 1.0, grid.capacities[i]));
                stage.constraints.push(limit("least", -1.0, grid.least_loads[i]));
                if t > 0 {
                    let ramp = |name: &str, sign: f64, on: usize, switch: &str| Row {
                        y: vec![(power(i, t), sign), (power(i, t - 1), -sign)],
                        x: vec![(named("on", i, on), -grid.ramps[i]), (named(switch, i, t), -grid.least_loads[i])],
                        upper: 0.0,
                        ..Row::new(named(name, i, t))
                    };
                    stage.constraints.push(ramp("rise", 1.0, t - 1, "start"));
                    stage.constraints.push(ramp("fall", -1.0, t, "stop"));
                }
            }
        }
        stage
    }
}

/// Demand of an hour of the day over that of the peak: low at night, with peaks in the morning and in the evening.
fn profile(hour: usize) -> f64 {
    const DAY: [f64; 24] = [
        0.60, 0.57, 0.55, 0.54, 0.55, 0.60, 0.70, 0.82, 0.90, 0.92, 0.91, 0.90, 0.89, 0.87, 0.86, 0.87, 0.90, 0.96,
        1.0, 0.98, 0.92, 0.83, 0.74, 0.66,
    ];
    DAY[hour % DAY.len()]
}

fn named(what: &str, i: usize, t: usize) -> String {
    format!("{what}_{}_{}", i + 1, t + 1)
}

fn power(i: usize, t: usize) -> String {
    named("power", i, t)
}

/// Draws an instance.
pub fn unit_commitment(settings: &UnitCommitment) -> Result<ProblemDefinition, InstanceError> {
    let UnitCommitment { n, periods, uncertainty: set, seed } = *settings;
    set.validate(n, 1)?;
    if periods == 0 {
        return Err(InstanceError::None("periods"));
    }
    Ok(ProblemDefinition {
        name: format!("unit commitment, {n} units, {periods} periods, {}, seed {seed}", set.title("period")),
        first_stage: settings.first_stage(),
        uncertainty: set.draw_deviations(Deviations::BothWays, periods, settings.streams()),
        recourse: settings.recourse(&settings.grid()),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn units_keep_their_least_times_up_and_down() {
        let settings = UnitCommitment { n: 2, periods: 6, uncertainty: Uncertain::Ellipsoid, seed: 3 };
        let drawn = unit_commitment(&settings).unwrap();
        let times = settings.integers(Data::LeastTimes, 4, 2, 5);
        let rows = &drawn.first_stage.constraints;
        for (i, row, what, length) in [(0, "up", "start", times[0]), (1, "down", "stop", times[3])] {
            let last = rows.iter().find(|found| found.name == named(row, i, 5)).unwrap();
            let count = last.x.iter().filter(|term| term.0.starts_with(what)).count();
            assert_eq!(count, length as usize, "{row}");
        }
        assert_eq!(drawn.recourse.constraints.len(), 6 + 2 * (2 * 6 + 2 * 5));
    }

    #[test]
    fn a_start_at_the_least_load_keeps_the_ramp() {
        let settings = UnitCommitment { n: 3, periods: 4, uncertainty: Uncertain::Ellipsoid, seed: 5 };
        let (drawn, grid) = (unit_commitment(&settings).unwrap(), settings.grid());
        for row in drawn.recourse.constraints.iter().filter(|row| row.name.starts_with("rise")) {
            let i = row.name.split('_').nth(1).unwrap().parse::<usize>().unwrap() - 1;
            let start = row.x.iter().find(|term| term.0.starts_with("start")).unwrap();
            assert_eq!(start.1, -grid.least_loads[i]);
        }
    }
}
