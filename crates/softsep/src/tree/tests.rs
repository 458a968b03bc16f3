//! The tree against HiGHS's own with every cut written out, and against enumeration.
#![allow(clippy::unwrap_used)]

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use softsep_lp::{Lp, Model, Status};

use super::{Judge, Point, Tree, TreeSettings, Work};
use crate::error::Error;
use crate::format::{ProblemFile, Row, SetFile, Variable, VariableKind};
use crate::model::Problem;
use crate::recourse::{ConicProgram, ConicStatus, Cut, CutKind};
use crate::run::{Clock, Limits, Run, Silent, Stop, Verdict};

fn count(few: u64) -> u64 {
    few * if std::env::var_os("SOFTSEP_SOAK").is_some() { 10 } else { 1 }
}

fn whole(rng: &mut ChaCha8Rng, low: i32, high: i32) -> f64 {
    f64::from(rng.random_range(low..=high))
}

/// A first stage; the recourse is nothing, since the judge makes its cuts up.
fn stage(variables: Vec<Variable>, rows: Vec<Row>) -> ProblemFile {
    let mut file = ProblemFile::default();
    file.first_stage.variables = variables;
    file.first_stage.constraints = rows;
    file.uncertainty.parameters.push("g".into());
    file.uncertainty.set = SetFile::Box { lower: vec![0.0], upper: vec![1.0] };
    file.recourse.variables.push(Variable::new("y", 1.0));
    let mut row = Row::new("r");
    row.y = vec![("y".into(), 1.0)];
    row.lower = 0.0;
    file.recourse.constraints.push(row);
    file
}

/// A random first stage with binaries, integers (some without an upper bound, some with bounds that are not whole), continuous and free columns, rows and
/// equalities, and cuts that hide: affine functions whose maximum is the recourse cost, and rows.
fn random(seed: u64) -> (ProblemFile, Vec<Cut>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let dim = rng.random_range(1..=8);
    let mut variables = Vec::new();
    let mut open = Vec::new();
    for j in 0..dim {
        let cost = whole(&mut rng, -2, 2) + if rng.random_bool(0.3) { 0.5 } else { 0.0 };
        let mut variable = Variable::new(format!("x{j}"), cost);
        match rng.random_range(0..6) {
            0 | 1 => variable = Variable::binary(format!("x{j}"), cost),
            2 => {
                variable = variable.bounded(whole(&mut rng, -4, 0) - 0.3, whole(&mut rng, 1, 7) + 0.4);
                variable.kind = VariableKind::Integer;
            }
            3 if open.len() < 4 => {
                variable.kind = VariableKind::Integer;
                open.push(j);
            }
            4 if open.len() < 4 => {
                variable = variable.bounded(f64::NEG_INFINITY, f64::INFINITY);
                open.push(j);
            }
            _ => variable = variable.bounded(0.0, whole(&mut rng, 1, 5)),
        }
        variables.push(variable);
    }
    let mut rows = Vec::new();
    for i in 0..rng.random_range(0..=4) {
        let mut row = Row::new(format!("r{i}"));
        row.x = (0..dim)
            .filter_map(|j| {
                let value = whole(&mut rng, -3, 5);
                (value != 0.0 && rng.random_bool(0.7)).then(|| (format!("x{j}"), value))
            })
            .collect();
        let side = whole(&mut rng, 0, 9);
        match rng.random_range(0..5) {
            0 => (row.lower, row.upper) = (side, side),
            1 => row.lower = side - 6.0,
            2 => (row.lower, row.upper) = (side - 7.5, side),
            _ => row.upper = side + 0.5,
        }
        rows.push(row);
    }
    let mut cuts = Vec::new();
    for kind in std::iter::repeat_n(CutKind::Optimality, rng.random_range(1..=12))
        .chain(std::iter::repeat_n(CutKind::Feasibility, rng.random_range(0..=2)))
    {
        let intercept = match kind {
            CutKind::Optimality => whole(&mut rng, -5, 20),
            CutKind::Feasibility => -whole(&mut rng, 1, 12),
        };
        let slope = (0..dim).map(|_| whole(&mut rng, -6, 6) + 0.25 * whole(&mut rng, 0, 3)).collect();
        cuts.push(Cut { kind, intercept, slope });
    }
    // What has no bounds costs more than it can earn.
    for &j in &open {
        for sign in [-20.0, 20.0] {
            let mut slope = vec![0.0; dim];
            slope[j] = sign;
            cuts.push(Cut { kind: CutKind::Optimality, intercept: -3.0, slope });
        }
    }
    (stage(variables, rows), cuts)
}

/// The optimum by HiGHS's tree; `None` if nothing is feasible.
fn reference(problem: &Problem, cuts: &[Cut]) -> Option<f64> {
    let first = &problem.first;
    let mut model = Model::new();
    for j in 0..first.dim() {
        match first.kind[j] {
            VariableKind::Continuous => model.add_col(first.cost[j], first.lower[j], first.upper[j]),
            _ => model.add_integer(first.cost[j], first.lower[j], first.upper[j]),
        };
    }
    let eta = model.add_col(1.0, f64::NEG_INFINITY, f64::INFINITY);
    for row in 0..first.rows.rows() {
        let terms: Vec<_> = first.rows.row(row).collect();
        model.add_row(first.row_lower[row], first.row_upper[row], &terms);
    }
    for cut in cuts {
        let mut terms: Vec<_> = cut.slope.iter().enumerate().map(|(j, slope)| (j, -slope)).collect();
        if cut.kind == CutKind::Optimality {
            terms.push((eta, 1.0));
        }
        model.add_row(cut.intercept, f64::INFINITY, &terms);
    }
    model.set_offset(first.constant);
    let mut lp = Lp::new(&model).unwrap();
    lp.set_mip_gap(0.0).unwrap();
    match lp.solve().unwrap() {
        Status::Optimal => Some(lp.objective()),
        Status::Infeasible => None,
        status => panic!("the reference ended with {status:?}"),
    }
}

/// Knows a fixed list of cuts and shows those that are violated.
struct Hidden<'a> {
    problem: &'a Problem,
    cuts: &'a [Cut],
    optimum: Option<f64>,
    best: Option<(Vec<f64>, f64)>,
    lower: f64,
    /// The cutoffs to give before the true one, one for each so many questions.
    lies: Vec<f64>,
    questions: usize,
    /// Every point looked at, to compare two searches.
    seen: Vec<(Vec<u64>, u64)>,
}

impl<'a> Hidden<'a> {
    fn new(problem: &'a Problem, cuts: &'a [Cut], optimum: Option<f64>) -> Self {
        let lower = f64::NEG_INFINITY;
        Self { problem, cuts, optimum, best: None, lower, lies: Vec::new(), questions: 0, seen: Vec::new() }
    }

    /// The worst cut of each kind, and the value of a decision that is feasible.
    fn ask(&mut self, x: &[f64], is_whole: bool) -> Vec<Cut> {
        let worst = |kind: CutKind| {
            let of_kind = self.cuts.iter().filter(|cut| cut.kind == kind);
            of_kind.max_by(|a, b| a.at(x).total_cmp(&b.at(x)))
        };
        let (optimality, feasibility) = (worst(CutKind::Optimality), worst(CutKind::Feasibility));
        if is_whole && feasibility.is_none_or(|cut| cut.at(x) <= 1e-6) {
            assert!(self.problem.first.violation(x).is_none_or(|violation| violation.amount <= 1e-6), "{x:?} is not in X");
            let value = self.problem.first.value(x) + optimality.unwrap().at(x);
            if self.best.as_ref().is_none_or(|(_, best)| value < *best) {
                self.best = Some((x.to_vec(), value));
            }
        }
        optimality.into_iter().chain(feasibility).cloned().collect()
    }
}

impl Judge for Hidden<'_> {
    fn look(&mut self, points: &[Point], _run: &mut Run) -> Result<Vec<Vec<Cut>>, Error> {
        for point in points {
            self.questions += 1;
            self.seen.push((point.x.iter().map(|x| x.to_bits()).collect(), point.bound.to_bits()));
        }
        Ok(points.iter().map(|point| self.ask(&point.x, point.whole)).collect())
    }

    fn consider(&mut self, x: &[f64], _run: &mut Run) -> Result<Vec<Cut>, Error> {
        Ok(self.ask(x, true))
    }

    fn cutoff(&self, _run: &Run) -> f64 {
        let truth = self.best.as_ref().map_or(f64::INFINITY, |(_, best)| best - 1e-7 * best.abs().max(1.0));
        self.lies.get(self.questions / 4).copied().unwrap_or(truth)
    }

    fn bounded(&mut self, lower: f64, run: &mut Run) -> Result<(), Error> {
        assert!(lower > self.lower, "{lower} after {}", self.lower);
        if let Some(optimum) = self.optimum {
            assert!(lower <= optimum + 1e-6 * optimum.abs().max(1.0), "a lower bound of {lower} on {optimum}");
        }
        self.lower = lower;
        run.lower(lower);
        Ok(())
    }
}

fn search(problem: &Problem, settings: TreeSettings, judge: &mut Hidden) -> (Result<(), Error>, Work) {
    let (mut silent, clock) = (Silent, Clock::unlimited());
    let mut run = Run::new("tree", Limits { gap: 0.0, ..Limits::default() }, clock.clone(), &mut silent);
    let mut tree = Tree::new(problem, settings, &clock).unwrap();
    let mut ended = tree.search(judge, &mut run);
    // The cutoff may rise after the last node was closed: the method then goes on.
    while ended.is_ok() && judge.questions / 4 < judge.lies.len() {
        judge.lies.clear();
        ended = tree.search(judge, &mut run);
    }
    if let Err(Error::Stopped(Stop::Proved)) = ended {
        assert!(matches!(run.verdict(), Some(Verdict::Infeasible(_))));
    }
    (ended, tree.work())
}

fn check(seed: u64, optimum: Option<f64>, ended: &Result<(), Error>, judge: &Hidden) {
    match (optimum, ended) {
        (Some(optimum), Ok(())) => {
            let value = judge.best.as_ref().unwrap().1;
            let size = 1e-6 * optimum.abs().max(1.0);
            assert!((value - optimum).abs() <= size, "{seed}: {value} instead of {optimum}");
            assert!(judge.lower >= optimum - size, "{seed}: a lower bound of {} on {optimum}", judge.lower);
        }
        // Cuts that hide cannot be explained.
        (None, Err(Error::Stopped(Stop::Proved))) => {}
        (None, Err(Error::Master(why))) => assert!(why.contains("infeasible"), "{seed}: {why}"),
        (optimum, ended) => panic!("{seed}: {ended:?} where the optimum is {optimum:?}"),
    }
}

#[test]
fn the_optimum_is_that_of_highs_with_all_cuts_written_out() {
    let (mut feasible, mut nodes) = (0, 0);
    for seed in 0..count(400) {
        let (file, cuts) = random(seed);
        let problem = Problem::new(&file).unwrap();
        let optimum = reference(&problem, &cuts);
        let mut judge = Hidden::new(&problem, &cuts, optimum);
        let heuristics = seed % 2 == 0;
        let settings = TreeSettings { heuristics, batch: 1 + (seed % 5) as usize, ..TreeSettings::default() };
        let (ended, work) = search(&problem, settings, &mut judge);
        check(seed, optimum, &ended, &judge);
        feasible += u64::from(optimum.is_some());
        nodes += work.nodes;
    }
    assert!(feasible > count(200) && nodes > 5 * feasible, "{feasible} feasible problems, {nodes} nodes");
}
