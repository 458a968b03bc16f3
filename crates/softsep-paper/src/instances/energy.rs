//! Energy expansion: generation and lines are built at and between n nodes before demand and wind are known.
//!
//! Node i demands `d_i(ξ) = d̄_i + d̂_i ξ_i`. Every third node has wind that gives at most `w_k(ξ) = w̄_k − ŵ_k
//! ξ_{n+k}`. The first stage buys generation `g_i ≥ 0` up to the limit of the site and line capacity `k_l ≥ 0` beyond
//! the existing `k⁰_l`. The recourse dispatches generation `p_i`, wind used `u_k`, flows `f_l` (in both directions of a
//! line, at no cost) and expensive load shedding `s_i`:
//!
//! ```text
//! min  Σ p_i·fuel_i + Σ s_i·shed_i
//! s.t. p_i + u_i + Σ_in f_l − Σ_out f_l + s_i = d_i(ξ)   for every node i
//!      0 ≤ p_i ≤ g_i,   −k⁰_l − k_l ≤ f_l ≤ k⁰_l + k_l,   0 ≤ u_k ≤ w_k(ξ),   s_i ≥ 0
//! ```
//!
//! It is the transport model of a grid: flows are balanced, and follow no voltage angles. Shedding everything is always
//! possible.

use super::plane::Plane;
use super::random::Streams;
use super::uncertain::{InstanceError, Uncertain, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same `n` and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Number of nodes, at least 2. ξ has an entry for the demand of each, and one for the wind of every third: n +
    /// ⌈n/3⌉ in all.
    pub n: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// From one node with wind to the next.
const WINDY: usize = 3;

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    Points = 16,
    BuildingCosts,
    Sites,
    FuelCosts,
    SheddingCosts,
    Lines,
    Demands,
    DemandSwings,
    Winds,
    WindSwings,
}

/// The uncertain amounts: their values at ξ = 0, and their slopes in ξ.
struct Weather {
    demands: Vec<f64>,
    demand_swings: Vec<f64>,
    winds: Vec<f64>,
    wind_swings: Vec<f64>,
}

impl Energy {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, count: usize, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, count, from, to)
    }

    fn weather(&self) -> Weather {
        let demands = self.integers(Data::Demands, self.n, 50, 150);
        let winds = self.integers(Data::Winds, self.n.div_ceil(WINDY), 60, 150);
        Weather {
            demand_swings: self.streams().shares(Data::DemandSwings as u64, &demands, 0.3, 0.8),
            wind_swings: self.streams().shares(Data::WindSwings as u64, &winds, 0.6, 1.0),
            demands,
            winds,
        }
    }

    fn first_stage(&self, plane: &Plane) -> FirstStageDefinition {
        let costs = self.integers(Data::BuildingCosts, self.n, 30, 60);
        let sites = self.integers(Data::Sites, self.n, 100, 400);
        let generation = (0..self.n).map(|i| Variable::new(generation(i), costs[i]).bounded(0.0, sites[i]));
        let lines = plane.links().into_iter().map(|link| {
            let cost = 3.0 + (0.2 * plane.distance(link.0, link.1)).round();
            Variable::new(line(link), cost).bounded(0.0, 300.0)
        });
        FirstStageDefinition { variables: generation.chain(lines).collect(), ..Default::default() }
    }

    fn recourse(&self, plane: &Plane, weather: &Weather) -> RecourseDefinition {
        let links = plane.links();
        let fuel = self.integers(Data::FuelCosts, self.n, 10, 40);
        let shedding = self.integers(Data::SheddingCosts, self.n, 150, 300);
        let there = self.integers(Data::Lines, links.len(), 10, 30);
        let mut stage = RecourseDefinition::default();
        for i in 0..self.n {
            let [produce, shed, wind] = ["produce", "shed", "wind"].map(|what| format!("{what}_{}", i + 1));
            stage.variables.push(Variable::new(&produce, fuel[i]));
            stage.variables.push(Variable::new(&shed, shedding[i]));
            stage.constraints.push(Row {
                y: vec![(produce.clone(), -1.0)],
                x: vec![(generation(i), 1.0)],
                lower: 0.0,
                ..Row::new(format!("capacity_{}", i + 1))
            });
            let arrives = links.iter().filter(|link| link.1 == i).map(|&link| (flow(link), 1.0));
            let leaves = links.iter().filter(|link| link.0 == i).map(|&link| (flow(link), -1.0));
            let mut balance = Row {
                y: [(produce, 1.0), (shed, 1.0)].into_iter().chain(arrives).chain(leaves).collect(),
                xi: vec![(xi(i), -weather.demand_swings[i])],
                lower: weather.demands[i],
                upper: weather.demands[i],
                ..Row::new(format!("balance_{}", i + 1))
            };
            if i % WINDY == 0 {
                let k = i / WINDY;
                stage.variables.push(Variable::new(&wind, 0.0));
                balance.y.push((wind.clone(), 1.0));
                stage.constraints.push(Row {
                    y: vec![(wind, 1.0)],
                    xi: vec![(xi(self.n + k), weather.wind_swings[k])],
                    upper: weather.winds[k],
                    ..Row::new(format!("weather_{}", i + 1))
                });
            }
            stage.constraints.push(balance);
        }
        for (&link, there) in links.iter().zip(there) {
            stage.variables.push(Variable::new(flow(link), 0.0).bounded(f64::NEG_INFINITY, f64::INFINITY));
            let row = |name: &str, sign: f64| Row {
                y: vec![(flow(link), sign)],
                x: vec![(line(link), 1.0)],
                lower: -there,
                ..Row::new(format!("{name}_{}_{}", link.0 + 1, link.1 + 1))
            };
            stage.constraints.extend([row("forth", -1.0), row("back", 1.0)]);
        }
        stage
    }
}

fn generation(i: usize) -> String {
    format!("generation_{}", i + 1)
}

fn line(link: (usize, usize)) -> String {
    format!("line_{}_{}", link.0 + 1, link.1 + 1)
}

fn flow(link: (usize, usize)) -> String {
    format!("flow_{}_{}", link.0 + 1, link.1 + 1)
}

/// Draws an instance.
pub fn energy(settings: &Energy) -> Result<ProblemDefinition, InstanceError> {
    let Energy { n, uncertainty: set, seed } = *settings;
    set.validate(n, 2)?;
    let weather = settings.weather();
    let plane = Plane::draw(n, settings.streams().of(Data::Points as u64));
    Ok(ProblemDefinition {
        name: format!("energy expansion, n = {n}, {}, seed {seed}", set.title("demand and wind")),
        first_stage: settings.first_stage(&plane),
        uncertainty: set.draw(n + weather.winds.len(), settings.streams()),
        recourse: settings.recourse(&plane, &weather),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn settings(uncertainty: Uncertain) -> Energy {
        Energy { n: 7, uncertainty, seed: 3 }
    }

    fn starting<'a>(rows: &'a [Row], with: &'a str) -> impl Iterator<Item = &'a Row> {
        rows.iter().filter(move |row| row.name.starts_with(with))
    }

    #[test]
    fn nodes_are_balanced_and_lines_carry_flow_in_both_directions() {
        let drawn = energy(&settings(Uncertain::Ellipsoid)).unwrap();
        let rows = &drawn.recourse.constraints;
        // Seven nodes, three of them windy; a ring of seven lines and three more.
        assert_eq!(drawn.uncertainty.parameters.len(), 10);
        assert_eq!((drawn.first_stage.variables.len(), starting(rows, "weather").count()), (17, 3));
        assert!(starting(rows, "balance").count() == 7 && starting(rows, "balance").all(|row| row.lower == row.upper));
        let flows = drawn.recourse.variables.iter().filter(|y| y.name.starts_with("flow"));
        for flow in flows {
            let terms = |with: &str| -> Vec<f64> {
                starting(rows, with)
                    .flat_map(|row| &row.y)
                    .filter(|term| term.0 == flow.name)
                    .map(|term| term.1)
                    .collect()
            };
            assert_eq!(terms("balance").iter().sum::<f64>(), 0.0, "{}", flow.name);
            assert_eq!((terms("balance").len(), terms("forth"), terms("back")), (2, vec![-1.0], vec![1.0]));
        }
    }

    #[test]
    fn wind_is_never_negative() {
        for seed in 0..20 {
            let drawn = energy(&Energy { seed, ..settings(Uncertain::Budget { gamma: 1.0 }) }).unwrap();
            assert!(starting(&drawn.recourse.constraints, "weather").all(|row| row.xi[0].1 <= row.upper));
        }
    }

    #[test]
    fn sets_share_costs_and_demands() {
        let [a, b] =
            [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.5 }].map(|set| energy(&settings(set)).unwrap());
        assert!(a.recourse == b.recourse && a.first_stage == b.first_stage);
        assert_eq!(a, energy(&settings(Uncertain::Ellipsoid)).unwrap());
        assert_ne!(a.recourse, energy(&Energy { seed: 4, ..settings(Uncertain::Ellipsoid) }).unwrap().recourse);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |settings: Energy| energy(&settings).unwrap_err();
        let alone = Energy { n: 1, ..settings(Uncertain::Ellipsoid) };
        assert_eq!(refused(alone), InstanceError::TooSmall { n: 1, least: 2 });
        assert_eq!(refused(settings(Uncertain::Scenarios(0))), InstanceError::NoScenarios);
        assert_eq!(refused(settings(Uncertain::Budget { gamma: 1.1 })), InstanceError::Gamma(1.1));
    }
}
