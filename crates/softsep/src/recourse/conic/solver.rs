//! Clarabel, set up once for a program and asked for many costs and right-hand sides; every answer is checked, trouble
//! climbs a ladder.

use std::fmt;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::elastic::Elastic;
use super::form::{ConicForm, ConicProgram};
use super::proof::{Proof, Question, feasibility_error, within};
use crate::recourse::RecourseError;
use crate::run::{Clock, Stop, run_until};

/// Terms of a program that is solved in the caller's thread: an iteration takes a moment.
const SMALL: usize = 20_000;

/// How a conic solve ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConicStatus {
    /// An optimum, with a dual that proves it.
    Solved,
    /// No feasible point, with a Farkas certificate.
    Infeasible,
    /// Feasible, and the cost falls without end along a ray.
    Unbounded,
    /// Time ran out or an interrupt came.
    Stopped(Stop),
    /// Every rung of the ladder failed; the last one for this reason.
    Failed(String),
}

/// The outcome of [`ConicProgram::solve`].
#[derive(Debug, Clone)]
pub(crate) struct ConicSolution {
    /// How it ended.
    pub(crate) status: ConicStatus,
    /// A lower bound on the optimum: ∞ if infeasible, −∞ if there is none.
    pub(crate) dual_objective: f64,
    /// The optimum, or the ray if unbounded (largest entry 1).
    pub(crate) primal: Vec<f64>,
    /// Multipliers of the rows, positive at a lower bound, or the Farkas certificate if infeasible (largest entry 1).
    pub(crate) row_duals: Vec<f64>,
}

impl ConicProgram {
    /// Solves the program once, within the time that the clock leaves.
    pub(crate) fn solve(self, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        let (cols, rows, terms) = self.size();
        if terms <= SMALL {
            return self.solve_here(clock);
        }
        let heard = clock.clone();
        match run_until(clock, move || self.solve_here(&heard)) {
            Ok(Some(solved)) => solved,
            Ok(None) => Ok(ConicSolution {
                status: ConicStatus::Stopped(clock.check().err().unwrap_or(Stop::TimeLimit)),
                dual_objective: f64::NEG_INFINITY,
                primal: vec![0.0; cols],
                row_duals: vec![0.0; rows],
            }),
            Err(lost) => Err(RecourseError::Unsupported(lost.to_string())),
        }
    }

    fn solve_here(self, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        let mut solver = ConicSolver::new(self, clock)?;
        let status = solver.solve();
        let Proof { y, pi, bound, .. } = solver.proof;
        let dual_objective =
            if status == ConicStatus::Infeasible { f64::INFINITY } else { bound + solver.form.constant };
        Ok(ConicSolution { status, dual_objective, primal: y, row_duals: pi })
    }
}

/// One set of Clarabel's settings, and what our own check of its answer accepts.
pub(super) struct Rung {
    /// Rounds of Ruiz equilibration; none at 0.
    equilibrations: u32,
    /// The most that equilibration scales by.
    scaling: f64,
    /// Static regularisation of the KKT matrix.
    regularisation: f64,
    /// Asked for: gap and residuals.
    tolerance: f64,
    /// Accepted: gap and residuals.
    accepted: f64,
}

/// First what suits almost every problem; then, on a fresh set-up, data of very different sizes (more equilibration),
/// equilibration that does harm (none) with a near-singular KKT matrix (more regularisation), and Clarabel's own
/// tolerance.
pub(super) const LADDER: [Rung; 4] = [
    Rung { equilibrations: 10, scaling: 1e4, regularisation: 1e-8, tolerance: 1e-10, accepted: 1e-7 },
    Rung { equilibrations: 50, scaling: 1e8, regularisation: 1e-9, tolerance: 1e-9, accepted: 1e-7 },
    Rung { equilibrations: 0, scaling: 1.0, regularisation: 1e-7, tolerance: 1e-9, accepted: 1e-7 },
    Rung { equilibrations: 10, scaling: 1e4, regularisation: 1e-8, tolerance: 1e-8, accepted: 1e-6 },
];

impl Rung {
    fn settings(&self) -> DefaultSettings<f64> {
        DefaultSettings {
            verbose: false,
            tol_gap_abs: self.tolerance,
            tol_gap_rel: self.tolerance,
            tol_feas: self.tolerance,
            equilibrate_enable: self.equilibrations > 0,
            equilibrate_max_iter: self.equilibrations,
            equilibrate_min_scaling: self.scaling.recip(),
            equilibrate_max_scaling: self.scaling,
            static_regularization_constant: self.regularisation,
            // Equal questions get equal answers, bit for bit.
            max_threads: 1,
            direct_solve_method: "qdldl".to_owned(),
            // Whatever changes the structure forbids updates in place.
            presolve_enable: false,
            input_sparse_dropzeros: false,
            #[cfg(feature = "psd")]
            chordal_decomposition_enable: false,
            ..DefaultSettings::default()
        }
    }
}

/// A program that is solved again and again with other costs and shifts of its rows.
///
/// An answer depends on cost and shift alone, never on the solves before it: costs and right-hand side are written anew
/// each time, the equilibration comes from the program as it was built, and an interior-point method starts from its
/// own point.
pub(super) struct ConicSolver {
    pub(super) form: ConicForm,
    pub(super) question: Question,
    pub(super) proof: Proof,
    /// Interior-point iterations so far.
    pub(super) iterations: u64,
    /// Solves that the first rung could not decide.
    pub(super) recovered: u64,
    solver: DefaultSolver<f64>,
    /// Set up when the first infeasible question comes.
    elastic: Option<Elastic>,
    no_cost: Vec<f64>,
    clock: Clock,
}

impl fmt::Debug for ConicSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConicSolver")
            .field("form", &self.form)
            .field("question", &self.question)
            .finish_non_exhaustive()
    }
}

impl ConicSolver {
    pub(super) fn new(program: ConicProgram, clock: &Clock) -> Result<Self, RecourseError> {
        let form = ConicForm::new(program)?;
        let mut question = Question {
            cost: form.cost.clone(),
            shift: vec![0.0; form.rows.rows()],
            right_side: vec![0.0; form.entries.len()],
        };
        form.right_side(&question.shift, &mut question.right_side);
        let solver = set_up_program(&form, &question, &LADDER[0], clock).map_err(RecourseError::Unsupported)?;
        let proof = Proof::new(&form);
        let no_cost = vec![0.0; form.cost.len()];
        Ok(Self {
            form,
            question,
            proof,
            iterations: 0,
            recovered: 0,
            solver,
            elastic: None,
            no_cost,
            clock: clock.clone(),
        })
    }

    /// Solves for the cost and the shift in `question`; what is known then is in `proof`.
    pub(super) fn solve(&mut self) -> ConicStatus {
        self.form.right_side(&self.question.shift, &mut self.question.right_side);
        let mut why = String::new();
        for (height, rung) in LADDER.iter().enumerate() {
            if let Err(stop) = self.clock.check() {
                self.proof.nothing();
                return ConicStatus::Stopped(stop);
            }
            let outcome = if height == 0 {
                self.attempt(None, rung)
            } else {
                set_up_program(&self.form, &self.question, rung, &self.clock)
                    .and_then(|solver| self.attempt(Some(solver), rung))
            };
            match outcome {
                Ok(status) => {
                    self.recovered += u64::from(height > 0 && !matches!(status, ConicStatus::Stopped(_)));
                    return status;
                }
                Err(reason) => why = reason,
            }
            // Recourse that only just fails to exist is hard to tell from recourse that only just exists; its least
            // violation is not.
            if height == 0 && self.deepen().is_ok() {
                self.recovered += 1;
                return ConicStatus::Infeasible;
            }
        }
        self.proof.nothing();
        ConicStatus::Failed(why)
    }

    /// One solve, with the kept solver or with a fresh one.
    fn attempt(&mut self, mut fresh: Option<DefaultSolver<f64>>, rung: &Rung) -> Result<ConicStatus, String> {
        let Self { form, question, proof, solver, .. } = self;
        let solver = fresh.as_mut().unwrap_or(solver);
        run(solver, &question.cost, &question.right_side, &mut self.iterations)?;
        if is_ray(solver.solution.status) {
            proof.ray(form, question, &solver.solution)?;
            // A ray says nothing of whether there is a point to start from: solve for one. (H stays: ½yᵀHy is bounded
            // below.)
            run(solver, &self.no_cost, &question.right_side, &mut self.iterations)?;
            if is_optimum(solver.solution.status) {
                let off = feasibility_error(form, question, &solver.solution);
                return within(off, rung.accepted).then_some(ConicStatus::Unbounded).ok_or_else(|| {
                    format!("beside a ray of descent, the point found has a primal residual of {off:e}")
                });
            }
        }
        match solver.solution.status {
            status if is_optimum(status) => {
                proof.optimum(form, question, &solver.solution, rung.accepted)?;
                Ok(ConicStatus::Solved)
            }
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                // Whichever of the two certificates holds; the deeper one first.
                let deep = deepen(form, question, proof, &mut self.elastic, &self.clock, &mut self.iterations);
                deep.or_else(|_| proof.farkas(form, question, &solver.solution.z))?;
                Ok(ConicStatus::Infeasible)
            }
            SolverStatus::CallbackTerminated => {
                proof.nothing();
                // The callback saw the clock stop, and a clock does not start again.
                Ok(ConicStatus::Stopped(self.clock.check().err().unwrap_or(Stop::Interrupted)))
            }
            other => Err(format!("Clarabel ended with {other}")),
        }
    }

    fn deepen(&mut self) -> Result<(), String> {
        deepen(&self.form, &self.question, &mut self.proof, &mut self.elastic, &self.clock, &mut self.iterations)
    }
}

fn is_optimum(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved)
}

fn is_ray(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible)
}

/// Reads the Farkas certificate of least violation, see [`Elastic`].
fn deepen(
    form: &ConicForm,
    question: &Question,
    proof: &mut Proof,
    elastic: &mut Option<Elastic>,
    clock: &Clock,
    iterations: &mut u64,
) -> Result<(), String> {
    let elastic = match elastic {
        Some(elastic) => elastic,
        None => elastic.insert(Elastic::new(form, clock)?),
    };
    let z = elastic.certificate(&question.right_side, iterations)?;
    proof.farkas(form, question, z)
}

fn set_up_program(
    form: &ConicForm,
    question: &Question,
    rung: &Rung,
    clock: &Clock,
) -> Result<DefaultSolver<f64>, String> {
    set_up(&form.p, &question.cost, &form.a, &question.right_side, &form.standard_cones, rung, clock)
}

/// A solver for `min ½yᵀPy + qᵀy` over `Ay + s = b`, s in the cones.
pub(super) fn set_up(
    p: &CscMatrix<f64>,
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
    rung: &Rung,
    clock: &Clock,
) -> Result<DefaultSolver<f64>, String> {
    let mut solver = DefaultSolver::new(p, q, a, b, cones, rung.settings()).map_err(|error| error.to_string())?;
    // Asked once per iteration. Clarabel's own time limit would count the set-up anew in each solve, and knows no
    // interrupt.
    let clock = clock.clone();
    solver.set_termination_callback(move |_| clock.check().is_err());
    Ok(solver)
}

/// Solves again for other costs and another right-hand side.
pub(super) fn run(
    solver: &mut DefaultSolver<f64>,
    cost: &Vec<f64>,
    right_side: &Vec<f64>,
    iterations: &mut u64,
) -> Result<(), String> {
    solver.update_q(cost).and_then(|()| solver.update_b(right_side)).map_err(|error| error.to_string())?;
    solver.solve();
    *iterations += u64::from(solver.solution.iterations);
    Ok(())
}
