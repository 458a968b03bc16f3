//! Engine for linear recourse.
//!
//! A solve tries the bases of a pool first, then a few dual simplex pivots from the best of them, then HiGHS with a
//! warm dual simplex. Between solves only right-hand sides change, and costs where they depend on ξ.

mod basis_factors;
mod basis_policy;
mod basis_pool;
mod basis_probe;
mod certificates;
mod data;
mod dual_selection;
mod dual_simplex;
mod eta_file;
mod interior_point;
mod joint_basis;
mod ladder;
mod lu;
mod minorants;
mod pooled_basis;

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::{Answer, DualChoice, Recourse, RecourseBasis, RecourseError, RecourseOutcome, RecourseWork};
use crate::model::Problem;
use crate::numeric::dot;
use crate::numeric::tolerances::HIGHS_INFINITY;
use crate::run::{Clock, Interrupt};
pub use basis_policy::{BasisPolicies, Interval};
pub(crate) use basis_policy::{BasisPolicy, BasisResponse};
use basis_pool::{BasisPool, PoolAnswer};
pub use basis_probe::BasisProbe;
use data::RecourseData;
use dual_selection::DualSelection;
pub(crate) use joint_basis::recourse_basis;
pub(crate) use ladder::{SimplexRung, climb_ladder, is_definite};
use pooled_basis::PooledBasis;

/// Linear recourse, solved by the simplex method.
pub struct Linear {
    data: RecourseData,
    /// The cost vector b, and the cost vector b + Bξ of the current solve.
    fixed_cost: Vec<f64>,
    cost: Vec<f64>,
    costs_move: bool,
    /// The program in HiGHS. Built at the first call, since the pool may answer all solves without it.
    lp: Option<Lp>,
    clock: Clock,
    x: Vec<f64>,
    shift_x: Vec<f64>,
    shift: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    pool: BasisPool,
    /// True if `y` and `dual` belong to the last answer. Otherwise the last basis of the pool does.
    solver_answered: bool,
    y: Vec<f64>,
    dual: Vec<f64>,
    face: Option<Box<DualSelection>>,
    /// Basis from which the next HiGHS solve must start, if it differs from the basis that HiGHS holds.
    start: Option<RecourseBasis>,
    /// True if `start` is not dual feasible. The primal simplex can use such a basis, the dual simplex cannot.
    start_with_primal_simplex: bool,
    work: RecourseWork,
}

/// Largest difference between the primal and the dual objective of HiGHS, relative to them where they are above 1.
const DUALITY_GAP_TOL: f64 = 1e-6;

/// Result of one attempt of the ladder.
enum AttemptResult {
    Answered,
    Stopped(Interrupt),
    /// HiGHS found an optimum within its tolerances, whose dual proves no bound.
    Unproved,
    Failed(String),
}

/// Whose dual proves the bound of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// That of the basis that HiGHS ends at.
    Basis,
    /// That of an interior-point method, where the one of the basis does not.
    InteriorPoint,
}

impl Linear {
    /// Builds the engine. Fails if the recourse is not linear or has no variables.
    pub fn new(problem: &Problem, clock: &Clock) -> Result<Self, RecourseError> {
        let recourse = &problem.recourse;
        if !recourse.is_linear() || recourse.dim() == 0 {
            return Err(RecourseError::Unsupported(
                "the simplex engine takes linear recourse with variables only".into(),
            ));
        }
        let (rows, cols) = (recourse.rows(), recourse.dim());
        let mut engine = Self {
            data: RecourseData::new(problem),
            fixed_cost: recourse.cost.clone(),
            cost: recourse.cost.clone(),
            costs_move: recourse.costs_move(),
            lp: None,
            clock: clock.clone(),
            x: vec![0.0; problem.first.dim()],
            shift_x: vec![0.0; rows],
            shift: vec![0.0; rows],
            row_lower: vec![0.0; rows],
            row_upper: vec![0.0; rows],
            pool: BasisPool::default(),
            solver_answered: true,
            y: vec![0.0; cols],
            dual: vec![0.0; rows],
            face: None,
            start: None,
            start_with_primal_simplex: false,
            work: RecourseWork::default(),
        };
        engine.at(&vec![0.0; problem.first.dim()]);
        Ok(engine)
    }

    /// Returns the same engine with another selection among optimal duals.
    pub fn with_dual(mut self, choice: DualChoice) -> Result<Self, RecourseError> {
        self.face = match choice {
            DualChoice::Any => None,
            DualChoice::LeastNorm => Some(Box::new(DualSelection::new(&self.data)?)),
        };
        Ok(self)
    }

    /// Fills `answer` from the last basis of the pool.
    fn answer_from_pool(&mut self, answer: &mut Answer) {
        let Some(pooled) = self.pool.last() else { return };
        self.solver_answered = false;
        answer.outcome = RecourseOutcome::Solved;
        answer.value = pooled.value(&self.shift);
        answer.cost = answer.value;
        answer.slope_x.copy_from_slice(&pooled.slope_x);
        answer.slope_xi.copy_from_slice(&pooled.slope_xi);
        answer.intercept = answer.value - dot(&answer.slope_x, &self.x);
        if self.costs_move {
            pooled.decision(&self.data, &mut self.y);
            self.data.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
        }
    }

    /// Builds the program in HiGHS. Its right-hand sides are set before each solve.
    fn build_lp(&self) -> Result<Lp, RecourseError> {
        let data = &self.data;
        let mut model = Model::new();
        for j in 0..data.cols() {
            model.add_col(self.fixed_cost[j], data.lower[j], data.upper[j]);
        }
        let mut terms = Vec::new();
        for i in 0..data.rows() {
            terms.clear();
            terms.extend(data.g_rows.row(i));
            model.add_row(data.row_lower[i], data.row_upper[i], &terms);
        }
        let mut lp = Lp::new(&model)?;
        // Presolve costs more time than it saves on a warm start, and presolved programs return no rays.
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_interrupt(Arc::clone(self.clock.interrupt()))?;
        Ok(lp)
    }

    /// Solves by HiGHS.
    fn call_solver(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.clock.check()?;
        let mut lp = match self.lp.take() {
            Some(lp) => lp,
            None => self.build_lp()?,
        };
        let answered = self.climb_ladder(&mut lp, xi, answer);
        self.lp = Some(lp);
        answered
    }

    /// Solves by `lp`, with one rung of the ladder after the other until one gives a verified answer. Where the duals
    /// of all rungs prove no bound, an interior-point method has to.
    fn climb_ladder(&mut self, lp: &mut Lp, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.solver_answered = true;
        self.load(lp, xi)?;
        let (mut failure, mut is_unproved) = (String::new(), false);
        let rungs = [SimplexRung::Warm, SimplexRung::StrictDual].map(|rung| (rung, Proof::Basis));
        let later = SimplexRung::LADDER.into_iter().skip(1).map(|rung| (rung, Proof::Basis));
        let last = [(SimplexRung::Warm, Proof::InteriorPoint)];
        for (rung, proof) in rungs.into_iter().chain(later).chain(last) {
            // A solve without an answer gains nothing from a stricter tolerance, nor from another proof.
            if (rung == SimplexRung::StrictDual || proof == Proof::InteriorPoint) && !is_unproved {
                continue;
            }
            if let Some(left) = self.clock.left() {
                lp.set_time_limit(Some(left))?;
            }
            rung.prepare(lp)?;
            let status = lp.solve()?;
            if std::mem::take(&mut self.start_with_primal_simplex) {
                lp.set_algorithm(Algorithm::DualSimplex)?;
            }
            self.work.iterations += lp.simplex_iterations();
            let attempt = self.read(lp, status, proof, answer)?;
            rung.restore(lp)?;
            match attempt {
                AttemptResult::Answered => {
                    self.work.recovered += u64::from(rung != SimplexRung::Warm);
                    return Ok(());
                }
                AttemptResult::Stopped(stop) => return Err(stop.into()),
                AttemptResult::Unproved => is_unproved = true,
                AttemptResult::Failed(why) => failure = why,
            }
        }
        // HiGHS may end without a status where the rows contradict one another.
        if !is_unproved && let Some(gain) = self.find_farkas()? {
            self.work.recovered += 1;
            self.answer_infeasible(gain, answer);
            return Ok(());
        }
        Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why: failure })
    }

    /// Computes a Farkas certificate without a ray of HiGHS. Returns its gain.
    fn find_farkas(&mut self) -> Result<Option<f64>, RecourseError> {
        match certificates::elastic_ray(&self.data, &self.shift, &mut self.dual)? {
            Some(gain) => Ok(Some(gain)),
            None => interior_point::farkas(&self.data, &self.shift, &mut self.dual, &self.clock),
        }
    }

    /// Passes right-hand sides, costs and the starting basis of the current solve to `lp`. Fails if HiGHS would read a
    /// right-hand side as infinite.
    fn load(&mut self, lp: &mut Lp, xi: &[f64]) -> Result<(), RecourseError> {
        for (i, shift) in self.shift.iter().enumerate() {
            self.row_lower[i] = self.data.row_lower[i] - shift;
            self.row_upper[i] = self.data.row_upper[i] - shift;
        }
        let reads_as_infinite =
            |side: &[f64]| side.iter().any(|bound| bound.is_finite() && bound.abs() >= HIGHS_INFINITY);
        if reads_as_infinite(&self.row_lower) || reads_as_infinite(&self.row_upper) {
            let why = format!(
                "a right-hand side is beyond {HIGHS_INFINITY:e}, which HiGHS takes for infinite; use larger units"
            );
            return Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why });
        }
        lp.set_row_bounds(&self.row_lower, &self.row_upper)?;
        if self.costs_move {
            lp.set_costs(&self.cost)?;
        }
        if let Some(start) = self.start.take() {
            // The pricing weights and the random state are reset too, so that the answer depends on the basis alone.
            lp.clear_solver()?;
            if let Some(basis) = &start.0 {
                lp.set_basis(basis)?;
            }
            if self.start_with_primal_simplex {
                lp.set_algorithm(Algorithm::PrimalSimplex)?;
            }
        }
        Ok(())
    }

    /// Reads the result of HiGHS and verifies it.
    fn read(
        &mut self,
        lp: &Lp,
        status: Status,
        proof: Proof,
        answer: &mut Answer,
    ) -> Result<AttemptResult, RecourseError> {
        Ok(match status {
            Status::Optimal => self.read_optimum(lp, proof, answer)?,
            Status::Infeasible | Status::Unbounded | Status::InfeasibleOrUnbounded => {
                self.read_rays(lp, status, answer)?
            }
            Status::TimeLimit => AttemptResult::Stopped(Interrupt::TimeLimit),
            Status::Interrupted => AttemptResult::Stopped(Interrupt::Interrupted),
            Status::OtherLimit | Status::Failed => AttemptResult::Failed(format!("HiGHS ended with {status:?}")),
        })
    }

    fn read_optimum(&mut self, lp: &Lp, proof: Proof, answer: &mut Answer) -> Result<AttemptResult, RecourseError> {
        lp.primal(&mut self.y)?;
        lp.dual(&mut self.dual)?;
        self.data.drop_infinite_bound_multipliers(&mut self.dual);
        if !self.data.proves_bound(&self.cost, &self.dual) {
            return match proof {
                Proof::Basis => Ok(AttemptResult::Unproved),
                Proof::InteriorPoint => self.answer_by_interior_point(lp.objective(), answer),
            };
        }
        let objective = lp.objective();
        let mut basis = Basis::default();
        if lp.has_basis() {
            lp.basis(&mut basis)?;
        }
        let pooled = PooledBasis::new(&self.data, Arc::new(basis), &self.cost, self.dual.clone());
        let value = pooled.value(&self.shift);
        if !((value - objective).abs() <= DUALITY_GAP_TOL * (1.0 + objective.abs())) {
            return Ok(AttemptResult::Failed(format!(
                "the primal value {objective} and the dual value {value} differ"
            )));
        }
        answer.outcome = RecourseOutcome::Solved;
        answer.value = value;
        answer.cost = value.max(objective);
        answer.slope_x.copy_from_slice(&pooled.slope_x);
        answer.slope_xi.copy_from_slice(&pooled.slope_xi);
        answer.intercept = value - dot(&answer.slope_x, &self.x);
        if self.costs_move {
            self.data.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
        }
        if !pooled.basis.is_empty() {
            self.pool.add(&self.data, pooled);
        }
        Ok(AttemptResult::Answered)
    }

    /// Fills `answer` for an optimum of HiGHS by the bound of an interior-point method.
    fn answer_by_interior_point(&mut self, cost: f64, answer: &mut Answer) -> Result<AttemptResult, RecourseError> {
        let value = match interior_point::bound(&self.data, &self.cost, &self.shift, &mut self.dual, &self.clock)? {
            Ok(value) => value,
            Err(attempt) => return Ok(attempt),
        };
        answer.outcome = RecourseOutcome::Solved;
        answer.value = value;
        answer.cost = cost.max(value);
        self.data.cut_slopes(&self.dual, &mut answer.slope_x, &mut answer.slope_xi);
        answer.intercept = value - dot(&answer.slope_x, &self.x);
        if self.costs_move {
            self.data.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
        }
        Ok(AttemptResult::Answered)
    }

    fn read_rays(&mut self, lp: &Lp, status: Status, answer: &mut Answer) -> Result<AttemptResult, RecourseError> {
        self.y.fill(0.0);
        let gain = match status {
            Status::Infeasible if lp.dual_ray(&mut self.dual)? => {
                certificates::farkas(&self.data, &self.shift, &mut self.dual)
            }
            _ => None,
        };
        let gain = match gain {
            Some(gain) => Some(gain),
            None if status == Status::Infeasible => self.find_farkas()?,
            None => certificates::elastic_ray(&self.data, &self.shift, &mut self.dual)?,
        };
        if let Some(gain) = gain {
            self.answer_infeasible(gain, answer);
            return Ok(AttemptResult::Answered);
        }
        if status == Status::Infeasible {
            return Ok(AttemptResult::Failed(
                "HiGHS calls the recourse infeasible, but no certificate of that holds".into(),
            ));
        }
        self.dual.fill(0.0);
        if !certificates::descent_ray(&self.data, &self.cost, &mut self.y)? {
            return Ok(AttemptResult::Failed(
                "HiGHS calls the recourse unbounded, but no certificate of that holds".into(),
            ));
        }
        answer.outcome = RecourseOutcome::Unbounded;
        answer.value = f64::NEG_INFINITY;
        answer.cost = f64::NEG_INFINITY;
        answer.intercept = f64::NEG_INFINITY;
        answer.slope_x.fill(0.0);
        answer.slope_xi.fill(0.0);
        Ok(AttemptResult::Answered)
    }

    /// Fills `answer` from the verified Farkas ray in `dual`, whose gain is `gain`.
    fn answer_infeasible(&mut self, gain: f64, answer: &mut Answer) {
        self.solver_answered = true;
        self.y.fill(0.0);
        answer.outcome = RecourseOutcome::Infeasible;
        answer.value = f64::INFINITY;
        answer.cost = f64::INFINITY;
        self.data.cut_slopes(&self.dual, &mut answer.slope_x, &mut answer.slope_xi);
        answer.intercept = gain - dot(&answer.slope_x, &self.x);
    }

    /// Fills `answer` from the ray of the dual simplex. Returns false if the ray is not a valid certificate.
    fn answer_from_farkas_ray(&mut self, answer: &mut Answer) -> bool {
        self.dual.copy_from_slice(self.pool.ray());
        match certificates::farkas(&self.data, &self.shift, &mut self.dual) {
            Some(gain) => {
                self.answer_infeasible(gain, answer);
                true
            }
            None => false,
        }
    }

    /// Replaces the dual of the answer by the one that Lemma 1 selects.
    fn select_dual(&mut self, answer: &mut Answer) -> Result<(), RecourseError> {
        if !self.solver_answered {
            if let Some(pooled) = self.pool.last() {
                pooled.decision(&self.data, &mut self.y);
                self.dual.copy_from_slice(&pooled.dual);
            }
            self.solver_answered = true;
        }
        let Some(face) = &mut self.face else { return Ok(()) };
        let mut selected = self.dual.clone();
        let is_optimal = face.select(&self.data, &self.cost, &self.shift, &self.y, &mut selected)?;
        let value = self.data.dual_objective(Some(&self.cost), &selected) - dot(&selected, &self.shift);
        // The face is that of y up to a tolerance.
        if !is_optimal
            || !self.data.proves_bound(&self.cost, &selected)
            || !((value - answer.value).abs() <= DUALITY_GAP_TOL * (1.0 + answer.value.abs()))
        {
            self.work.unselected += 1;
        } else {
            self.dual = selected;
            self.data.cut_slopes(&self.dual, &mut answer.slope_x, &mut answer.slope_xi);
            if self.costs_move {
                self.data.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
            }
            answer.value = value;
            answer.cost = value;
            answer.intercept = answer.value - dot(&answer.slope_x, &self.x);
        }
        Ok(())
    }
}

impl Recourse for Linear {
    fn at(&mut self, x: &[f64]) {
        if self.x != x {
            self.pool.move_x();
        }
        self.x.copy_from_slice(x);
        self.shift_x.fill(0.0);
        self.data.e.mul_add(1.0, x, &mut self.shift_x);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.work.solves += 1;
        self.shift.copy_from_slice(&self.shift_x);
        self.data.u.mul_add(1.0, xi, &mut self.shift);
        let reply = if self.costs_move {
            self.cost.copy_from_slice(&self.fixed_cost);
            self.data.cost_xi.mul_add(1.0, xi, &mut self.cost);
            self.pool.find_optimal_at_cost(&self.data, &self.shift, &self.cost)
        } else {
            self.pool.find_optimal(&self.data, &self.shift, xi, &self.cost)
        };
        let unique = match reply {
            PoolAnswer::Optimal { unique, pivots } => {
                self.work.reused += u64::from(pivots == 0);
                self.work.pivoted += u64::from(pivots > 0);
                self.work.iterations += pivots;
                self.answer_from_pool(answer);
                unique
            }
            PoolAnswer::Infeasible if self.answer_from_farkas_ray(answer) => {
                self.work.pivoted += 1;
                true
            }
            PoolAnswer::Infeasible | PoolAnswer::Unknown => {
                self.call_solver(xi, answer)?;
                false
            }
        };
        if self.face.is_some() && !unique && answer.outcome == RecourseOutcome::Solved {
            self.select_dual(answer)?;
        }
        Ok(())
    }

    fn decision(&mut self, y: &mut [f64]) {
        match self.pool.last() {
            Some(pooled) if !self.solver_answered => pooled.decision(&self.data, y),
            _ => y.copy_from_slice(&self.y),
        }
    }

    fn dual(&mut self, pi: &mut [f64]) {
        match self.pool.last() {
            Some(pooled) if !self.solver_answered => pi.copy_from_slice(&pooled.dual),
            _ => pi.copy_from_slice(&self.dual),
        }
    }

    fn warm_start(&self) -> RecourseBasis {
        RecourseBasis(self.pool.last().map(|pooled| Arc::clone(&pooled.basis)))
    }

    fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError> {
        self.pool.clear();
        self.start = Some(warm.clone());
        let basis = warm.0.as_deref().filter(|_| !self.costs_move);
        let pooled = basis.and_then(|basis| PooledBasis::from_basis(&self.data, basis, &self.cost));
        self.start_with_primal_simplex = basis.is_some() && pooled.is_none();
        pooled.into_iter().for_each(|pooled| self.pool.add(&self.data, pooled));
        Ok(())
    }

    fn hint(&mut self, ended: &RecourseBasis) {
        let basis = ended.0.as_ref().filter(|basis| !self.costs_move && !self.pool.contains(basis));
        if let Some(pooled) = basis.and_then(|basis| PooledBasis::from_basis(&self.data, basis, &self.cost)) {
            self.pool.add_hint(&self.data, pooled);
        }
    }

    fn work(&self) -> RecourseWork {
        self.work
    }
}
