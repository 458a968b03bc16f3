//! The engine for linear recourse: known bases first, then a warm HiGHS dual simplex whose right-hand sides alone
//! change.

mod complete;
mod face;
mod frame;
mod kernel;
mod lu;
mod pivot;
mod recover;
mod reuse;
mod rule;

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::{Answer, Outcome, Recourse, RecourseBasis, RecourseError, Work};
use crate::model::Problem;
use crate::numeric::dot;
use crate::run::{Clock, Stop};
pub(crate) use complete::recourse_basis;
use face::Face;
use frame::Frame;
use recover::Rung;
use reuse::{Piece, Pool, Reply};
pub use rule::{Interval, Own, Response, Rules};

/// Which dual is reported where several are optimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DualChoice {
    /// The one that the solver finds.
    #[default]
    Any,
    /// The one with the least ‖Eᵀπ‖₁ (Lemma 1 of the paper), at the cost of a second linear program wherever the first
    /// is degenerate.
    LeastSlope,
}

/// Linear recourse by simplex.
pub struct Linear {
    frame: Frame,
    /// b, and the costs b + Bξ of the current solve.
    fixed_cost: Vec<f64>,
    cost: Vec<f64>,
    costs_move: bool,
    /// Made when it is first asked: known bases and pivots from a start that was handed over may answer all there is to
    /// ask.
    lp: Option<Lp>,
    clock: Clock,
    x: Vec<f64>,
    shift_x: Vec<f64>,
    shift: Vec<f64>,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    pool: Pool,
    /// Whether y and dual below belong to the last answer; else the pool's last piece does.
    solver_answered: bool,
    y: Vec<f64>,
    dual: Vec<f64>,
    face: Option<Box<Face>>,
    /// What HiGHS must start from when it is next asked, if that is not where it stands.
    start: Option<RecourseBasis>,
    /// Whether that is no dual feasible basis: a primal simplex gains from it what a dual one cannot.
    start_is_primal: bool,
    work: Work,
}

/// HiGHS takes a bound of this size for infinite.
const INFINITE: f64 = 1e20;

/// What one attempt came to.
enum Attempt {
    Answered,
    Stopped(Stop),
    Trouble(String),
}

impl Linear {
    /// Builds the engine; the problem's recourse must be linear.
    pub fn new(problem: &Problem, clock: &Clock) -> Result<Self, RecourseError> {
        let recourse = &problem.recourse;
        if !recourse.is_linear() || recourse.dim() == 0 {
            return Err(RecourseError::Unsupported(
                "the simplex engine takes linear recourse with variables only".into(),
            ));
        }
        let (rows, cols) = (recourse.rows(), recourse.dim());
        let mut engine = Self {
            frame: Frame::new(problem),
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
            pool: Pool::default(),
            solver_answered: true,
            y: vec![0.0; cols],
            dual: vec![0.0; rows],
            face: None,
            start: None,
            start_is_primal: false,
            work: Work::default(),
        };
        engine.at(&vec![0.0; problem.first.dim()]);
        Ok(engine)
    }

    /// The same engine with another selection among optimal duals.
    pub fn with_dual(mut self, choice: DualChoice) -> Result<Self, RecourseError> {
        self.face = match choice {
            DualChoice::Any => None,
            DualChoice::LeastSlope => Some(Box::new(Face::new(&self.frame)?)),
        };
        Ok(self)
    }

    /// The answer that the pool's last piece gives here.
    fn answer_from_pool(&mut self, answer: &mut Answer) {
        let Some(piece) = self.pool.last() else { return };
        self.solver_answered = false;
        answer.outcome = Outcome::Solved;
        answer.value = piece.value(&self.shift);
        answer.cost = answer.value;
        answer.slope_x.copy_from_slice(&piece.slope_x);
        answer.slope_xi.copy_from_slice(&piece.slope_xi);
        answer.intercept = answer.value - dot(&answer.slope_x, &self.x);
        if self.costs_move {
            piece.decision(&self.frame, &mut self.y);
            self.frame.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
        }
    }

    /// The program in HiGHS, with right-hand sides yet to be set.
    fn program(&self) -> Result<Lp, RecourseError> {
        let frame = &self.frame;
        let mut model = Model::new();
        for j in 0..frame.cols() {
            model.add_col(self.fixed_cost[j], frame.lower[j], frame.upper[j]);
        }
        let mut terms = Vec::new();
        for i in 0..frame.rows() {
            terms.clear();
            terms.extend(frame.by_rows.row(i));
            model.add_row(frame.row_lower[i], frame.row_upper[i], &terms);
        }
        let mut lp = Lp::new(&model)?;
        // Presolve costs more than it saves on a warm start, and hides rays.
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_interrupt(Arc::clone(self.clock.interrupt()))?;
        Ok(lp)
    }

    /// Asks HiGHS.
    fn call_solver(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.clock.check()?;
        let mut lp = match self.lp.take() {
            Some(lp) => lp,
            None => self.program()?,
        };
        let answered = self.climb_ladder(&mut lp, xi, answer);
        self.lp = Some(lp);
        answered
    }

    /// Asks `lp`, climbing the ladder as far as needed.
    fn climb_ladder(&mut self, lp: &mut Lp, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.solver_answered = true;
        for (i, shift) in self.shift.iter().enumerate() {
            self.row_lower[i] = self.frame.row_lower[i] - shift;
            self.row_upper[i] = self.frame.row_upper[i] - shift;
        }
        let beyond = |side: &[f64]| side.iter().any(|bound| bound.is_finite() && bound.abs() >= INFINITE);
        if beyond(&self.row_lower) || beyond(&self.row_upper) {
            let why =
                format!("a right-hand side is beyond {INFINITE:e}, which HiGHS takes for infinite; use larger units");
            return Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why });
        }
        lp.set_row_bounds(&self.row_lower, &self.row_upper)?;
        if self.costs_move {
            lp.set_costs(&self.cost)?;
        }
        if let Some(start) = self.start.take() {
            // Not only the basis: the solver's weights and random numbers must not remember either.
            lp.forget()?;
            if let Some(basis) = &start.0 {
                lp.set_basis(basis)?;
            }
            if self.start_is_primal {
                lp.set_algorithm(Algorithm::PrimalSimplex)?;
            }
        }
        let mut trouble = String::new();
        for rung in Rung::LADDER {
            if let Some(left) = self.clock.left() {
                lp.set_time_limit(Some(left))?;
            }
            rung.prepare(lp)?;
            let status = lp.solve()?;
            if std::mem::take(&mut self.start_is_primal) {
                lp.set_algorithm(Algorithm::DualSimplex)?;
            }
            self.work.iterations += lp.simplex_iterations();
            let attempt = self.read(lp, status, answer)?;
            rung.restore(lp)?;
            match attempt {
                Attempt::Answered => {
                    self.work.recovered += u64::from(rung != Rung::Warm);
                    return Ok(());
                }
                Attempt::Stopped(stop) => return Err(stop.into()),
                Attempt::Trouble(why) => trouble = why,
            }
        }
        Err(RecourseError::Numerical { x: self.x.clone(), xi: xi.to_vec(), why: trouble })
    }

    /// Reads and verifies what HiGHS found.
    fn read(&mut self, lp: &Lp, status: Status, answer: &mut Answer) -> Result<Attempt, RecourseError> {
        Ok(match status {
            Status::Optimal => self.read_optimum(lp, answer)?,
            Status::Infeasible | Status::Unbounded | Status::InfeasibleOrUnbounded => {
                self.read_rays(lp, status, answer)?
            }
            Status::TimeLimit => Attempt::Stopped(Stop::TimeLimit),
            Status::Interrupted => Attempt::Stopped(Stop::Interrupted),
            Status::OtherLimit | Status::Failed => Attempt::Trouble(format!("HiGHS ended with {status:?}")),
        })
    }

    fn read_optimum(&mut self, lp: &Lp, answer: &mut Answer) -> Result<Attempt, RecourseError> {
        lp.primal(&mut self.y)?;
        lp.dual(&mut self.dual)?;
        self.frame.clean(&mut self.dual);
        let objective = lp.objective();
        let mut basis = Basis::default();
        if lp.has_basis() {
            lp.basis(&mut basis)?;
        }
        let piece = Piece::new(&self.frame, Arc::new(basis), &self.cost, self.dual.clone());
        let value = piece.value(&self.shift);
        if !((value - objective).abs() <= 1e-6 * (1.0 + objective.abs())) {
            return Ok(Attempt::Trouble(format!("the primal value {objective} and the dual value {value} differ")));
        }
        answer.outcome = Outcome::Solved;
        answer.value = value;
        answer.cost = value.max(objective);
        answer.slope_x.copy_from_slice(&piece.slope_x);
        answer.slope_xi.copy_from_slice(&piece.slope_xi);
        answer.intercept = value - dot(&answer.slope_x, &self.x);
        if self.costs_move {
            self.frame.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
        }
        if !piece.basis.is_empty() {
            self.pool.add(piece);
        }
        Ok(Attempt::Answered)
    }

    fn read_rays(&mut self, lp: &Lp, status: Status, answer: &mut Answer) -> Result<Attempt, RecourseError> {
        self.y.fill(0.0);
        let gain = match status {
            Status::Infeasible if lp.dual_ray(&mut self.dual)? => {
                recover::farkas(&self.frame, &self.shift, &mut self.dual)
            }
            _ => None,
        };
        let gain = match gain {
            Some(gain) => Some(gain),
            None => recover::elastic_ray(&self.frame, &self.shift, &mut self.dual)?,
        };
        if let Some(gain) = gain {
            self.answer_infeasible(gain, answer);
            return Ok(Attempt::Answered);
        }
        if status == Status::Infeasible {
            return Ok(Attempt::Trouble(
                "HiGHS calls the recourse infeasible, but no certificate of that holds".into(),
            ));
        }
        self.dual.fill(0.0);
        if !recover::descent_ray(&self.frame, &self.cost, &mut self.y)? {
            return Ok(Attempt::Trouble("HiGHS calls the recourse unbounded, but no certificate of that holds".into()));
        }
        answer.outcome = Outcome::Unbounded;
        answer.value = f64::NEG_INFINITY;
        answer.cost = f64::NEG_INFINITY;
        answer.intercept = f64::NEG_INFINITY;
        answer.slope_x.fill(0.0);
        answer.slope_xi.fill(0.0);
        Ok(Attempt::Answered)
    }

    /// The answer that the verified ray in `dual` gives.
    fn answer_infeasible(&mut self, gain: f64, answer: &mut Answer) {
        self.solver_answered = true;
        self.y.fill(0.0);
        answer.outcome = Outcome::Infeasible;
        answer.value = f64::INFINITY;
        answer.cost = f64::INFINITY;
        self.frame.slopes(&self.dual, &mut answer.slope_x, &mut answer.slope_xi);
        answer.intercept = gain - dot(&answer.slope_x, &self.x);
    }

    /// The answer that the ray of a walk gives, if it holds.
    fn answer_from_ray(&mut self, answer: &mut Answer) -> bool {
        self.dual.copy_from_slice(self.pool.ray());
        match recover::farkas(&self.frame, &self.shift, &mut self.dual) {
            Some(gain) => {
                self.answer_infeasible(gain, answer);
                true
            }
            None => false,
        }
    }

    /// Replaces the dual of the answer by the one of Lemma 1.
    fn select_dual(&mut self, answer: &mut Answer) -> Result<(), RecourseError> {
        if !self.solver_answered {
            if let Some(piece) = self.pool.last() {
                piece.decision(&self.frame, &mut self.y);
                self.dual.copy_from_slice(&piece.dual);
            }
            self.solver_answered = true;
        }
        let Some(face) = &mut self.face else { return Ok(()) };
        if face.select(&self.frame, &self.cost, &self.shift, &self.y, &mut self.dual)? {
            self.frame.slopes(&self.dual, &mut answer.slope_x, &mut answer.slope_xi);
            if self.costs_move {
                self.frame.cost_xi.transpose_mul_add(1.0, &self.y, &mut answer.slope_xi);
            }
            answer.value = self.frame.dual_objective(Some(&self.cost), &self.dual) - dot(&self.dual, &self.shift);
            answer.cost = answer.value;
            answer.intercept = answer.value - dot(&answer.slope_x, &self.x);
        }
        Ok(())
    }
}

impl Recourse for Linear {
    fn at(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.shift_x.fill(0.0);
        self.frame.e.mul_add(1.0, x, &mut self.shift_x);
    }

    fn solve(&mut self, xi: &[f64], answer: &mut Answer) -> Result<(), RecourseError> {
        self.work.solves += 1;
        self.shift.copy_from_slice(&self.shift_x);
        self.frame.u.mul_add(1.0, xi, &mut self.shift);
        let reply = if self.costs_move {
            self.cost.copy_from_slice(&self.fixed_cost);
            self.frame.cost_xi.mul_add(1.0, xi, &mut self.cost);
            self.pool.ask_at_cost(&self.frame, &self.shift, &self.cost)
        } else {
            self.pool.ask(&self.frame, &self.shift, &self.cost)
        };
        let unique = match reply {
            Reply::Optimal { unique, pivots } => {
                self.work.reused += u64::from(pivots == 0);
                self.work.pivoted += u64::from(pivots > 0);
                self.work.iterations += pivots;
                self.answer_from_pool(answer);
                unique
            }
            Reply::Infeasible if self.answer_from_ray(answer) => {
                self.work.pivoted += 1;
                true
            }
            Reply::Infeasible | Reply::Unknown => {
                self.call_solver(xi, answer)?;
                false
            }
        };
        if self.face.is_some() && !unique && answer.outcome == Outcome::Solved {
            self.select_dual(answer)?;
        }
        Ok(())
    }

    fn decision(&mut self, y: &mut [f64]) {
        match self.pool.last() {
            Some(piece) if !self.solver_answered => piece.decision(&self.frame, y),
            _ => y.copy_from_slice(&self.y),
        }
    }

    fn dual(&mut self, pi: &mut [f64]) {
        match self.pool.last() {
            Some(piece) if !self.solver_answered => pi.copy_from_slice(&piece.dual),
            _ => pi.copy_from_slice(&self.dual),
        }
    }

    fn warm_start(&self) -> RecourseBasis {
        RecourseBasis(self.pool.last().map(|piece| Arc::clone(&piece.basis)))
    }

    fn start_from(&mut self, warm: &RecourseBasis) -> Result<(), RecourseError> {
        self.pool.clear();
        self.start = Some(warm.clone());
        let basis = warm.0.as_deref().filter(|_| !self.costs_move);
        let piece = basis.and_then(|basis| Piece::of_basis(&self.frame, basis, &self.cost));
        self.start_is_primal = basis.is_some() && piece.is_none();
        piece.into_iter().for_each(|piece| self.pool.add(piece));
        Ok(())
    }

    fn hint(&mut self, ended: &RecourseBasis) {
        let basis = ended.0.as_ref().filter(|basis| !self.costs_move && !self.pool.knows(basis));
        if let Some(piece) = basis.and_then(|basis| Piece::of_basis(&self.frame, basis, &self.cost)) {
            self.pool.keep(piece);
        }
    }

    fn work(&self) -> Work {
        self.work
    }
}
