//! Clarabel, set up once for a program and asked for many costs and right-hand sides; every answer is checked, trouble
//! climbs a ladder.

use std::fmt;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use super::certificate::{Certificate, SolveData, feasibility_error, is_at_most};
use super::elastic::ElasticProgram;
use super::standard_form::{ConicProgram, StandardForm};
use crate::recourse::RecourseError;
use crate::run::{Clock, Stop, run_until};

/// Terms of a program that is solved in the caller's thread: an iteration takes a moment.
const MAX_INLINE_TERMS: usize = 20_000;

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
        if terms <= MAX_INLINE_TERMS {
            return self.solve_inline(clock);
        }
        let worker_clock = clock.clone();
        match run_until(clock, move || self.solve_inline(&worker_clock)) {
            Ok(Some(solved)) => solved,
            Ok(None) => Ok(ConicSolution {
                status: ConicStatus::Stopped(clock.check().err().unwrap_or(Stop::TimeLimit)),
                dual_objective: f64::NEG_INFINITY,
                primal: vec![0.0; cols],
                row_duals: vec![0.0; rows],
            }),
            Err(failure) => Err(RecourseError::Unsupported(failure.to_string())),
        }
    }

    fn solve_inline(self, clock: &Clock) -> Result<ConicSolution, RecourseError> {
        let mut solver = ConicSolver::new(self, clock)?;
        let status = solver.solve();
        let Certificate { y, pi, bound, .. } = solver.certificate;
        let dual_objective =
            if status == ConicStatus::Infeasible { f64::INFINITY } else { bound + solver.form.constant };
        Ok(ConicSolution { status, dual_objective, primal: y, row_duals: pi })
    }
}

/// One set of Clarabel's settings, and what our own check of its answer accepts.
pub(super) struct InteriorPointRung {
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
pub(super) const LADDER: [InteriorPointRung; 4] = [
    InteriorPointRung { equilibrations: 10, scaling: 1e4, regularisation: 1e-8, tolerance: 1e-10, accepted: 1e-7 },
    InteriorPointRung { equilibrations: 50, scaling: 1e8, regularisation: 1e-9, tolerance: 1e-9, accepted: 1e-7 },
    InteriorPointRung { equilibrations: 0, scaling: 1.0, regularisation: 1e-7, tolerance: 1e-9, accepted: 1e-7 },
    InteriorPointRung { equilibrations: 10, scaling: 1e4, regularisation: 1e-8, tolerance: 1e-8, accepted: 1e-6 },
];

impl InteriorPointRung {
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
    pub(super) form: StandardForm,
    pub(super) data: SolveData,
    pub(super) certificate: Certificate,
    /// Interior-point iterations so far.
    pub(super) iterations: u64,
    /// Solves that the first rung could not decide.
    pub(super) recovered: u64,
    solver: DefaultSolver<f64>,
    /// Set up when the first infeasible data comes.
    elastic: Option<ElasticProgram>,
    zero_cost: Vec<f64>,
    clock: Clock,
}

impl fmt::Debug for ConicSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConicSolver").field("form", &self.form).field("question", &self.data).finish_non_exhaustive()
    }
}

impl ConicSolver {
    pub(super) fn new(program: ConicProgram, clock: &Clock) -> Result<Self, RecourseError> {
        let form = StandardForm::new(program)?;
        let mut data = SolveData {
            cost: form.cost.clone(),
            shift: vec![0.0; form.rows.rows()],
            right_side: vec![0.0; form.entries.len()],
        };
        form.right_side(&data.shift, &mut data.right_side);
        let solver = new_program_solver(&form, &data, &LADDER[0], clock).map_err(RecourseError::Unsupported)?;
        let certificate = Certificate::new(&form);
        let zero_cost = vec![0.0; form.cost.len()];
        Ok(Self {
            form,
            data,
            certificate,
            iterations: 0,
            recovered: 0,
            solver,
            elastic: None,
            zero_cost,
            clock: clock.clone(),
        })
    }

    /// Solves for the cost and the shift in `data`; what is known then is in `certificate`.
    pub(super) fn solve(&mut self) -> ConicStatus {
        self.form.right_side(&self.data.shift, &mut self.data.right_side);
        let mut why = String::new();
        for (rung_index, rung) in LADDER.iter().enumerate() {
            if let Err(stop) = self.clock.check() {
                self.certificate.clear();
                return ConicStatus::Stopped(stop);
            }
            let outcome = if rung_index == 0 {
                self.attempt(None, rung)
            } else {
                new_program_solver(&self.form, &self.data, rung, &self.clock)
                    .and_then(|solver| self.attempt(Some(solver), rung))
            };
            match outcome {
                Ok(status) => {
                    self.recovered += u64::from(rung_index > 0 && !matches!(status, ConicStatus::Stopped(_)));
                    return status;
                }
                Err(reason) => why = reason,
            }
            // Recourse that only just fails to exist is hard to tell from recourse that only just exists; its least
            // violation is not.
            if rung_index == 0 && self.verify_least_violation().is_ok() {
                self.recovered += 1;
                return ConicStatus::Infeasible;
            }
        }
        self.certificate.clear();
        ConicStatus::Failed(why)
    }

    /// One solve, with the kept solver or with a fresh one.
    fn attempt(
        &mut self,
        mut fresh: Option<DefaultSolver<f64>>,
        rung: &InteriorPointRung,
    ) -> Result<ConicStatus, String> {
        let Self { form, data, certificate, solver, .. } = self;
        let solver = fresh.as_mut().unwrap_or(solver);
        resolve(solver, &data.cost, &data.right_side, &mut self.iterations)?;
        if is_ray(solver.solution.status) {
            certificate.verify_ray(form, data, &solver.solution)?;
            // A ray says nothing of whether there is a point to start from: solve for one. (H stays: ½yᵀHy is bounded
            // below.)
            resolve(solver, &self.zero_cost, &data.right_side, &mut self.iterations)?;
            if is_optimum(solver.solution.status) {
                let residual = feasibility_error(form, data, &solver.solution);
                return is_at_most(residual, rung.accepted).then_some(ConicStatus::Unbounded).ok_or_else(|| {
                    format!("beside a ray of descent, the point found has a primal residual of {residual:e}")
                });
            }
        }
        match solver.solution.status {
            status if is_optimum(status) => {
                certificate.verify_optimum(form, data, &solver.solution, rung.accepted)?;
                Ok(ConicStatus::Solved)
            }
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                // Whichever of the two certificates holds; the deeper one first.
                let deepest = verify_least_violation(
                    form,
                    data,
                    certificate,
                    &mut self.elastic,
                    &self.clock,
                    &mut self.iterations,
                );
                deepest.or_else(|_| certificate.verify_farkas(form, data, &solver.solution.z))?;
                Ok(ConicStatus::Infeasible)
            }
            SolverStatus::CallbackTerminated => {
                certificate.clear();
                // The callback saw the clock stop, and a clock does not start again.
                Ok(ConicStatus::Stopped(self.clock.check().err().unwrap_or(Stop::Interrupted)))
            }
            other => Err(format!("Clarabel ended with {other}")),
        }
    }

    fn verify_least_violation(&mut self) -> Result<(), String> {
        verify_least_violation(
            &self.form,
            &self.data,
            &mut self.certificate,
            &mut self.elastic,
            &self.clock,
            &mut self.iterations,
        )
    }
}

fn is_optimum(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved)
}

fn is_ray(status: SolverStatus) -> bool {
    matches!(status, SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible)
}

/// Reads the Farkas certificate of least violation, see [`ElasticProgram`].
fn verify_least_violation(
    form: &StandardForm,
    data: &SolveData,
    certificate: &mut Certificate,
    elastic: &mut Option<ElasticProgram>,
    clock: &Clock,
    iterations: &mut u64,
) -> Result<(), String> {
    let elastic = match elastic {
        Some(elastic) => elastic,
        None => elastic.insert(ElasticProgram::new(form, clock)?),
    };
    let z = elastic.farkas_multipliers(&data.right_side, iterations)?;
    certificate.verify_farkas(form, data, z)
}

fn new_program_solver(
    form: &StandardForm,
    data: &SolveData,
    rung: &InteriorPointRung,
    clock: &Clock,
) -> Result<DefaultSolver<f64>, String> {
    new_solver(&form.p, &data.cost, &form.a, &data.right_side, &form.standard_cones, rung, clock)
}

/// A solver for `min ½yᵀPy + qᵀy` over `Ay + s = b`, s in the cones.
pub(super) fn new_solver(
    p: &CscMatrix<f64>,
    q: &[f64],
    a: &CscMatrix<f64>,
    b: &[f64],
    cones: &[SupportedConeT<f64>],
    rung: &InteriorPointRung,
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
pub(super) fn resolve(
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
