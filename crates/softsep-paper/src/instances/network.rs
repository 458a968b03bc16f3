//! Network design: arc capacity is bought before the demands of pairs of nodes are known.
//!
//! Pair k demands `d_k(ξ) = d̄_k + d̂_k ξ_k` to be sent from node `s_k`, each node in turn, to another node `t_k`. All
//! pairs share the capacity `x_a ≥ 0` of an arc; each has flows `f_ak ≥ 0` of its own, and unmet demand `u_k ≥ 0` has a
//! price. In the mixed-integer version an arc must be opened, at a fixed cost, before capacity is bought on it:
//!
//! ```text
//! min  Σ f_ak·carry_a + Σ u_k·unmet_k
//! s.t. Σ_{a out of s_k} f_ak + u_k = d_k(ξ)                        for every pair k
//!      Σ_{a out of i} f_ak − Σ_{a into i} f_ak = 0                  for every pair k and every node i but s_k and t_k
//!      Σ_k f_ak ≤ x_a                                               for every arc a
//! ```
//!
//! The balance at `t_k` follows from the others and is not written. Arcs into `s_k` and out of `t_k` carry no flow of
//! pair k. Sending nothing is always feasible.

use rand::RngExt;

use super::plane::Plane;
use super::random::Streams;
use super::uncertain::{InstanceError, Uncertain, most, xi};
use softsep::definition::{FirstStageDefinition, RecourseDefinition, Row, Variable};
use softsep::model::ProblemDefinition;

/// The settings of an instance. The same `n` and `seed` give the same costs and demands whatever the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// Number of nodes, at least 2; of pairs, each from a node of its own; and of entries of ξ.
    pub n: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The settings of an instance of the mixed-integer version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkDesign {
    /// Number of nodes, at least 2.
    pub n: usize,
    /// Number of pairs, and of entries of ξ.
    pub pairs: usize,
    /// The uncertainty set.
    pub uncertainty: Uncertain,
    /// The seed of all that is random.
    pub seed: u64,
}

/// Both versions.
struct Version {
    n: usize,
    pairs: usize,
    /// Whether arcs must be opened.
    opens: bool,
    uncertainty: Uncertain,
    seed: u64,
}

/// The kinds of data, each drawn from a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Data {
    Points = 16,
    Destinations,
    UnmetCosts,
    Demands,
    Swings,
    OpeningCosts,
}

type Arc = (usize, usize);

impl Version {
    fn streams(&self) -> Streams {
        Streams { seed: self.seed }
    }

    fn integers(&self, data: Data, from: i32, to: i32) -> Vec<f64> {
        self.streams().integers(data as u64, self.pairs, from, to)
    }

    /// The node that a pair sends from.
    fn source(&self, k: usize) -> usize {
        k % self.n
    }

    /// Any node but the source, for each pair.
    fn destinations(&self) -> Vec<usize> {
        let mut rng = self.streams().of(Data::Destinations as u64);
        (0..self.pairs).map(|k| (self.source(k) + rng.random_range(1..self.n)) % self.n).collect()
    }

    fn first_stage(&self, plane: &Plane, arcs: &[Arc], most: f64) -> FirstStageDefinition {
        let capacities = arcs.iter().map(|&arc| {
            let cost = 2.0 + (0.3 * plane.distance(arc.0, arc.1)).round();
            Variable::new(capacity(arc), cost).bounded(0.0, most)
        });
        let mut stage = FirstStageDefinition { variables: capacities.collect(), ..Default::default() };
        if self.opens {
            let costs = self.streams().integers(Data::OpeningCosts as u64, arcs.len(), 500, 2000);
            for (&arc, cost) in arcs.iter().zip(costs) {
                let open = format!("open_{}_{}", arc.0 + 1, arc.1 + 1);
                stage.variables.push(Variable::binary(&open, cost));
                stage.constraints.push(Row {
                    x: vec![(capacity(arc), 1.0), (open, -most)],
                    upper: 0.0,
                    ..Row::new(format!("link_{}_{}", arc.0 + 1, arc.1 + 1))
                });
            }
        }
        stage
    }

    fn recourse(&self, plane: &Plane, arcs: &[Arc], demands: &[f64], swings: &[f64]) -> RecourseDefinition {
        let costs = self.integers(Data::UnmetCosts, 60, 120);
        let destinations = self.destinations();
        // Arcs that pair k may use.
        let serves = |arc: &Arc, k: usize| arc.1 != self.source(k) && arc.0 != destinations[k];
        let mut stage = RecourseDefinition::default();
        for k in 0..self.pairs {
            let mine = || arcs.iter().copied().filter(|arc| serves(arc, k));
            stage.variables.extend(mine().map(|arc| {
                let cost = 1.0 + (0.05 * plane.distance(arc.0, arc.1)).round();
                Variable::new(flow(arc, k), cost)
            }));
            let unmet = format!("unmet_{}", k + 1);
            stage.variables.push(Variable::new(&unmet, costs[k]));
            for node in (0..self.n).filter(|&node| node != destinations[k]) {
                let leaves = mine().filter(|arc| arc.0 == node).map(|arc| (flow(arc, k), 1.0));
                let arrives = mine().filter(|arc| arc.1 == node).map(|arc| (flow(arc, k), -1.0));
                let mut row = Row {
                    y: leaves.chain(arrives).collect(),
                    lower: 0.0,
                    upper: 0.0,
                    ..Row::new(format!("balance_{}_{}", k + 1, node + 1))
                };
                if node == self.source(k) {
                    row.y.push((unmet.clone(), 1.0));
                    row.xi = vec![(xi(k), -swings[k])];
                    (row.lower, row.upper) = (demands[k], demands[k]);
                }
                stage.constraints.push(row);
            }
        }
        stage.constraints.extend(arcs.iter().map(|&arc| Row {
            y: (0..self.pairs).filter(|&k| serves(&arc, k)).map(|k| (flow(arc, k), -1.0)).collect(),
            x: vec![(capacity(arc), 1.0)],
            lower: 0.0,
            ..Row::new(format!("room_{}_{}", arc.0 + 1, arc.1 + 1))
        }));
        stage
    }

    fn draw(&self) -> Result<ProblemDefinition, InstanceError> {
        let Self { n, pairs, uncertainty: set, seed, .. } = *self;
        set.validate(n, 2)?;
        if pairs == 0 {
            return Err(InstanceError::None("pairs"));
        }
        let demands = self.integers(Data::Demands, 50, 150);
        let swings = self.streams().shares(Data::Swings as u64, &demands, 0.4, 1.0);
        let uncertainty = set.draw(pairs, self.streams());
        let most = demands.iter().sum::<f64>() + most(&uncertainty, &swings)?;
        let plane = Plane::draw(n, self.streams().of(Data::Points as u64));
        let arcs: Vec<Arc> = plane.links().into_iter().flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        Ok(ProblemDefinition {
            name: match self.opens {
                false => format!("network design, n = {n}, {}, seed {seed}", set.title("pair")),
                true => format!("network design, {n} nodes, {pairs} pairs, {}, seed {seed}", set.title("pair")),
            },
            first_stage: self.first_stage(&plane, &arcs, most),
            uncertainty,
            recourse: self.recourse(&plane, &arcs, &demands, &swings),
        })
    }
}

fn capacity(arc: Arc) -> String {
    format!("capacity_{}_{}", arc.0 + 1, arc.1 + 1)
}

fn flow(arc: Arc, k: usize) -> String {
    format!("flow_{}_{}_{}", k + 1, arc.0 + 1, arc.1 + 1)
}

/// Draws an instance.
pub fn network(settings: &Network) -> Result<ProblemDefinition, InstanceError> {
    let Network { n, uncertainty, seed } = *settings;
    Version { n, pairs: n, opens: false, uncertainty, seed }.draw()
}

/// Draws an instance of the mixed-integer version.
pub fn network_design(settings: &NetworkDesign) -> Result<ProblemDefinition, InstanceError> {
    let NetworkDesign { n, pairs, uncertainty, seed } = *settings;
    Version { n, pairs, opens: true, uncertainty, seed }.draw()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn settings(uncertainty: Uncertain) -> Network {
        Network { n: 6, uncertainty, seed: 3 }
    }

    fn version(settings: &Network) -> Version {
        let Network { n, uncertainty, seed } = *settings;
        Version { n, pairs: n, opens: false, uncertainty, seed }
    }

    #[test]
    fn flows_of_a_pair_are_balanced_except_at_its_ends() {
        let settings = settings(Uncertain::Ellipsoid);
        let drawn = network(&settings).unwrap();
        let rows = &drawn.recourse.constraints;
        // A ring of six links and three more, both ways.
        assert_eq!((drawn.first_stage.variables.len(), rows.len()), (18, 6 * 5 + 18));
        let destinations = version(&settings).destinations();
        assert!(destinations.iter().enumerate().all(|(k, to)| k != *to));
        for y in drawn.recourse.variables.iter().filter(|y| y.name.starts_with("flow")) {
            let ends: Vec<usize> =
                y.name.split('_').skip(1).map(|number| number.parse::<usize>().unwrap() - 1).collect();
            let (k, from, to) = (ends[0], ends[1], ends[2]);
            let balance = |node: usize| format!("balance_{}_{}", k + 1, node + 1);
            let mut want = vec![(balance(from), 1.0), (format!("room_{}_{}", from + 1, to + 1), -1.0)];
            if to != destinations[k] {
                want.push((balance(to), -1.0));
            }
            let mut terms: Vec<(String, f64)> = rows
                .iter()
                .flat_map(|row| row.y.iter().filter(|term| term.0 == y.name).map(|term| (row.name.clone(), term.1)))
                .collect();
            terms.sort_by(|a, b| a.0.cmp(&b.0));
            want.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(terms, want, "{}", y.name);
        }
    }

    #[test]
    fn arcs_are_opened_in_the_mixed_integer_version() {
        let settings = NetworkDesign { n: 6, pairs: 9, uncertainty: Uncertain::Ellipsoid, seed: 3 };
        let drawn = network_design(&settings).unwrap();
        let large = Version { pairs: 9, ..version(&self::settings(Uncertain::Ellipsoid)) };
        assert_eq!((drawn.first_stage.variables.len(), drawn.first_stage.constraints.len()), (36, 18));
        assert_eq!((drawn.uncertainty.parameters.len(), large.source(7)), (9, 1));
        assert!(large.destinations().iter().enumerate().all(|(k, to)| large.source(k) != *to));
        assert_eq!(network_design(&NetworkDesign { pairs: 0, ..settings }), Err(InstanceError::None("pairs")));
    }

    #[test]
    fn sets_share_costs_and_demands() {
        let [a, b] =
            [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.5 }].map(|set| network(&settings(set)).unwrap());
        assert_eq!(a.recourse, b.recourse);
        assert_eq!(a, network(&settings(Uncertain::Ellipsoid)).unwrap());
        assert_ne!(a.recourse, network(&Network { seed: 4, ..settings(Uncertain::Ellipsoid) }).unwrap().recourse);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = |settings: Network| network(&settings).unwrap_err();
        let alone = Network { n: 1, ..settings(Uncertain::Ellipsoid) };
        assert_eq!(refused(alone), InstanceError::TooSmall { n: 1, least: 2 });
        assert_eq!(refused(settings(Uncertain::Scenarios(0))), InstanceError::NoScenarios);
        assert_eq!(
            refused(settings(Uncertain::Budget { gamma: f64::NAN })).to_string(),
            InstanceError::Gamma(f64::NAN).to_string()
        );
    }
}
